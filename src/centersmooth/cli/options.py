"""Options that several commands share."""

from __future__ import annotations

from enum import Enum
from pathlib import Path
from typing import Annotated, TypeAlias

import typer


class Machines(str, Enum):
    """Where the work is done."""

    serial = "serial"
    ray = "ray"


Sigma: TypeAlias = Annotated[
    str, typer.Option(help="Noise levels in the units of the inputs, e.g. 0.25 or 0.25,0.5.")
]
Eps: TypeAlias = Annotated[
    str, typer.Option(help="Attack sizes (l2) in the units of the inputs, e.g. 0.1,0.2.")
]
Samples: TypeAlias = Annotated[
    int, typer.Option(min=1, help="Noisy outputs that certify an answer (40000 is thorough).")
]
AnswerSamples: TypeAlias = Annotated[
    int, typer.Option(min=10, help="Noisy outputs that choose an answer (9999 is thorough).")
]
Alpha: TypeAlias = Annotated[float, typer.Option(help="How probably a guarantee may fail.")]
Goal: TypeAlias = Annotated[
    str | None,
    typer.Option(
        help="Attack size and bound, e.g. 0.1,2.5: stops as soon as it is settled whether the "
        "bound is met. --samples is then the most to spend."
    ),
]
Tolerance: TypeAlias = Annotated[
    float | None,
    typer.Option(help="Stops when no bound can shrink by more than this share, e.g. 0.05."),
]
BatchSize: TypeAlias = Annotated[
    int | None,
    typer.Option(min=1, help="Noisy inputs per forward pass; measured when left out."),
]
ModelRange: TypeAlias = Annotated[
    str | None,
    typer.Option("--range", help="Least and largest value of an input; for images it is 0,1."),
]
Out: TypeAlias = Annotated[
    Path, typer.Option(help="Folder of the run; one that exists already goes on.")
]
On: TypeAlias = Annotated[Machines, typer.Option(help="Do the work here, or on many processes.")]
Address: TypeAlias = Annotated[
    str | None,
    typer.Option(help="Of a running Ray cluster, e.g. auto; a local one when left out."),
]
Workers: TypeAlias = Annotated[
    int | None, typer.Option(min=1, help="Ray processes; as many as there is room for.")
]
Threads: TypeAlias = Annotated[
    int | None,
    typer.Option(min=1, help="Threads per process; a run keeps those it was started with."),
]
Gpus: TypeAlias = Annotated[
    float | None, typer.Option(min=0, help="GPUs per Ray process; 0.5 lets two share one.")
]
RetryFailed: TypeAlias = Annotated[
    bool, typer.Option("--retry-failed", help="Try the inputs again that failed.")
]
AsJson: TypeAlias = Annotated[
    bool, typer.Option("--json", help="Print each record and a summary as lines of JSON.")
]
