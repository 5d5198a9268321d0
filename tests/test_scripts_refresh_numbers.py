"""The numbers on our pages are those of the committed records."""

from __future__ import annotations

import refresh_numbers


def test_pages_say_what_the_records_say() -> None:
    """If they do not: python scripts/refresh_numbers.py."""
    for path, text in refresh_numbers.pages().items():
        assert path.read_text(encoding="utf-8") == text, path
        assert "?" not in [line.rpartition("| ")[2][:1] for line in text.splitlines()]


def test_a_rate_is_told_to_two_digits() -> None:
    told = map(refresh_numbers.rounded, (1234.0, 98_765.0, 4_560_000.0, 123e6))
    assert [*told] == ["1,200", "99,000", "4.6 million", "120 million"]
