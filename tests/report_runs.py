"""Runs made up for tests of the report, written by the real store."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np
import torch

import centersmooth as cs
from centersmooth.demo_model import digits
from centersmooth.metrics import Metric
from centersmooth.outputs import encode
from centersmooth.store import Entry, Identity, Record, Sampled, Writer
from centersmooth.study.setting import PublishedProcedure, Setting, description, group

HOSTILE = "</script><img src=x onerror=alert(1)> $\\frac{a}$ | a_b & \x1b[31m \u2028 \u202eevil"
EPS = (0.1, 0.25, 0.5)


def setting(name: str, metric: Metric, sigma: float = 0.25, **options: Any) -> Setting:
    """A setting as a study has it; only its description is used."""
    options.setdefault("eps", EPS)
    return Setting(name=name, noise=cs.Gaussian(sigma), metric=metric, **options)


def write(
    folder: Path, settings: Sequence[Setting], records: Iterable[Record], inputs: int
) -> Path:
    """A run folder with these records, each under the setting that has its name."""
    numbers = group(settings)
    identity = Identity(
        settings=[description(s, n, 0) for s, n in zip(settings, numbers, strict=True)],
        inputs=[(str(i), hashlib.sha256(str(i).encode()).hexdigest()) for i in range(inputs)],
        models=[{"name": "Autoencoder", "version": None, "weights": "ab" * 32}],
        options={"input_range": [0, 1], "gallery": 20},
    )
    places = {s.name: place for place, s in enumerate(settings)}
    first = {
        "title": "Digits through an autoencoder",
        "seed": 7,
        "created": "2025-01-01T00:00:00",
        "expected": inputs * len(settings),
        "answers": [["encoded answers"]],
    }
    versions = {"versions": {"centersmooth": cs.__version__, "torch": torch.__version__}}
    with Writer(folder) as writer:
        writer.begin(identity, first, versions)
        for _, found in groupby(records, key=_transaction):
            entries = [Entry(places[record.setting], record, None) for record in found]
            writer.add(entries, encoded=entries[0].record.input)
    return folder


def _transaction(record: Record) -> int:
    """Inputs that are kept have one of their own; a thousand others share one."""
    return record.index if record.input is not None else -1 - record.index // 1000


def record(of: Setting, index: int, bounds: Sequence[float], **values: Any) -> Record:
    """A certified record with these bounds, but for what `values` say."""
    told = description(of, 0, 0)
    found = Record(
        index=index,
        setting=of.name,
        procedure=of.procedure,
        noise=told["noise"],
        metric=of.metric.name,
        status="certified",
        message="",
        eps=tuple(of.eps),
        bounds=tuple(bounds),
        statuses=("certified",) * len(bounds),
        errors=None,
        diameter=of.metric.diameter,
        confidence=told["confidence"],
        smoothing_error=0.04,
        base_error=None,
        smoothed_error=None,
        evaluations=5_099,
        probes=64,
        seconds=1.5,
        seed=2**62 + index,
        draws=0,
        input_ref=str(index),
    )
    return replace(found, **values)


def without(of: Setting, index: int, status: str, message: str = "") -> Record:
    """A record that has no bound: undecided, abstained or failed."""
    points = 0 if status == "failed" else len(of.eps)
    return record(
        of,
        index,
        (of.metric.diameter,) * points,
        status=status,
        statuses=(status,) * points,
        message=message,
        smoothing_error=None,
    )


def encoded(output: Any) -> str:
    """As the store keeps outputs."""
    return json.dumps(encode(output))


def images(folder: Path, inputs: int = 40, seed: int = 0) -> Path:
    """Three settings, one of them published, with targets, a gallery and every status."""
    sharp = setting("σ = 0.25", cs.metrics.L2())
    wide = setting("σ = 0.5", cs.metrics.L2(), sigma=0.5)
    paper = setting("σ = 0.25, paper", cs.metrics.L2(), published=PublishedProcedure())
    rng = np.random.default_rng(seed)
    shown = digits(20)[0]
    found = []
    for index in range(inputs):
        scale = float(rng.lognormal(0.0, 0.3))
        pictures = _pictures(shown[index], rng) if index < 20 else {}
        for of, factor in ((sharp, 1.0), (wide, 1.35), (paper, 2.5)):
            bounds = [factor * scale * (0.8 + 2.4 * eps) for eps in of.eps]
            if of is wide and index % 9 == 4:
                found.append(without(of, index, "undecided"))
            elif of is paper and index % 7 == 3:
                found.append(without(of, index, "abstained"))
            elif of is sharp and index == 11:
                found.append(without(of, index, "failed", "expected finite outputs, got NaN."))
            else:
                errors = None if of is paper else tuple(b + 0.6 * scale for b in bounds)
                found.append(
                    record(
                        of,
                        index,
                        bounds,
                        errors=errors,
                        base_error=scale,
                        smoothed_error=scale + 0.1 * factor,
                        smoothing_error=0.3 * factor * scale,
                        evaluations=1_020_000 if of is paper else 5_099,
                        **pictures,
                    )
                )
    return write(folder, [sharp, wide, paper], found, inputs)


def _pictures(digit: torch.Tensor, rng: np.random.Generator) -> dict[str, Any]:
    def noisy(scale: float) -> torch.Tensor:
        grain = torch.from_numpy(rng.normal(0, scale, digit.shape)).float()
        return (digit + grain).clamp(0, 1)

    seen = tuple(Sampled(d, encoded(noisy(d / 10))) for d in (0.9, 1.0, 1.7, 2.0, 2.3, 2.6))
    return {
        "input": encoded(digit),
        "base": encoded(noisy(0.02)),
        "smoothed": encoded(noisy(0.05)),
        "samples": seen,
    }


def boxes(folder: Path, inputs: int = 12) -> Path:
    """Boxes over pictures: a wide bound, a "no box", and a bound that says nothing among them."""
    of = setting("faces, σ = 0.25", cs.metrics.BoxJaccard())
    rows, columns = torch.meshgrid(torch.arange(96.0), torch.arange(128.0), indexing="ij")
    found = []
    for index in range(inputs):
        x, y = 28.0 + 3 * index, 20.0 + 2 * index
        glow = torch.exp(-((columns - x - 18) ** 2 + (rows - y - 22) ** 2) / 500)
        picture = torch.stack([0.2 + 0.7 * glow, 0.25 + 0.4 * glow, 0.5 - 0.2 * glow])
        box = torch.zeros((0, 4)) if index == 3 else torch.tensor([[x, y, x + 36, y + 44]])
        base = torch.tensor([[x + 3, y - 2, x + 40, y + 43]])
        first = 0.08 + 0.03 * index
        bounds = [min(1.0, first * k) for k in (1.0, 2.0, 3.5)]
        found.append(
            record(
                of,
                index,
                bounds,
                input=encoded(picture),
                base=encoded(base),
                smoothed=encoded(box),
                samples=(Sampled(0.05, encoded(base)), Sampled(0.4, encoded(base + 5))),
            )
        )
    return write(folder, [of], found, inputs)


def texts(folder: Path, hostile: bool = False) -> Path:
    """Sentences; with hostile ones wherever a label can come from."""
    word = HOSTILE if hostile else "the quick brown fox"
    of = setting(HOSTILE if hostile else "transcripts", cs.metrics.Discrete())
    found = [
        record(
            of,
            index,
            (0.1, 0.4, 1.0),
            input_ref=f"{word} {index}",
            input=encoded(f"{word} jumps"),
            base=encoded(f"{word} jumps"),
            smoothed=encoded(f"{word} jumped"),
            samples=(Sampled(0.0, encoded(word)), Sampled(1.0, encoded(f"{word}, far"))),
        )
        for index in range(3)
    ]
    found.append(without(of, 3, "failed", word))
    return write(folder, [of], found, 4)


def many(folder: Path, inputs: int) -> Path:
    """So many inputs under two settings, ten attack sizes each, with targets."""
    grid = tuple(0.05 * step for step in range(1, 11))
    both = [setting(f"σ = {s}", cs.metrics.L2(), sigma=s, eps=grid) for s in (0.25, 0.5)]
    scales = np.random.default_rng(1).lognormal(0.0, 0.4, size=inputs)
    found = (
        record(
            of,
            index,
            [float(scale) * (1 + eps) for eps in grid],
            errors=[float(scale) * (1.5 + eps) for eps in grid],
            base_error=float(scale),
            smoothed_error=1.1 * float(scale),
        )
        if index % 50
        else without(of, index, "undecided")
        for index, scale in enumerate(scales)
        for of in both
    )
    return write(folder, both, found, inputs)
