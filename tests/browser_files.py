"""The browser that the report is looked at with, if this machine has one."""

from __future__ import annotations

import shutil

PROGRAMS = ("chromium", "chromedriver")
MISSING = (
    "The page was not opened in a real browser: apt-get install chromium chromium-driver, "
    "then run the tests again."
)


def missing() -> list[str]:
    """The programs that are not there."""
    return [name for name in PROGRAMS if shutil.which(name) is None]
