"""Check that the documentation tells the truth.

    python scripts/check_docs.py [FOLDER]

Every relative link in a Markdown file must lead to a file (and, after `#`, to a heading of it),
and every code block that opens with ```python run must run. The blocks of one file run in order
in one process, in an empty folder, as a reader would type them. So do the commands in blocks that
open with ```console run: lines that begin with `centersmooth`, each ending with the exit code 0 or
the one that a remark says (`# exit code 2`). A block that opens with ```python file=NAME is that
file, and is there from the beginning.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote

_LINK = re.compile(r"!?\[[^\]]*\]\(\s*<?([^)>\s]+)>?(?:\s+\"[^\"]*\")?\s*\)")
_HEADING = re.compile(r"#{1,6}\s+(.*?)\s*#*\s*$")
_FENCE = re.compile(r"(\s*)(`{3,}|~{3,})\s*(.*)$")
_CODE_SPAN = re.compile(r"(`+)(?:(?!\1).)+\1")
_RUN, _COMMANDS, _FILE = "python run", "console run", "python file="
_EXIT = re.compile(r"#\s*exit code (\d+)")


def main(root: Path) -> int:
    """Report every problem; 1 if there is any."""
    pages = sorted(_pages(root))
    problems = [problem for page in pages for problem in broken_links(page)]
    runnable = [page for page in pages if runnable_code(page).strip()]
    problems += [problem for page in runnable for problem in failures(page)]
    for problem in problems:
        print(problem)
    print(f"docs: {len(pages)} pages, {len(runnable)} with code that was run, ", end="")
    print(f"{len(problems)} problems" if problems else "all links and examples work")
    return 1 if problems else 0


def _pages(root: Path) -> Iterator[Path]:
    """Markdown files outside hidden folders and installed packages."""
    for entry in root.iterdir():
        if entry.name.startswith(".") or entry.name in ("node_modules", "build", "dist"):
            continue
        if entry.is_dir():
            yield from _pages(entry)
        elif entry.suffix == ".md":
            yield entry


def broken_links(page: Path) -> Iterator[str]:
    """Relative links that lead nowhere. Their text may run over several lines."""
    prose = "\n".join(_CODE_SPAN.sub("", line) for line in _prose(page))
    for link in _LINK.finditer(prose):
        target = link[1]
        if re.match(r"[a-z][a-z0-9+.-]*:", target, re.IGNORECASE):
            continue
        path, _, anchor = unquote(target).partition("#")
        file = (page.parent / path).resolve() if path else page
        place = f"{page}:{prose.count(chr(10), 0, link.start()) + 1}"
        if not file.exists():
            yield f"{place}: no such file: {target}"
        elif anchor and file.suffix == ".md" and anchor not in _anchors(file):
            yield f"{place}: no such heading: {target}"


def runnable_code(page: Path) -> str:
    """The runnable blocks on their own lines, all others blank, so that tracebacks point right."""
    lines = [""] * len(page.read_text(encoding="utf-8").splitlines())
    for number, line, info in _fenced(page):
        if info == _RUN:
            lines[number - 1] = line
        elif info == _COMMANDS and line.startswith("centersmooth "):
            wanted = _EXIT.search(line)
            call = (line.partition(" #")[0], int(wanted[1]) if wanted else 0)
            lines[number - 1] = f"__import__('check_docs').command{call!r}"
    return "\n".join(lines) + "\n"


def command(line: str, wanted: int) -> None:
    """Type a command, in this process; what it writes is seen only if it ends otherwise."""
    from typer.testing import CliRunner

    from centersmooth.cli import app

    done = CliRunner().invoke(app, shlex.split(line)[1:], prog_name="centersmooth")
    if done.exit_code != wanted:
        raise SystemExit(f"{line}: exit code {done.exit_code} instead of {wanted}\n{done.output}")


def files_of(page: Path) -> dict[str, str]:
    """The files that a page shows, by name."""
    files: dict[str, str] = {}
    for _, line, info in _fenced(page):
        if info.startswith(_FILE):
            name = Path(info.removeprefix(_FILE)).name
            files[name] = files.get(name, "") + line + "\n"
    return files


def failures(page: Path) -> Iterator[str]:
    """What goes wrong when the runnable blocks of a page are run."""
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder) / f"{page.name}.py"
        script.write_text(runnable_code(page), encoding="utf-8")
        for name, content in files_of(page).items():
            (Path(folder) / name).write_text(content, encoding="utf-8")
        line = [sys.executable, "-W", "error::DeprecationWarning:__main__", str(script)]
        done = subprocess.run(
            line, cwd=folder, env=_with_this_file(), capture_output=True, text=True, check=False
        )
    if done.returncode:
        yield f"{page}: an example failed (line numbers are those of the page)\n{done.stderr}"


def _with_this_file() -> dict[str, str]:
    """The environment, in which the script can import `command`."""
    path = [str(Path(__file__).parent), os.environ.get("PYTHONPATH", "")]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, path))}


def _anchors(page: Path) -> set[str]:
    """The names under which headings can be linked to."""
    seen: Counter[str] = Counter()
    anchors = set()
    for line in _prose(page):
        if heading := _HEADING.match(line):
            text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading.group(1))
            slug = re.sub(r"[^\w\- ]", "", text.lower()).replace(" ", "-")
            anchors.add(f"{slug}-{seen[slug]}" if seen[slug] else slug)
            seen[slug] += 1
    return anchors


def _prose(page: Path) -> list[str]:
    """The lines of a page, blank where they are fenced code."""
    lines = page.read_text(encoding="utf-8").splitlines()
    for number, _, _ in _fenced(page):
        lines[number - 1] = ""
    return lines


def _fenced(page: Path) -> Iterator[tuple[int, str, str]]:
    """Numbered lines inside fenced code, unindented as the fence is, and what the fence says."""
    fence, info, indent = "", "", 0
    for number, line in enumerate(page.read_text(encoding="utf-8").splitlines(), start=1):
        mark = _FENCE.match(line)
        if fence and mark and mark[2].startswith(fence) and not mark[3]:
            fence = ""
        elif fence:
            yield number, line[indent:], info
        elif mark:
            indent, fence, info = len(mark[1]), mark[2], mark[3].strip()


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1] if len(sys.argv) > 1 else ".")))
