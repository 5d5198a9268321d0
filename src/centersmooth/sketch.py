"""A mergeable count of distances: flat memory, exact merging, values rounded up."""

from __future__ import annotations

import base64
import zlib
from collections.abc import Sequence
from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

from centersmooth.errors import FormatError, expected
from centersmooth.moments import Moments, Summary

_DROPPED_BITS = 13  # a float32 has 23 mantissa bits, 10 are kept
_OCTAVE = 1 << 10
_INFINITE_BITS = 0x7F800000
_INFINITY = _INFINITE_BITS >> _DROPPED_BITS
_REFERENCES = 2  # the rows of w and of the target come first
_FEW = 64  # so many rows can afford to keep their low ranks
_LARGEST = 2**30  # bytes of one sketch, unpacked

Keys = NDArray[np.int32]
Counts = NDArray[np.int64]


def keys_of(distances: NDArray[Any]) -> Keys:
    """The least float32 with a 10-bit mantissa that is not below each distance, as an integer.

    Nonnegative floats order like their bits, so adding just under one unit of the last kept
    bit before dropping the rest rounds up, and infinity stays where it is.
    """
    with np.errstate(over="ignore"):
        narrow = distances.astype(np.float32) + np.float32(0)  # -0.0 is zero
    bits = narrow.view(np.int32) + (narrow < distances)
    if bits.size and (int(bits.min()) < 0 or int(bits.max()) > _INFINITE_BITS):
        raise ValueError("distances must be nonnegative and not NaN")
    keys: Keys = (bits + ((1 << _DROPPED_BITS) - 1)) >> _DROPPED_BITS
    return keys


def values_of(keys: NDArray[Any]) -> NDArray[np.float64]:
    """The distances that the keys stand for."""
    bits = np.asarray(keys).astype(np.int32) << _DROPPED_BITS
    return np.ascontiguousarray(bits).view(np.float32).astype(np.float64)


