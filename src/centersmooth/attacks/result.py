"""Audit: what an attempt to break a certificate found, in words and as JSON."""

from __future__ import annotations

import json
import math
import textwrap
from dataclasses import dataclass
from typing import Any

from centersmooth import outputs as out
from centersmooth.attacks.verdict import Verdict
from centersmooth.wording import number, percent

SCHEMA = 1
_WIDTH = 79


@dataclass(frozen=True, eq=False)
class Audit:
    """How far the answer was moved by the worst attack that was found."""

    eps: float
    bound: float
    """What the certificate says: eps_2, or the certified error where a target was given."""
    movement: float
    """The farthest of the answers at the worst x'."""
    typical: float
    """The median of their distances."""
    verdict: Verdict
    about: str
    """What distances are taken from: "the certified answer" or "the target"."""
    worst: Any
    """The worst x' that was found: an input within eps."""
    found_by: str
    unanswered: int
    """Queries at x' that raised an error: no answers, so no violations."""
    evaluations: int
    seed: int
    metric: str
    norm: str

    @property
    def broken(self) -> bool:
        """More answers lie beyond the bound than chance explains."""
        return self.verdict.broken

    @property
    def tightness(self) -> float:
        """The bound over the largest movement found: 1 is tight, infinite says nothing moved."""
        return self.bound / self.movement if self.movement > 0 else math.inf

    @property
    def violations(self) -> int:
        """Answers beyond the bound."""
        return self.verdict.violations

    @property
    def trials(self) -> int:
        """Answers of the smoothed model at the worst x', each with fresh noise."""
        return self.verdict.trials

    def explain(self) -> str:
        """The outcome in words."""
        return f"{self._found()} {self._judgement()}"

    def _found(self) -> str:
        text = (
            f"The worst x' found within {self.norm} distance {self.eps:g} (by {self.found_by}) "
            f"moves the answer {self.movement:.4g} ({self.metric}) from {self.about} at most, "
            f"{self.typical:.4g} typically; the bound is {number(self.bound)}"
        )
        return text + (f", {self.tightness:.3g} times that." if self.movement > 0 else ".")

    def _judgement(self) -> str:
        verdict, low = self.verdict, self.verdict.interval[0]
        told = f"{verdict.violations} of {verdict.trials} answers lie beyond the bound."
        if self.unanswered:
            told += f" {self.unanswered} more queries gave no answer."
        if verdict.broken:
            return (
                f"BROKEN: {told} Such a certificate may come up with probability "
                f"{percent(verdict.unlucky)} at most; any other shows this with probability "
                f"{verdict.chance:.1g}. Certify again: if that breaks too, the noise, the model "
                "or the program is not what the proof assumes."
            )
        if verdict.violations:
            return f"{told} That is no proof: {self._what_would(low)}"
        return f"Not broken: {told} An audit never proves a bound; it only failed to refute it."

    def _what_would(self, low: float) -> str:
        if self.trials < self.verdict.least_trials:
            return f"it takes {self.verdict.least_trials} answers at least (trials=...) to tell."
        return (
            f"their share is at least {percent(low)}, and one of up to "
            f"{percent(self.verdict.allowed)} is not excluded by the certificate."
        )

    def __str__(self) -> str:
        head = f"Audit at eps = {self.eps:g}: {'BROKEN' if self.broken else 'not broken'}"
        rows = [
            ("bound", number(self.bound)),
            ("largest movement found", f"{self.movement:.4g}"),
            ("bound / movement", f"{self.tightness:.3g}" if self.movement > 0 else "-"),
            ("beyond the bound", f"{self.violations} of {self.trials}"),
        ]
        width = max(len(name) for name, _ in rows)
        table = "\n".join(f"  {name.ljust(width)}   {value}" for name, value in rows)
        cost = f"Cost: {self.evaluations:,} forward passes. Seed: {self.seed}."
        words = "\n".join(textwrap.fill(text, _WIDTH) for text in (self.explain(), cost))
        return f"{head}\n\n{table}\n\n{words}"

    def to_json(self) -> str:
        """Everything, the worst input included."""
        low, high = self.verdict.interval
        data = {
            "schema": SCHEMA,
            "eps": self.eps,
            "bound": out.encode(self.bound),
            "movement": out.encode(self.movement),
            "typical": out.encode(self.typical),
            "tightness": out.encode(self.tightness),
            "violations": self.violations,
            "trials": self.trials,
            "rate": [low, high],
            "chance": self.verdict.chance,
            "unlucky": self.verdict.unlucky,
            "broken": self.broken,
            "about": self.about,
            "found_by": self.found_by,
            "unanswered": self.unanswered,
            "evaluations": self.evaluations,
            "seed": self.seed,
            "metric": self.metric,
            "norm": self.norm,
            "worst": out.encode(self.worst),
        }
        return json.dumps(data, allow_nan=False)
