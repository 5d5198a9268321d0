"""Every error this library raises, in one small tree.

Each message reads "expected …, got …" and then says how to fix it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from centersmooth.progress import Unfinished


class CentersmoothError(Exception):
    """Anything that went wrong inside centersmooth."""

    unfinished: Unfinished | None = None
    """What had been sampled when the error struck; ``certify(x, resume=...)`` goes on from it."""


class ArgumentError(CentersmoothError, ValueError):
    """An option has a value that makes no sense."""


class InputError(CentersmoothError, ValueError):
    """The input to certify is not one the noise or the declared range allows."""


class ModelError(CentersmoothError, RuntimeError):
    """The model does not keep its side of the contract."""


class TrainingModeError(ModelError):
    """The model is in training mode."""


class BatchDependenceError(ModelError):
    """The model's answer for one input depends on the others in its batch."""


class OutputError(ModelError, ValueError):
    """The model returned something the metric cannot measure."""


class CenterError(CentersmoothError, RuntimeError):
    """No center could be computed to the accuracy the theorem asks for."""


class BudgetError(CentersmoothError, ValueError):
    """The sample counts cannot certify what was asked, whatever the model does."""


class FormatError(CentersmoothError, ValueError):
    """A saved certificate cannot be read."""


class StoreError(CentersmoothError, RuntimeError):
    """A run's folder or file cannot be read or written."""


class BusyError(StoreError):
    """Another process works on the run."""


class ChangedError(StoreError):
    """The study, its model or its data are not those that started the run."""


class ExecutorError(CentersmoothError, RuntimeError):
    """The machines that should do the work cannot."""


def expected(what: str, got: object, fix: str) -> str:
    """The one form of our messages: what was expected, what came, what to do."""
    return f"expected {what}, got {got}. {fix}"
