"""From certificates to the records that a run keeps."""

from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Sequence
from typing import Any

import torch

from centersmooth.certificates import Certificate
from centersmooth.errors import FormatError, OutputError
from centersmooth.metrics import Metric
from centersmooth.outputs import Outputs, encode, pick
from centersmooth.published import PublishedCertificate
from centersmooth.store import Record, Sampled, storable
from centersmooth.study.setting import Setting, description

LOOKED_AT = 64
"""Outputs drawn again for the gallery: the first certification samples."""
_NEAREST, _FARTHEST = 2, 4
_LONGEST_MESSAGE = 2_000


def of_certificate(blank: Record, certificate: Certificate, evaluations: int) -> Record:
    """A sharp certificate at the setting's eps."""
    errors = None
    if certificate.has_target:
        errors = tuple(certificate.error(eps) for eps in blank.eps)
    statuses = tuple(certificate.status(eps) for eps in blank.eps)
    return _filled(
        blank,
        bounds=tuple(certificate.bound(eps) for eps in blank.eps),
        statuses=statuses,
        errors=errors,
        evaluations=evaluations,
        probes=certificate.probes,
    )


def of_published(blank: Record, found: Sequence[PublishedCertificate]) -> Record:
    """The published procedure's answers, one per eps."""
    return _filled(
        blank,
        bounds=tuple(one.bound for one in found),
        statuses=tuple(one.status for one in found),
        evaluations=found[0].evaluations,
    )


def failed(blank: Record, message: str, seconds: float) -> Record:
    """No certificate, and why."""
    text = message if len(message) <= _LONGEST_MESSAGE else message[:_LONGEST_MESSAGE] + " …"
    text = storable(text)
    return _filled(blank, status="failed", message=text, seconds=seconds)


def blank(
    setting: Setting, draws: int, index: int, name: str, seed: int, looked: str | None = None
) -> Record:
    """What is known of a record before anything is sampled."""
    told = description(setting, draws, 0)
    return Record(
        index=index,
        setting=setting.name,
        procedure=setting.procedure,
        noise=told["noise"],
        metric=told["metric_name"],
        status="undecided",
        message="",
        eps=tuple(setting.eps),
        bounds=(),
        statuses=(),
        errors=None,
        diameter=setting.metric.diameter,
        confidence=told["confidence"],
        smoothing_error=None,
        base_error=None,
        smoothed_error=None,
        evaluations=0,
        probes=0,
        seconds=0.0,
        seed=seed,
        draws=draws,
        input_ref=name,
        input=looked,
    )


def with_distances(record: Record, metric: Metric, base: Any, value: Any, target: Any) -> Record:
    """How far base answer, smoothed answer and target lie from each other."""
    return _filled(
        record,
        smoothing_error=distance(metric, base, value),
        base_error=distance(metric, base, target),
        smoothed_error=distance(metric, value, target),
    )


def with_outputs(record: Record, metric: Metric, base: Any, value: Any, outputs: Outputs) -> Record:
    """The answers themselves and the nearest and farthest of some sampled outputs."""
    return _filled(
        record,
        base=None if base is None else json.dumps(metric.to_json(base)),
        smoothed=None if value is None else json.dumps(metric.to_json(value)),
        samples=None if value is None else _telling(metric, value, outputs),
    )


def _filled(record: Record, **values: Any) -> Record:
    statuses = values.get("statuses")
    if statuses:
        values["status"] = "certified" if "certified" in statuses else statuses[0]
    return dataclasses.replace(record, **values)


def distance(metric: Metric, one: Any, other: Any) -> float | None:
    """d(one, other); None where one of them is missing or cannot be measured."""
    if one is None or other is None:
        return None
    try:
        found = metric(one, other)
    except OutputError:
        return None
    return None if math.isnan(found) else found + 0.0  # SQLite keeps no -0.0


def _telling(metric: Metric, value: Any, outputs: Outputs) -> tuple[Sampled, ...]:
    """The nearest and the farthest outputs, by distance; those that failed are left out."""
    block = metric.collate(outputs)
    lengths = metric.measure(metric.collate(metric.single(value)), block)[0].cpu()
    order = [int(i) for i in torch.argsort(lengths, stable=True) if bool(block.valid[i])]
    chosen = order if len(order) <= _NEAREST + _FARTHEST else order[:_NEAREST] + order[-_FARTHEST:]
    return tuple(
        Sampled(
            min(float(metric.value(float(lengths[i]))), metric.diameter),
            json.dumps(metric.to_json(pick(outputs, [i])[0])),
        )
        for i in chosen
    )


def encoded_input(x: Any) -> str | None:
    """The input as JSON; None for one that JSON cannot hold."""
    try:
        return json.dumps(encode(x))
    except FormatError:
        return None
