"""Runs made up for tests of the store: numbers known beforehand, nothing certified."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from centersmooth.store import Entry, Identity, Record, Writer

SETTING = {
    "name": "l2",
    "procedure": "sharp",
    "noise": {},
    "metric_name": "L2",
    "eps": [0.1, 0.2],
    "diameter": 5.0,
    "confidence": {},
    "draws": 3,
}
INPUTS = 40


def identity(**changes: Any) -> Identity:
    names = [(str(i), f"{i:064x}") for i in range(INPUTS)]
    usual = Identity(
        settings=[SETTING, {**SETTING, "name": "l1"}], inputs=names, models=[], options={}
    )
    return replace(usual, **changes)


def entry(index: int, place: int = 0, **changes: Any) -> Entry:
    name = ("l2", "l1")[place]
    record = example(index=index, setting=name, input_ref=str(index), **changes)
    return Entry(place, record, certificate=f"{index}/{place}")


def begun(folder: Path, **changes: Any) -> Writer:
    writer = Writer(folder)
    try:
        writer.begin(identity(**changes), {"seed": 1}, {"threads": 1})
    except BaseException:
        writer.close()
        raise
    return writer


def example(**changes: Any) -> Record:
    blank = Record(
        index=0, setting="l2", procedure="sharp", noise={}, metric="L2", status="certified",
        message="", eps=(0.1, 0.2), bounds=(1.0, 2.0), statuses=("certified", "certified"),
        errors=None, diameter=5.0, confidence={}, smoothing_error=None, base_error=None,
        smoothed_error=None, evaluations=9, probes=1, seconds=0.5, seed=1, draws=3, input_ref="",
    )  # fmt: skip
    return replace(blank, **changes)
