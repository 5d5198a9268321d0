"""What can be smoothed: torch modules and plain callables."""

from centersmooth.models.contract import check_contract
from centersmooth.models.model import Model, one_at_a_time

__all__ = ["Model", "check_contract", "one_at_a_time"]
