"""Models and studies from the user's own Python files, named on the command line."""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import torch
import typer

import centersmooth
from centersmooth.study import Study

_FORM = "pkg.module:name or file.py:name"


def load_model(text: str, hint: str = "--model") -> Callable[[Any], Any]:
    """The model that `pkg.module:name` (or `file.py:name`) stands for.

    A torch module, or a function that takes a batch, is the model itself; a function (or
    class) that can be called without arguments is called to build it.
    """
    place, colon, name = text.rpartition(":")
    if not colon or not place or not name:
        raise typer.BadParameter(f"expected {_FORM}, got {text!r}.", param_hint=hint)
    module = _module(place, hint)
    found = getattr(module, name, None)
    if not callable(found):
        known = ", ".join(n for n in vars(module) if not n.startswith("_")) or "nothing"
        problem = f"expected a model or a function that builds one, got no {name!r} in {place}."
        raise typer.BadParameter(f"{problem} It has {known}.", param_hint=hint)
    if isinstance(found, torch.nn.Module) or not _needs_nothing(found):
        return found  # type: ignore[no-any-return]
    model = _told(found, f"building the model by {name}()", hint)
    if not callable(model):
        got = type(model).__name__
        problem = f"expected {name}() to return a model, got {got}. Return a torch module."
        raise typer.BadParameter(problem, param_hint=hint)
    return model  # type: ignore[no-any-return]


def load_study(path: Path, hint: str = "FILE") -> Study:
    """The `study` that a Python file defines: a Study, or a function that returns one."""
    found = getattr(_from_file(path, hint), "study", None)
    if inspect.isroutine(found):
        found = _told(found, "study()", hint)
    if not isinstance(found, Study):
        got = "none" if found is None else type(found).__name__
        problem = f"expected {path} to define `study = cs.Study(...)`, got {got}."
        raise typer.BadParameter(f"{problem} See docs/studies.md.", param_hint=hint)
    return found


def _needs_nothing(found: Callable[..., Any]) -> bool:
    try:
        parameters = inspect.signature(found).parameters.values()
    except (TypeError, ValueError):
        return False
    optional = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    return all(p.default is not p.empty or p.kind in optional for p in parameters)


def _module(place: str, hint: str) -> ModuleType:
    if place.endswith(".py"):
        return _from_file(Path(place), hint)
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.insert(0, here)
    return _told(lambda: importlib.import_module(place), f"importing {place}", hint)  # type: ignore[no-any-return]


def _from_file(path: Path, hint: str) -> ModuleType:
    """Run a file as a module that stays unknown to `sys.modules`.

    Nobody else could import it, so what it defines must travel to other processes by value,
    which is what cloudpickle does for modules that it does not find there.
    """
    if not path.is_file():
        raise typer.BadParameter(f"expected a Python file, got {str(path)!r}.", param_hint=hint)
    name = f"_centersmooth_file_{abs(hash(path.resolve()))}"
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise typer.BadParameter(f"expected a Python file, got {path.name}.", param_hint=hint)
    module = importlib.util.module_from_spec(spec)
    beside = str(path.resolve().parent)
    if beside not in sys.path:
        sys.path.insert(0, beside)
    sys.modules[name] = module
    try:
        _told(lambda: _run(path, module), f"running {path.name}", hint)
    finally:
        del sys.modules[name]
    return module


def _run(path: Path, module: ModuleType) -> None:
    """What the file says now: a compiled copy of it may be older by less than a second."""
    exec(compile(path.read_bytes(), str(path), "exec"), module.__dict__)


def _told(do: Callable[[], Any], what: str, hint: str) -> Any:
    """The result; an error in the user's code names its line instead of filling the screen."""
    try:
        return do()
    except (Exception, SystemExit) as error:
        problem = f"{what} failed: {type(error).__name__}: {error}{_place(error)}"
        raise typer.BadParameter(problem, param_hint=hint) from error


def _place(error: BaseException) -> str:
    """The last line of the user's own that led to it."""
    if isinstance(error, SyntaxError) and error.lineno is not None:
        return f" ({error.filename}, line {error.lineno})"
    ours = str(Path(centersmooth.__file__).parent)
    others = ("<", ours)  # generated or frozen code, and this package
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if not frame.filename.startswith(others)]
    return f" ({own[-1].filename}, line {own[-1].lineno})" if own else ""
