"""What Theorem D counts besides distances: the mean and the widest spread of outputs.

Offsets from an origin count as they are within a radius and as 0 beyond: Y in
docs/theory/theorem-d.md. Sums only, so memory does not grow and parts add up.
"""

from __future__ import annotations

import io
import math
import zipfile
import zlib
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from centersmooth.directions import directions
from centersmooth.errors import FormatError, expected

Vector = NDArray[np.float64]
_DIGITS = 2.0**-24
_DAMAGE = (KeyError, TypeError, ValueError, IndexError, OSError, EOFError)


@dataclass(frozen=True)
class Region:
    """Where moments are taken; fixed before any of the outputs is drawn that they are taken of."""

    radius: float
    """Outputs within this of the origin count."""
    near: float
    far: float
    """Pairs of outputs at most `near` apart, and those at least `far` apart, are counted."""


@dataclass(frozen=True)
class Summary:
    """The numbers that a bound needs, for every eps."""

    region: Region
    norm: float
    """Of the origin."""
    top: float
    """The top eigenvalue of the mean of Y Y^T."""
    away: tuple[float, ...]
    """From each reference point to origin + mean of Y."""
    scales: tuple[float, ...]
    """What a length is divided by where a reference point was moved along its direction."""
    pairs: int
    near_pairs: int
    far_pairs: int

    def to_json(self) -> dict[str, Any]:
        """Plain numbers."""
        return asdict(self)

    @classmethod
    def from_json(cls, data: Any) -> Summary:
        """Read what `to_json` wrote; anything else is refused."""
        try:
            region = Region(**{name: _number(value) for name, value in data["region"].items()})
            away, scales = (tuple(_number(v) for v in data[name]) for name in ("away", "scales"))
            counts = {name: int(data[name]) for name in ("pairs", "near_pairs", "far_pairs")}
            most = counts["pairs"]
            if not all(0 <= count <= most for count in counts.values()) or len(away) != len(scales):
                raise ValueError("counts that contradict each other")
            return cls(region, _number(data["norm"]), _number(data["top"]), away, scales, **counts)
        except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
            what = "the moments of a certificate"
            raise FormatError(expected(what, str(error), "The file is damaged.")) from error


def _number(value: Any) -> float:
    number = float(value)
    if not 0 <= number < math.inf:
        raise ValueError(f"{value} in place of a number >= 0")
    return number


@dataclass(frozen=True)
class Reference:
    """A point whose distance to the answers is to be bounded."""

    point: Vector
    scale: float
    """The point is this multiple of the row that the metric compares; 0 if it is no direction."""


class Moments:
    """Sums over outputs as they come."""

    def __init__(self, references: tuple[Reference, ...], region: Region) -> None:
        self._references, self._region = references, region
        self._origin = references[0].point
        self._directions = directions(len(self._origin))
        self._sum = np.zeros(len(self._origin))
        self._counts = np.zeros(4, dtype=np.int64)  # outputs, pairs, near pairs, far pairs
        self._unpaired = np.zeros((0, len(self._origin)))
        self.torn = False
        """Whether an interrupt struck while outputs were added: the sums then mean nothing."""

    @property
    def total(self) -> int:
        """How many outputs are counted."""
        return int(self._counts[0])

    def empty(self) -> Moments:
        """The same before the first output."""
        return Moments(self._references, self._region)

    def add(self, rows: torch.Tensor, valid: torch.Tensor) -> None:
        """Count more outputs; neighbours make the pairs."""
        self.torn = True
        offsets = rows.detach().double().cpu().numpy() - self._origin
        kept = valid.cpu().numpy()
        inside = kept & (np.linalg.norm(offsets, axis=1) <= self._region.radius)
        chosen = offsets if inside.all() else offsets[inside]
        self._directions.add(chosen)
        self._sum += chosen.sum(axis=0)
        offsets[~kept] = np.nan
        offsets = np.concatenate((self._unpaired, offsets))
        self._unpaired = offsets[len(offsets) // 2 * 2 :].copy()
        gaps = neighbours(offsets, np.isfinite(offsets.sum(axis=1)))
        near, far = (gaps <= self._region.near).sum(), (gaps >= self._region.far).sum()
        self._counts += (len(kept), len(gaps), near, far)
        self.torn = False

    def merge(self, other: Moments) -> None:
        """Add the sums of another part of the same outputs."""
        if self._region != other._region or not np.array_equal(self._origin, other._origin):
            raise ValueError("moments about another origin")
        self._directions.merge(other._directions)
        self._sum += other._sum
        self._counts += other._counts

    def summary(self) -> Summary:
        """The few numbers that a certificate keeps, rounded up."""
        count, pairs, near, far = (int(value) for value in self._counts)
        mean = self._origin + self._sum / max(1, count)
        norm = float(np.linalg.norm(self._origin))
        away = (float(np.linalg.norm(mean - one.point)) for one in self._references)
        return Summary(
            region=self._region,
            norm=_up(norm),
            top=_up(self._directions.top() / max(1, count)),
            away=tuple(_up(length + 2.0**-40 * norm) for length in away),
            scales=tuple(one.scale for one in self._references),
            pairs=pairs,
            near_pairs=near,
            far_pairs=far,
        )

    def to_bytes(self) -> bytes:
        """The sums themselves, so that parts kept on disk still add up."""
        region, scales = self._region, [one.scale for one in self._references]
        stream = io.BytesIO()
        arrays: dict[str, Any] = self._directions.arrays()
        arrays |= {
            "points": np.stack([one.point for one in self._references]),
            "scales": np.array(scales),
            "region": np.array([region.radius, region.near, region.far]),
            "mean": self._sum,
            "counts": self._counts,
        }
        np.savez_compressed(stream, **arrays)
        return stream.getvalue()

    @classmethod
    def from_bytes(cls, data: bytes) -> Moments:
        """Read what `to_bytes` wrote; anything else is refused."""
        try:
            with np.load(io.BytesIO(data), allow_pickle=False) as archive:
                arrays = dict(archive)
            pairs = zip(arrays.pop("points"), arrays.pop("scales"), strict=True)
            references = tuple(Reference(point, float(scale)) for point, scale in pairs)
            made = cls(references, Region(*(float(v) for v in arrays.pop("region"))))
            total, counts = arrays.pop("mean"), arrays.pop("counts")
            if total.shape != made._sum.shape or counts.shape != (4,) or counts.min() < 0:
                raise ValueError("sums of another size")
            made._sum, made._counts = total, counts
            made._directions.load(arrays)
            if not all(np.isfinite(array).all() for array in (total, *arrays.values())):
                raise ValueError("sums that are not finite")
        except (*_DAMAGE, zipfile.BadZipFile, zlib.error) as error:
            what = "the moments of a part"
            raise FormatError(expected(what, str(error), "The file is damaged.")) from error
        return made


def neighbours(rows: Vector, valid: NDArray[np.bool_]) -> Vector:
    """How far apart outputs 1 and 2, 3 and 4, ... are; infinitely where one of them failed."""
    even = len(rows) // 2 * 2
    gaps: Vector = np.linalg.norm(rows[0:even:2] - rows[1:even:2], axis=1)
    gaps[~(valid[0:even:2] & valid[1:even:2])] = np.inf
    return gaps


def _up(value: float) -> float:
    """Rounded up to 24 bits: sums in another order then mostly give the same number."""
    mantissa, exponent = math.frexp(value)
    return math.ldexp(math.ceil(mantissa / _DIGITS) * _DIGITS, exponent)
