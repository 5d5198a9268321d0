"""Whether a count of violations can still be chance."""

from __future__ import annotations

from dataclasses import dataclass

from scipy.special import betaincinv

from centersmooth.binomial import at_least
from centersmooth.confidence import Confidence, Split

OVERWHELMING = 1e-6
"""Evidence counts when chance alone would produce it less often than this."""
_OUTSIDE = 5e-4  # on either side of the interval


@dataclass(frozen=True)
class Verdict:
    """What so many violations among so many answers at one x' say about a certificate.

    Split form: but for `unlucky` = alpha_x the certificate is right, and then each answer fails
    with at most alpha_q. Joint form: only certificate and answers together fail with at most
    alpha, so at most 2 alpha of all certificates may let every other answer fail (Markov).
    `chance` is the probability of so many violations under a certificate that is not unlucky.
    """

    violations: int
    trials: int
    allowed: float
    unlucky: float
    chance: float

    @classmethod
    def of(cls, violations: int, trials: int, level: Confidence) -> Verdict:
        """The verdict on answers whose noise is independent of the certificate and of x'."""
        if isinstance(level, Split):
            allowed, unlucky = level.query, level.certificate
        else:
            allowed, unlucky = 0.5, min(1.0, 2 * level.alpha)
        return cls(violations, trials, allowed, unlucky, at_least(trials, allowed, violations))

    @property
    def broken(self) -> bool:
        """The certificate's bound is exceeded at x', by overwhelming evidence."""
        return self.chance <= OVERWHELMING

    @property
    def least_trials(self) -> int:
        """How many answers it takes to tell, if all of them are violations."""
        trials = 1
        while self.allowed**trials > OVERWHELMING:
            trials += 1
        return trials

    @property
    def interval(self) -> tuple[float, float]:
        """Clopper and Pearson's 99.9 % interval for the share of answers beyond the bound."""
        beyond, within = self.violations, self.trials - self.violations
        low = float(betaincinv(beyond, within + 1, _OUTSIDE)) if beyond else 0.0
        high = float(betaincinv(beyond + 1, within, 1 - _OUTSIDE)) if within else 1.0
        return low, high
