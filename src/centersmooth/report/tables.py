"""The summary as rows: for the page, as Markdown and as LaTeX."""

from __future__ import annotations

from dataclasses import dataclass

from centersmooth.report.aggregates import Median, Share, quantile
from centersmooth.report.panels import Panel, Series
from centersmooth.report.words import NO_BOUND, amount, figure_of_merit, subject


@dataclass(frozen=True)
class Line:
    """One setting at one attack size."""

    setting: str
    eps: float
    inputs: int
    telling: int
    """Inputs with a certified bound smaller than the largest distance there is."""
    bound: Median
    low: float
    """A tenth of the inputs have at most this bound."""
    high: float
    """Nine tenths have."""
    error: Median | None
    within: Share


def lines(panel: Panel, tolerance: float) -> list[Line]:
    """The summary of a panel, by setting and attack size."""
    return [
        line
        for one in panel.series
        for eps in one.group.eps
        if (line := _line(one, eps, tolerance)) is not None
    ]


def _line(one: Series, eps: float, tolerance: float) -> Line | None:
    column, bound = one.group.column(eps), one.bound(eps)
    within = one.share(eps, tolerance)
    if column is None or bound is None or within is None:
        return None
    values = one.group.bounds[:, column]
    return Line(
        setting=one.group.name,
        eps=eps,
        inputs=len(one.group),
        telling=int(one.group.telling[:, column].sum()),
        bound=bound,
        low=quantile(values, 0.1),
        high=quantile(values, 0.9),
        error=one.error(eps),
        within=within,
    )


def markdown(panel: Panel, tolerance: float) -> str:
    """A table that Markdown renders, whatever the labels hold."""
    header, rows = _cells(panel, tolerance)
    table = [header, ["---"] + ["---:"] * (len(header) - 1)]
    table += [[_markdown_cell(cell) for cell in row] for row in rows]
    title = _markdown_cell(subject(panel))
    body = "\n".join(f"| {' | '.join(row)} |" for row in table)
    return f"### {title}\n\n{body}\n\n{_markdown_cell(note(panel, tolerance))}\n"


def latex(panel: Panel, tolerance: float) -> str:
    """A booktabs table that compiles, whatever the labels hold."""
    header, rows = _cells(panel, tolerance)
    body = [" & ".join(_latex_cell(cell) for cell in row) + r" \\" for row in rows]
    return "\n".join(
        [
            r"\begin{table}",
            r"\centering",
            rf"\caption{{{_latex_cell(subject(panel))}. {_latex_cell(note(panel, tolerance))}}}",
            rf"\begin{{tabular}}{{l{'r' * (len(header) - 1)}}}",
            r"\toprule",
            " & ".join(_latex_cell(cell) for cell in header) + r" \\",
            r"\midrule",
            *body,
            r"\bottomrule",
            r"\end{tabular}",
            r"\end{table}",
            "",
        ]
    )


def note(panel: Panel, tolerance: float) -> str:
    """How the table is to be read."""
    return (
        "Medians over inputs (the upper one of an even number) with exact 95\u00a0% intervals; "
        "an input without a bound counts with the largest distance there is. "
        f"Bounds are rounded up. Within: certified to move at most {amount(tolerance)}."
    )


def _cells(panel: Panel, tolerance: float) -> tuple[list[str], list[list[str]]]:
    found = lines(panel, tolerance)
    with_error = any(line.error for line in found)
    header = ["setting", "eps", "inputs", "with a bound", "median bound", "95 % interval"]
    header += ["10 % to 90 % of inputs"] + ["median certified error"] * with_error + ["within"]
    return header, [_row(line, with_error) for line in found]


def _row(line: Line, with_error: bool) -> list[str]:
    error = [figure_of_merit(line.error)] if with_error else []
    return [
        line.setting,
        f"{line.eps:g}",
        str(line.inputs),
        str(line.telling),
        amount(line.bound.value),
        span(line.bound.low, line.bound.high),
        span(line.low, line.high),
        *error,
        f"{line.within.hits}/{line.within.count}",
    ]


def span(low: float | None, high: float | None) -> str:
    """From the one to the other."""
    if low is None or high is None:
        return "–"
    both = amount(low), amount(high)
    return NO_BOUND if both == (NO_BOUND, NO_BOUND) else f"{both[0]} to {both[1]}"


def _markdown_cell(text: str) -> str:
    """Backslashes before all that Markdown or the HTML within it could read as markup."""
    return "".join("\\" + c if c in "\\`*_[]<>#|$~&" else c for c in text)


_LATEX = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "%": r"\%",
    "#": r"\#",
    "_": r"\_",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': "''",
    "–": "--",
    "ε": r"$\varepsilon$",
    "σ": r"$\sigma$",
    "ℓ": r"$\ell$",
    "₂": r"$_2$",
    "∞": r"$\infty$",
    "\u00a0": "~",
}


def _latex_cell(text: str) -> str:
    return "".join(_LATEX.get(c, c) for c in text)
