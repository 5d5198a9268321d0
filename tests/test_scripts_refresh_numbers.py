"""The numbers of README.md are those of the committed records."""

from __future__ import annotations

import refresh_numbers

README = refresh_numbers.ROOT / "README.md"


def test_the_readme_says_what_the_records_say() -> None:
    """If it does not: python scripts/refresh_numbers.py."""
    page = README.read_text(encoding="utf-8")
    assert refresh_numbers.refreshed(page) == page
    assert page.count("| L2 |") >= 3
