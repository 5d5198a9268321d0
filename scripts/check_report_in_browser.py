"""Open reports in a real headless Chromium and check what only a browser can tell.

The console stays free of errors, nothing is fetched, sorting and filtering work, the tolerance
moves what is shown, keyboard and 360 px wide screens are served, and 10,000 records open within
two seconds. Screenshots are left to be looked at:

    python scripts/check_report_in_browser.py --out screenshots

Speaks to chromedriver over its plain HTTP protocol; nothing is installed.
"""

from __future__ import annotations

import argparse
import base64
import json
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any

from centersmooth.report import write_report

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
import report_runs

FLAGS = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--force-color-profile=srgb",
    "--hide-scrollbars",
)
OPENS_WITHIN = 2.0  # seconds, for 10,000 records
_TRIES = 5
MISSING = "chromium and chromedriver are needed: apt-get install chromium chromium-driver"


class Browser:
    """One tab, driven by the WebDriver protocol."""

    def __init__(self, port: int, profile: str) -> None:
        self._root = f"http://127.0.0.1:{port}"
        # A proxy of the environment must not stand between us and our own machine.
        self._opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        self._wait()
        options = {"args": [*FLAGS, f"--user-data-dir={profile}"], "binary": _found("chromium")}
        wanted = {"goog:chromeOptions": options, "goog:loggingPrefs": {"browser": "ALL"}}
        answer = self._call("POST", "/session", {"capabilities": {"alwaysMatch": wanted}})
        self._root += f"/session/{answer['sessionId']}"

    def open(self, page: Path) -> float:
        """Seconds until the page says that it is ready."""
        started = time.perf_counter()
        self._call("POST", "/url", {"url": page.resolve().as_uri()})
        until = started + 60
        while self.run("return document.documentElement.dataset.ready") != "yes":
            if time.perf_counter() > until:
                raise SystemExit(f"{page} never became ready: {self.console()}")
            time.sleep(0.01)
        return time.perf_counter() - started

    def run(self, script: str, *values: Any) -> Any:
        """What a piece of JavaScript returns."""
        return self._call("POST", "/execute/sync", {"script": script, "args": list(values)})

    def settle(self) -> None:
        """Until what was changed has been drawn."""
        script = "requestAnimationFrame(() => requestAnimationFrame(arguments[0]))"
        self._call("POST", "/execute/async", {"script": script, "args": []})

    def tell(self, command: str, **values: Any) -> Any:
        """A command of the developer tools."""
        return self._call("POST", "/goog/cdp/execute", {"cmd": command, "params": values})

    def press(self, *keys: str) -> None:
        """Keys, one after the other, to whatever has the focus."""
        strokes = [{"type": kind, "value": key} for key in keys for kind in ("keyDown", "keyUp")]
        self._call(
            "POST", "/actions", {"actions": [{"type": "key", "id": "k", "actions": strokes}]}
        )

    def console(self) -> list[str]:
        """What was logged since the last call."""
        return [entry["message"] for entry in self._call("POST", "/se/log", {"type": "browser"})]

    def look(self, width: int, dark: bool, height: int = 900) -> None:
        """The size of the screen, and which theme its user likes."""
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600}
        self.tell("Emulation.setDeviceMetricsOverride", **size)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.tell("Emulation.setEmulatedMedia", features=[scheme])

    def picture(self, path: Path, whole: bool = True) -> None:
        """A screenshot, of the whole page or what is seen of it."""
        found = self.tell(
            "Page.captureScreenshot", captureBeyondViewport=whole, **self._clip(whole)
        )
        path.write_bytes(base64.b64decode(found["data"]))

    def close(self) -> None:
        """End the browser."""
        self._call("DELETE", "", None)

    def _clip(self, whole: bool) -> dict[str, Any]:
        if not whole:
            return {}
        size = self.tell("Page.getLayoutMetrics")["cssContentSize"]
        return {"clip": {"x": 0, "y": 0, "scale": 1, **{k: size[k] for k in ("width", "height")}}}

    def _wait(self) -> None:
        for _ in range(200):
            try:
                if self._call("GET", "/status", None)["ready"]:
                    return
            except OSError:
                time.sleep(0.05)
        raise SystemExit("chromedriver did not start")

    def _call(self, method: str, path: str, body: Any) -> Any:
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self._root + path, data, method=method)
        try:
            with self._opener.open(request, timeout=120) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as error:
            raise SystemExit(f"{path}: {error.read().decode()[:2000]}") from error


