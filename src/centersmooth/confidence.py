"""How the failure probability alpha is shared between the certificate and its queries."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from centersmooth.errors import ArgumentError, expected


def check_level(value: float, name: str) -> None:
    """Refuse a failure probability outside (0, 1/2)."""
    if not (isinstance(value, (int, float)) and 0 < value < 0.5):
        raise ArgumentError(
            expected(
                f"0 < {name} < 0.5",
                repr(value),
                f"{name} is the probability that the guarantee may fail: 0.01 is usual.",
            )
        )


@dataclass(frozen=True)
class Joint:
    """One statement over certification and query samples together (docs/theory/calibration.md)."""

    alpha: float

    def __post_init__(self) -> None:
        check_level(self.alpha, "alpha")

    def part(self, share: float) -> Joint:
        """The same form with a share of the failure probability."""
        return Joint(self.alpha * share)

    def over_grid(self, points: int) -> Joint:
        """The level of one of several points that must hold together."""
        return Joint(self.alpha / points)

    def at_look(self, share: float) -> Joint:
        """The level of one of several looks at the samples (docs/theory/anytime.md)."""
        return self if share == 1.0 else Joint(self.alpha * share)

    def as_split(self) -> Split:
        """Half for the certificate, half for each query: what `radius` uses."""
        return Split(self.alpha / 2, self.alpha / 2)

    @property
    def total(self) -> float:
        """The failure probability of one certificate with one query."""
        return self.alpha


@dataclass(frozen=True)
class Split:
    """A certificate that holds but for `certificate`; then each query fails with at most `query`.

    For deployments with many queries: Q of them fail with at most Q * query together.
    """

    certificate: float
    query: float

    def __post_init__(self) -> None:
        check_level(self.certificate, "certificate")
        check_level(self.query, "query")

    def part(self, share: float) -> Split:
        """The same form with a share of both failure probabilities."""
        return Split(self.certificate * share, self.query * share)

    def over_grid(self, points: int) -> Split:
        """Only the certificate's own share is spent once per grid point."""
        return Split(self.certificate / points, self.query)

    def at_look(self, share: float) -> Split:
        """A look spends of the certificate's share only: the query comes once, afterwards."""
        return self if share == 1.0 else Split(self.certificate * share, self.query)

    def as_split(self) -> Split:
        """Already split."""
        return self

    @property
    def total(self) -> float:
        """The failure probability of one certificate with one query."""
        return self.certificate + self.query


Confidence: TypeAlias = Joint | Split


def confidence(alpha: float | Joint | Split) -> Confidence:
    """A plain number means the joint form."""
    return alpha if isinstance(alpha, (Joint, Split)) else Joint(alpha)
