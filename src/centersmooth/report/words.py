"""What a report says in sentences; the guarantees word for word as in theory/guarantee.md."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from centersmooth.confidence import Confidence, Joint, Split
from centersmooth.errors import ArgumentError, FormatError, expected
from centersmooth.report.aggregates import Median, Share
from centersmooth.report.groups import Group
from centersmooth.report.panels import Panel, Series
from centersmooth.wording import number, percent

NO_BOUND = "no bound"

NOT_PROMISED = (
    "It speaks of the smoothed model, not of the base model, and only of the inputs listed here. "
    "How further inputs would fare is what the 95 % intervals are for.",
    "It does not say that an answer is right, except where an error against the truth is "
    "certified.",
    "An attacker who knows the noise of the query in advance (its seed) is outside.",
)


def amount(value: float) -> str:
    """A bound rounded up to four digits, or that there is none."""
    return number(value) if math.isfinite(value) else NO_BOUND


def measured(value: float) -> str:
    """A measured distance: rounded to the nearest, for it bounds nothing."""
    return f"{value:.3g}" if math.isfinite(value) else "–"


def counted(found: Share) -> str:
    """38 of 50 inputs."""
    return f"{found.hits:,} of {found.count:,} inputs"


def spanned(found: Share) -> str:
    """The share's interval, rounded outward."""
    low, high = math.floor(1000 * found.low) / 10, math.ceil(1000 * found.high) / 10
    return f"95\u00a0% interval {low:g} to {high:g}\u00a0%"


def percent_of(hits: int, count: int) -> str:
    """A share in whole percent; "100 %" and "0 %" are said only of all and of none."""
    if hits in (0, count):
        return "100\u00a0%" if hits else "0\u00a0%"
    return f"{min(99, max(1, math.floor(100 * hits / count + 0.5)))}\u00a0%"


def attacker(norm: str | None) -> str:
    """How the size of an attack is measured."""
    return f"{norm} distance" if norm else "the noise's distance"


def subject(panel: Panel) -> str:
    """What a panel compares, as its heading."""
    attacks = f", {panel.norm} attacks" if panel.norm else ""
    return f"{panel.metric} distance between answers{attacks}"


def headline(one: Series, panel: Panel, tolerance: float) -> str:
    """The one sentence to read about a setting."""
    found = one.share(panel.headline, tolerance)
    if found is None:
        return f"No certificate reaches attacks of size {panel.headline:g}."
    whom = "inputs it is" if found.count != 1 else "input it is"
    return (
        f"For {found.hits:,} of {found.count:,} {whom} certified that no attack of size "
        f"{panel.headline:g} ({attacker(panel.norm)}) moves the smoothed model's answer by more "
        f"than {number(tolerance)} ({panel.metric})."
    )


def left_over(group: Group) -> str:
    """Records without a bound, and how they are counted; empty if there are none."""
    parts = [
        f"{count:,} {status}"
        for status, count in group.counts.items()
        if status != "certified" and count
    ]
    if not parts:
        return ""
    largest = f" ({group.diameter:g})" if math.isfinite(group.diameter) else ""
    return f"{', '.join(parts)}: in medians they count with the largest distance there is{largest}."


def comparison(sharp: Series, published: Series, panel: Panel) -> str | None:
    """Sharp beside published at the headline eps: the bound and what it cost."""
    ours, theirs = sharp.bound(panel.headline), published.bound(panel.headline)
    if ours is None or theirs is None or not math.isfinite(theirs.value) or not theirs.value:
        return None
    cost = sharp.group.evaluations.sum() / max(1, len(sharp.group))
    other = published.group.evaluations.sum() / max(1, len(published.group))
    return (
        f"At ε = {panel.headline:g} the median bound of {sharp.group.name} is "
        f"{amount(ours.value)}, against {amount(theirs.value)} of {published.group.name}: "
        f"{ours.value / theirs.value:.2f} times as large, for {cost:,.0f} instead of {other:,.0f} "
        "forward passes per input."
    )


def guarantee(group: Group, setting: Mapping[str, Any]) -> str:
    """What each certificate of a group says, word for word."""
    level = _level(group)
    where = f"every x' within {attacker(group.norm)} ε of the input"
    answer = "within ε₂, in the setting's distance, of the certified answer"
    if isinstance(level, Split):
        text = (
            f"With probability at least {percent(1 - level.certificate)} over the certification "
            f"samples: for {where}, an answer of the smoothed model at x' with fresh noise is "
            f"{answer}, except with probability {percent(level.query)} per query."
        )
    elif isinstance(level, Joint):
        text = (
            f"Over the certification and the query samples together: for {where}, chosen without "
            f"the query's noise, the smoothed model's answer is {answer} with probability at least "
            f"{percent(1 - level.alpha)}."
        )
    else:
        return (
            f"As the paper has it: but for a small probability, the smoothed model at {where} does "
            "not answer further than ε₂ from the certified answer. It bounds the probability of "
            "answering and being far, and is silent where the smoothed model abstains at x'."
        )
    if setting.get("together"):
        return text + " All values of ε in this setting hold together."
    return text + " Each ε holds by itself, for an ε chosen before seeing the certificate."


def failing(groups: Sequence[Group]) -> str:
    """How many of all certificates may be wrong, in expectation; empty where nothing says so."""
    level, count = _level(groups[0]), sum(group.counts["certified"] for group in groups)
    if level is None or not count:
        return ""
    most = level.total * count
    return (
        f"Of these {count:,} certificates, each queried once at one ε, at most {most:.2g} fail on "
        "average."
    )


def _level(group: Group) -> Confidence | None:
    """The confidence behind a group; None for the published procedure, which has its own."""
    told = group.confidence
    try:
        if told.get("form") == "Joint":
            return Joint(told["alpha"])
        if told.get("form") == "Split":
            return Split(told["certificate"], told["query"])
    except (KeyError, ArgumentError) as error:
        what = f"the confidence of setting {group.name!r}"
        raise FormatError(expected(what, str(error), "The store is damaged.")) from error
    return None


def cost(groups: Sequence[Group]) -> str:
    """What the run cost; settings that share their draws are counted once."""
    passes: dict[tuple[int, int], tuple[int, float]] = {}
    for group in groups:
        for index, spent, probes, seconds in zip(
            group.index.tolist(),
            group.evaluations.tolist(),
            group.probes.tolist(),
            group.seconds.tolist(),
            strict=True,
        ):
            before = passes.get((index, group.draws), (0, 0.0))
            passes[index, group.draws] = max(before[0], spent + probes), max(before[1], seconds)
    total = sum(spent for spent, _ in passes.values())
    hours = sum(seconds for _, seconds in passes.values()) / 3600
    time = f"{hours:.1f} hours" if hours >= 1 else f"{60 * hours:.1f} minutes"
    return f"The run spent {total:,} forward passes, probes included, in {time} of work."


def guarantees(groups: Sequence[Group], settings: Mapping[str, Any]) -> list[dict[str, str]]:
    """Each different guarantee once, with the settings it holds for."""
    found: dict[str, list[Group]] = {}
    for group in groups:
        text = guarantee(group, settings.get(group.key.setting, {}))
        found.setdefault(text, []).append(group)
    return [
        {
            "text": text,
            "names": "; ".join(group.name for group in those),
            "failing": failing(those),
        }
        for text, those in found.items()
    ]


def figure_of_merit(found: Median | None) -> str:
    """A median for a table cell."""
    return "–" if found is None else amount(found.value)
