"""What this machine cannot check is said aloud, never passed over."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from browser_files import MISSING, missing

sys.path.append(str(Path(__file__).parents[1] / "scripts"))  # which are tested too

collect_ignore = ["test_report_browser.py"] if missing() else []


def pytest_terminal_summary(terminalreporter: Any) -> None:
    if missing():
        terminalreporter.section("NOT CHECKED: the report in a browser", red=True, bold=True)
        terminalreporter.write_line(MISSING)