class Sketch:
    """Integer counts per rounded distance, one row per reference point.

    Adding blocks in any order, or merging sketches of several workers, gives the same counts.
    `moments` are what a center counts besides distances, if it does.
    """

    def __init__(self, rows: int, moments: Moments | None = None) -> None:
        self.rows, self.moments = rows, moments
        self._first = 0  # the key of column 0, a multiple of an octave
        self._counts: Counts = np.zeros((rows, 0), dtype=np.int64)
        self._zeros: Counts = np.zeros(rows, dtype=np.int64)

    @property
    def total(self) -> int:
        """How many samples are counted: read from the counts, which an interrupt cannot divide."""
        return int(self._zeros[0] + self._counts[0].sum())

    def empty(self) -> Sketch:
        """A sketch of the same things before the first of them."""
        return Sketch(self.rows, self.moments.empty() if self.moments else None)

    def add(self, distances: NDArray[Any]) -> None:
        """Count a (rows, samples) block of distances."""
        if len(distances) != self.rows:
            raise ValueError(f"expected distances from {self.rows} rows, got {len(distances)}")
        keys = keys_of(np.ascontiguousarray(distances))
        positive = keys[keys > 0]
        if positive.size:
            self._make_room(int(positive.min()), int(positive.max()))
        _count(keys, self._counts, self._zeros, self._first)

    def merge(self, other: Sketch) -> None:
        """Add the counts of another sketch of the same rows."""
        if other.rows != self.rows:
            raise ValueError(f"cannot merge sketches of {self.rows} and {other.rows} rows")
        if (self.moments is None) != (other.moments is None):
            raise ValueError("cannot merge sketches with moments and without")
        if self.moments and other.moments:
            self.moments.merge(other.moments)
        if other._counts.shape[1]:
            self._make_room(other._first, other._first + other._counts.shape[1] - 1)
            start = other._first - self._first
            self._counts[:, start : start + other._counts.shape[1]] += other._counts
        self._zeros += other._zeros

    def _make_room(self, low: int, high: int) -> None:
        first = low // _OCTAVE * _OCTAVE
        last = (high // _OCTAVE + 1) * _OCTAVE
        width = self._counts.shape[1]
        if width:
            first, last = min(first, self._first), max(last, self._first + width)
        if (first, last - first) == (self._first, width):
            return
        counts = np.zeros((self.rows, last - first), dtype=np.int64)
        counts[:, self._first - first : self._first - first + width] = self._counts
        self._first, self._counts = first, counts

    def to_bytes(self) -> bytes:
        """The counts themselves, so that parts kept on disk still merge exactly."""
        head = np.array([self.rows, self.total, self._first, self._counts.shape[1]])
        parts = (head, self._zeros, self._counts)
        packed = zlib.compress(b"".join(part.astype("<i8").tobytes() for part in parts), 1)
        return packed + self.moments.to_bytes() if self.moments else packed

    @classmethod
    def from_bytes(cls, data: bytes) -> Sketch:
        """Read what `to_bytes` wrote; anything else is refused."""
        try:
            decoder = zlib.decompressobj()
            raw = decoder.decompress(data, _LARGEST)
            if not decoder.eof:
                raise ValueError("an incomplete or endless stream")
            numbers = np.frombuffer(raw, dtype="<i8").astype(np.int64)
            rows, total, first, width = (int(n) for n in numbers[:4])
            in_place = first >= 0 and first % _OCTAVE == 0 and first + width <= _INFINITY + _OCTAVE
            if not (0 < rows <= 2**20 and width >= 0 and width % _OCTAVE == 0 and in_place):
                raise ValueError("size out of range")
            zeros, counts = numbers[4 : 4 + rows], numbers[4 + rows :].reshape(rows, width)
            small = 0 <= total <= 2**40 and numbers.min() >= 0 and counts.max(initial=0) <= total
            if not (small and bool((zeros + counts.sum(axis=1) == total).all())):
                raise ValueError("counts that contradict their total")
        except (ValueError, TypeError, zlib.error) as error:
            what = "the counted distances of a part"
            raise FormatError(expected(what, str(error), "The file is damaged.")) from error
        sketch = cls(rows, Moments.from_bytes(decoder.unused_data) if decoder.unused_data else None)
        sketch._first, sketch._counts, sketch._zeros = first, counts, zeros
        return sketch

    def ranked(self) -> Ranked:
        """The order statistics of every row, ready to be asked."""
        used = np.flatnonzero(self._counts.any(axis=0))
        keys = np.concatenate(([0], used + self._first)).astype(np.int32)
        counts = np.concatenate((self._zeros[:, None], self._counts[:, used]), axis=1)
        return Ranked(keys, counts, self.moments.summary() if self.moments else None)


@numba.njit(cache=True, nogil=True)
def _count(keys, counts, zeros, first):  # type: ignore[no-untyped-def]  # pragma: no cover - compiled
    for row in range(keys.shape[0]):
        for column in range(keys.shape[1]):
            key = keys[row, column]
            if key == 0:
                zeros[row] += 1
            else:
                counts[row, key - first] += 1


class Ranked:
    """Order statistics of counted distances.

    No theorem asks the rows of w and of the target for a rank in the lowest tenth, nor those of
    outer points, which are many, for one in the lower half. Distances below are rounded up to
    there: fewer numbers to store, and every answer is still an upper bound.
    """

    def __init__(self, keys: Keys, counts: Counts, moments: Summary | None = None) -> None:
        self.moments = moments
        ranks = np.cumsum(counts, axis=1)
        self.total = int(ranks[0, -1]) if ranks.size else 0
        self._few = len(ranks) <= _FEW
        for row in range(len(ranks)):
            ranks[row, ranks[row] < self.least_rank(row)] = 0
        used = np.flatnonzero(np.diff(ranks, axis=1, prepend=0).any(axis=0))
        self._keys = keys[used]
        self._ranks: Counts = ranks[:, used]

    @property
    def rows(self) -> int:
        """How many reference points."""
        return len(self._ranks)

    def least_rank(self, row: int) -> int:
        """The least rank that is kept: what is asked below it is answered with it."""
        low = self._few or row < _REFERENCES
        return (self.total + 9) // 10 if low else (self.total + 1) // 2

    def smallest(self, row: int, j: int) -> float:
        """The j-th smallest distance of a row (counted from 1), rounded up."""
        return float(values_of(self._keys[np.searchsorted(self._ranks[row], j)][None])[0])

    def smallest_together(self, rows: Sequence[int], j: int) -> float:
        """The j-th smallest of the distances of several rows, rounded up."""
        ranks = self._ranks[list(rows)].sum(axis=0)
        return float(values_of(self._keys[np.searchsorted(ranks, j)][None])[0])

    def smallest_of_rows(self, first: int, j: int) -> NDArray[np.float64]:
        """The j-th smallest distance of each row from `first` on."""
        columns = (self._ranks[first:] < j).sum(axis=1)
        return values_of(self._keys[columns])

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Ranked)
            and np.array_equal(self._keys, other._keys)
            and np.array_equal(self._ranks, other._ranks)
            and self.moments == other.moments
        )

    __hash__ = None  # type: ignore[assignment]

    def to_json(self) -> dict[str, Any]:
        """Compact: gaps between keys and counts as variable-length integers, compressed."""
        counts = np.diff(self._ranks, axis=1, prepend=0)
        data = {
            "rows": self.rows,
            "columns": len(self._keys),
            "keys": _pack(np.diff(self._keys, prepend=0)),
            "counts": _pack(counts.ravel()),
        }
        return data | {"moments": self.moments.to_json()} if self.moments else data

    @classmethod
    def from_json(cls, data: Any) -> Ranked:
        """Read what `to_json` wrote; anything else is refused."""
        try:
            rows, columns = int(data["rows"]), int(data["columns"])
            if not (0 < rows <= 2**20 and 0 < columns <= _INFINITY + 1 and rows * columns <= 2**26):
                raise ValueError("size out of range")
            keys = np.cumsum(_unpack(data["keys"], columns))
            counts = _unpack(data["counts"], rows * columns).reshape(rows, columns)
            if keys[0] < 0 or keys[-1] > _INFINITY or (columns > 1 and np.diff(keys).min() < 1):
                raise ValueError("distances out of order")
            totals = counts.sum(axis=1)
            if totals.min() != totals.max() or totals[0] < 1:
                raise ValueError("rows of unequal totals")
        except (KeyError, TypeError, ValueError, OverflowError, zlib.error) as error:
            what = "the counted distances of a certificate"
            raise FormatError(expected(what, str(error), "The file is damaged.")) from error
        moments = Summary.from_json(data["moments"]) if "moments" in data else None
        return cls(keys.astype(np.int32), counts, moments)


def _pack(numbers: NDArray[Any]) -> str:
    """Low bytes first, then a list of the rest: counts are mostly below 255."""
    values = numbers.astype(np.int64)
    small = np.minimum(values, 255).astype(np.uint8)
    large = values[values >= 255].astype("<u8")
    raw = small.tobytes() + large.tobytes()
    return base64.b85encode(zlib.compress(raw, 9)).decode("ascii")


def _unpack(text: Any, count: int) -> Counts:
    decoder = zlib.decompressobj()
    raw = decoder.decompress(base64.b85decode(str(text)), 9 * count)
    small = np.frombuffer(raw[:count], dtype=np.uint8).astype(np.int64)
    large = np.frombuffer(raw[count:], dtype="<u8")
    if len(small) != count or len(large) != int((small == 255).sum()) or not decoder.eof:
        raise ValueError("wrong number of values")
    if large.size and int(large.max()) > 2**62:
        raise ValueError("count out of range")
    small[small == 255] = large.astype(np.int64)
    return small
