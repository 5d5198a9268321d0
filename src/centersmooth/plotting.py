"""Figures of certificates (matplotlib, imported when used)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from centersmooth.certificates import Certificate

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_POINTS = 40


def plot_certificate(
    certificate: Certificate, ax: Axes | None, eps: Sequence[float] | None
) -> Axes:
    """The curve from eps to eps_2, as far as the samples decide."""
    import matplotlib.pyplot as plt

    ax = ax if ax is not None else plt.subplots(figsize=(5.2, 3.6), layout="constrained")[1]
    points = list(eps) if eps is not None else _span(certificate)
    points = [e for e in points if certificate.status(e) == "certified"]
    style = "o" if certificate.grid else "-"
    ax.plot(points, certificate.curve(points), style, label="answer moves at most")
    if certificate.has_target:
        errors = [certificate.error(e) for e in points]
        ax.plot(points, errors, style.replace("-", "") + "--", label="error against target")
        ax.legend(frameon=False)
    if math.isfinite(certificate.metric.diameter):
        ax.axhline(certificate.metric.diameter, color="0.7", lw=0.8)
    ax.set_xlabel(f"attack size ε ({certificate.noise.norm})")
    unit = f" ({certificate.metric.unit})" if certificate.metric.unit else ""
    ax.set_ylabel(f"bound ε₂, {certificate.metric.name}{unit}")
    ax.set_ylim(bottom=0)
    ax.spines[["top", "right"]].set_visible(False)
    return ax


def _span(certificate: Certificate) -> list[float]:
    if certificate.grid:
        return list(certificate.grid)
    reach = certificate.theorem.largest_eps()
    most = certificate.provenance.largest_move
    end = min(reach, most if most is not None else reach, 4 * certificate.noise.scale)
    return [end * i / _POINTS for i in range(_POINTS + 1)]
