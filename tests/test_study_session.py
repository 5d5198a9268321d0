"""Every session leaves word of its software and machine."""

from __future__ import annotations

import json
from datetime import datetime, timedelta, timezone

import torch

import centersmooth as cs
from centersmooth.study.session import now, session, versions


def test_a_session_names_what_computes_numbers() -> None:
    told = json.loads(json.dumps(session("this process", 2)))
    assert told["versions"] == versions()
    assert told["versions"]["centersmooth"] == cs.__version__
    assert told["versions"]["torch"] == torch.__version__
    assert "not installed" not in told["versions"].values()
    assert (told["executor"], told["threads"]) == ("this process", 2)
    assert told["machine"]["processor"]


def test_the_time_is_universal() -> None:
    told = datetime.fromisoformat(now())
    assert told.utcoffset() == timedelta(0)
    assert abs(datetime.now(timezone.utc) - told) < timedelta(minutes=1)