@contextmanager
def browser() -> Iterator[Browser]:
    """A browser with an empty profile of its own, ended whatever happens."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    driver = subprocess.Popen(
        [_found("chromedriver"), f"--port={port}"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
            tab = Browser(port, profile)
            try:
                yield tab
            finally:
                tab.close()
    finally:
        driver.terminate()
        driver.wait()


def _found(program: str) -> str:
    path = shutil.which(program)
    if path is None:
        raise SystemExit(MISSING)
    return path


class Checks:
    """Counts what held, and goes on after what did not."""

    def __init__(self) -> None:
        self.failed = 0

    def say(self, held: bool, what: str) -> None:
        """One line per check."""
        self.failed += not held
        print(("ok      " if held else "FAILED  ") + what, flush=True)


def quickest(tab: Browser, page: Path) -> float:
    """The best time of a few: others may be using the machine."""
    took = tab.open(page)
    for _ in range(_TRIES):
        if took <= OPENS_WITHIN:
            break
        took = min(took, tab.open(page))
    return took


def silent(tab: Browser, checks: Checks, name: str) -> None:
    """No errors, and nothing fetched but the page itself."""
    told = tab.console()
    checks.say(not told, f"{name}: console is free of errors {told[:3] if told else ''}")
    fetched = tab.run(
        "return performance.getEntriesByType('resource').map(e => e.name)"
        ".filter(n => !n.startsWith('data:'))"
    )
    checks.say(not fetched, f"{name}: nothing is fetched {fetched[:3]}")


def fits(tab: Browser, checks: Checks, name: str) -> None:
    """No sideways scrolling of the whole page at 360 px."""
    tab.look(360, dark=False)
    wide = tab.run(
        "return [...document.querySelectorAll('body *')].filter(e => !e.closest('.scroll') &&"
        " !e.closest('svg') && e.getBoundingClientRect().right > innerWidth + 1)"
        ".map(e => e.tagName + '.' + e.className).slice(0, 5)"
    )
    across = tab.run("return [document.documentElement.scrollWidth, innerWidth]")
    checks.say(across[0] <= 360 and not wide, f"{name}: fits 360 px {across} {wide}")


def sorts_and_filters(tab: Browser, checks: Checks) -> None:
    """The table of all records does what its controls say, with the keyboard."""
    column = (
        "return [...document.querySelectorAll('#rows tr')].map(r => r.cells[4].textContent)"
        ".filter(t => t !== 'no bound').map(Number)"
    )
    tab.run(
        "const b = [...document.querySelectorAll('#columns button')]"
        ".find(b => b.textContent.startsWith('Bound')); b.focus()"
    )
    tab.press("\ue007")
    seen = tab.run(column)
    checks.say(len(seen) > 5 and seen == sorted(seen), "sorting by bound, ascending, by Enter")
    tab.press("\ue007")
    seen = tab.run(column)
    state = tab.run("return document.querySelector('#columns [aria-sort]').ariaSort")
    checks.say(seen == sorted(seen, reverse=True) and state == "descending", "and descending")
    for control, value, cell in (("which-status", "1", 8), ("which-verdict", "2", 2)):
        tab.run(_CHANGE, control, value)
        found = set(tab.run(_CELLS, cell))
        wanted = tab.run(
            "return document.getElementById(arguments[0]).selectedOptions[0].text", control
        )
        checks.say(found == {wanted}, f"filtering by {control}: {found}")
        tab.run(_CHANGE, control, "")
    tab.run(_CHANGE, "search", "got nan")
    checks.say(tab.run("return document.querySelectorAll('#rows tr').length") == 1, "searching")
    tab.run(_CHANGE, "search", "")


_CHANGE = (
    "const e = document.getElementById(arguments[0]); e.value = arguments[1];"
    "e.dispatchEvent(new Event('input')); e.dispatchEvent(new Event('change'))"
)
_CELLS = (
    "return [...document.querySelectorAll('#rows tr')]"
    ".map(r => r.cells[arguments[0]].firstChild.nodeType === 3 ? r.cells[arguments[0]].firstChild"
    ".textContent : r.cells[arguments[0]].textContent)"
)


_SHOWN = (
    "return [...document.querySelectorAll('.setting')].map(s => ['.percent', '.count', '.span',"
    " '.sentence', '.median'].map(name => s.querySelector(name).textContent))"
)


def agrees(tab: Browser, checks: Checks, name: str, page: Path) -> None:
    """What the script computes from the embedded records is what Python wrote into the page."""
    written = tab.run(
        "const d = new DOMParser().parseFromString(arguments[0], 'text/html');"
        + _SHOWN.replace("document", "d"),
        page.read_text(encoding="utf-8"),
    )
    shown = tab.run(_SHOWN)
    checks.say(shown == written, f"{name}: script and report agree on every share and median")
    for one, other in zip(shown, written, strict=True):
        if one != other:
            print("        ", one, other)


def tolerates(tab: Browser, checks: Checks) -> None:
    """Shares follow the slider."""
    before = tab.run(_SHOWN)
    slide = (
        "const e = document.querySelector('.tolerance'); e.value = arguments[0];"
        "e.dispatchEvent(new Event('input'))"
    )
    tab.run(slide, "1e9")
    tab.settle()
    most = tab.run(_SHOWN)
    tab.run(slide, "0")
    tab.settle()
    least = tab.run(_SHOWN)
    checks.say(all(found[0] == "0\u00a0%" for found in least), "nothing is safe at tolerance 0")
    checks.say(most != before, f"more is safe at the largest tolerance: {[m[0] for m in most]}")


def escapes(tab: Browser, checks: Checks) -> None:
    """Hostile labels are shown as text, and run nothing."""
    alive = tab.run(
        "return [document.querySelectorAll('img[src=x], img[onerror]').length,"
        " document.scripts.length, document.title,"
        " document.querySelector('#rows').textContent.includes('</script>')]"
    )
    checks.say(alive[:2] == [0, 2] and alive[-1], f"hostile labels stay text {alive}")


def names(tab: Browser, checks: Checks, name: str) -> None:
    """What a screen reader needs: one h1, no skipped heading, names for all controls."""
    levels = tab.run(
        "return [...document.querySelectorAll('h1,h2,h3,h4,h5')].map(h => Number(h.tagName[1]))"
    )
    steps = all(b <= a + 1 for a, b in pairwise(levels))
    checks.say(levels.count(1) == 1 and levels[0] == 1 and steps, f"{name}: headings in order")
    nameless = tab.run(
        "return [...document.querySelectorAll('input, select, button')]"
        ".filter(e => !e.labels?.length && !e.ariaLabel && !e.textContent.trim())"
        ".map(e => e.id || e.className)"
    )
    checks.say(not nameless, f"{name}: every control has a name {nameless}")


_CONTRAST = Path(__file__).with_name("contrast.js")


def contrasts(tab: Browser, checks: Checks, name: str) -> None:
    """All text at least 4.5 to 1 against what lies behind it, in both themes."""
    for dark in (False, True):
        tab.look(1280, dark)
        weak = tab.run(_CONTRAST.read_text(encoding="utf-8"))
        theme = "dark" if dark else "light"
        checks.say(not weak, f"{name}: contrast of all text, {theme} {weak[:4]}")


def pictures(tab: Browser, out: Path, name: str) -> None:
    """Screenshots: desktop in both themes, and a phone."""
    for width, dark, label in ((1280, False, "light"), (1280, True, "dark"), (360, False, "phone")):
        tab.look(width, dark)
        tab.settle()
        tab.picture(out / f"{name}-{label}.png")


def main() -> None:
    """Make runs, write their reports, and look at them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("report-screenshots"))
    parser.add_argument("--records", type=int, default=10_000)
    parser.add_argument("--page", type=Path, help="check this page alone, as any page can be")
    given = parser.parse_args()
    for program in ("chromium", "chromedriver"):
        _found(program)
    given.out.mkdir(parents=True, exist_ok=True)
    checks = Checks()
    if given.page:
        with browser() as tab:
            checks_of_any_page(tab, checks, given.page.stem, given.page, given.out)
        raise SystemExit(1 if checks.failed else 0)
    makers: dict[str, Callable[[Path], Path]] = {
        "images": report_runs.images,
        "boxes": report_runs.boxes,
        "texts": lambda folder: report_runs.texts(folder, hostile=True),
        "many": lambda folder: report_runs.many(folder, given.records // 2),
    }
    with tempfile.TemporaryDirectory() as folder:
        pages = {
            name: write_report(make(Path(folder) / name)).page for name, make in makers.items()
        }
        _check_all(pages, checks, given)
    raise SystemExit(1 if checks.failed else 0)


def _check_all(pages: dict[str, Path], checks: Checks, given: argparse.Namespace) -> None:
    with browser() as tab:
        for name, page in pages.items():
            tab.look(1280, dark=False)
            if name == "many":
                took = quickest(tab, page)
                what = f"{given.records:,} records open within {OPENS_WITHIN:g} s: {took:.2f} s"
                checks.say(took <= OPENS_WITHIN, what)
            else:
                tab.open(page)
            if name == "images":
                tolerates(tab, checks)
                tab.open(page)
                sorts_and_filters(tab, checks)
            if name == "texts":
                escapes(tab, checks)
            agrees(tab, checks, name, page)
            checks_of_any_page(tab, checks, name, page, given.out)


def checks_of_any_page(tab: Browser, checks: Checks, name: str, page: Path, out: Path) -> None:
    """Names, contrast, width, silence; and screenshots."""
    tab.look(1280, dark=False)
    tab.open(page)
    names(tab, checks, name)
    contrasts(tab, checks, name)
    fits(tab, checks, name)
    tab.open(page)
    pictures(tab, out, name)
    silent(tab, checks, name)


if __name__ == "__main__":
    main()
