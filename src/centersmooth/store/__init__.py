"""The store of a run: one SQLite file, one row per certificate."""

from centersmooth.store.reader import Store
from centersmooth.store.record import Record, Sampled, decoded, storable
from centersmooth.store.writer import Entry, Identity, Part, Writer

__all__ = [
    "Entry",
    "Identity",
    "Part",
    "Record",
    "Sampled",
    "Store",
    "Writer",
    "decoded",
    "storable",
]
