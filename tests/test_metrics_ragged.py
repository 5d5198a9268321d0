from __future__ import annotations

import numpy as np

from centersmooth.metrics.ragged import end_to_end


def test_outputs_of_any_size_lie_end_to_end() -> None:
    like = np.zeros((0, 2))
    rows = [np.ones((2, 2)), like, np.full((1, 2), 3.0)]
    items, starts = end_to_end(rows, like)
    assert starts.tolist() == [0, 2, 2, 3]
    assert items.tolist() == [[1, 1], [1, 1], [3, 3]]
    for i, row in enumerate(rows):
        np.testing.assert_array_equal(items[starts[i] : starts[i + 1]], row)


def test_nothing_and_only_empty_outputs_keep_the_type_of_items() -> None:
    like = np.zeros(0, dtype=np.int32)
    for rows in ([], [like, like]):
        items, starts = end_to_end(rows, like)
        assert items.dtype == np.int32
        assert items.size == 0
        assert starts.tolist() == [0] * (len(rows) + 1)


def test_items_are_brought_to_one_type_and_are_contiguous() -> None:
    like = np.zeros((0, 3))
    items, _ = end_to_end([np.arange(12, dtype=np.int64).reshape(4, 3)[::2]], like)
    assert items.dtype == np.float64
    assert items.flags.c_contiguous
    assert items.tolist() == [[0, 1, 2], [6, 7, 8]]
