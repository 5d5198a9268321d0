"""What a user sees of a run while it goes on."""

from __future__ import annotations

import sys
import time
from abc import ABC, abstractmethod
from bisect import insort
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TextIO

from centersmooth.progress import ProgressOption
from centersmooth.store import Record


class Medians:
    """The median of each setting's bound at its largest eps, as records come in."""

    def __init__(self) -> None:
        self._bounds: dict[str, list[float]] = defaultdict(list)

    def add(self, record: Record) -> None:
        """A failed record has no bound but the diameter."""
        bound = record.bounds[-1] if record.bounds else record.diameter
        insort(self._bounds[record.setting], bound)

    def told(self, record: Record) -> str:
        """The running median of a record's setting, in words."""
        bounds = self._bounds[record.setting]
        return f"median {bounds[len(bounds) // 2]:.4g} at eps {record.eps[-1]:g} ({record.setting})"


class Watch(ABC):
    """Told of every step; `total` counts forward passes."""

    def __init__(self, total: int) -> None:
        self.total, self.done = total, 0
        self.medians = Medians()

    def advance(self, count: int) -> None:
        """Forward passes done."""
        self.done += count
        self.moved()

    def record(self, record: Record) -> None:
        """A record that is safe in the store."""
        self.medians.add(record)
        self.told(record)

    @abstractmethod
    def moved(self) -> None:
        """`done` has changed."""

    @abstractmethod
    def told(self, record: Record) -> None:
        """A record came."""


class Silence(Watch):
    """Shows nothing."""

    def moved(self) -> None: ...

    def told(self, record: Record) -> None: ...


class Callback(Watch):
    """Hands the numbers on."""

    def __init__(self, total: int, report: Callable[[int, int], None]) -> None:
        super().__init__(total)
        self._report = report

    def moved(self) -> None:
        self._report(self.done, self.total)

    def told(self, record: Record) -> None: ...


class Lines(Watch):
    """A line a minute (or every `pause` seconds), for logs."""

    def __init__(self, total: int, stream: TextIO, pause: float = 60.0) -> None:
        super().__init__(total)
        self._stream, self._pause = stream, pause
        self._started = self._last = time.monotonic()
        self._median = ""

    def moved(self) -> None:
        now = time.monotonic()
        if now - self._last >= self._pause:
            self._last = now
            rate = self.done / (now - self._started)
            left = (self.total - self.done) / rate / 60
            print(
                f"{self.done:,} of {self.total:,} forward passes, {rate:,.0f} per second, "
                f"about {left:.0f} minutes left{self._median}",
                file=self._stream,
                flush=True,
            )

    def told(self, record: Record) -> None:
        self._median = f"; {self.medians.told(record)}"


class Bar(Watch):
    """A live bar on a terminal."""

    def __init__(self, total: int, bar: Any) -> None:
        super().__init__(total)
        self._bar, self._task = bar, bar.add_task("certifying", total=total, median="")

    def moved(self) -> None:
        self._bar.update(self._task, completed=self.done)

    def told(self, record: Record) -> None:
        self._bar.update(self._task, median=self.medians.told(record))


@contextmanager
def watch(option: ProgressOption, total: int) -> Iterator[Watch]:
    """A bar on a terminal (None) or always (True), nothing (False), or a callback."""
    if callable(option):
        yield Callback(total, option)
    elif option or (option is None and sys.stderr.isatty()):
        from rich.console import Console

        with rich_bar(Console(stderr=True)) as bar:
            yield Bar(total, bar)
    else:
        yield Silence(total)


@contextmanager
def rich_bar(console: Any) -> Iterator[Any]:
    """The columns of a `Bar` on a console of rich."""
    from rich.progress import (
        BarColumn,
        Progress,
        ProgressColumn,
        TextColumn,
        TimeRemainingColumn,
    )
    from rich.text import Text

    class Rate(ProgressColumn):
        """Forward passes per second."""

        def render(self, task: Any) -> Text:
            return Text(f"{task.speed:,.0f}/s" if task.speed else "")

    columns = (
        TextColumn("{task.description}"),
        BarColumn(bar_width=20),
        TextColumn("{task.percentage:>3.0f}%"),
        Rate(),
        TimeRemainingColumn(compact=True),
        TextColumn("{task.fields[median]}", markup=False),
    )
    with Progress(*columns, console=console, transient=True) as bar:
        yield bar
