"""Tries to break a certificate: how far can the smoothed model's answer really be moved?"""

from __future__ import annotations

from centersmooth.attacks.audit import audit
from centersmooth.attacks.result import Audit
from centersmooth.attacks.verdict import Verdict

__all__ = ["Audit", "Verdict", "audit"]
