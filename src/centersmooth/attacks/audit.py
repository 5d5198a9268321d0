"""cs.audit: look for the worst x' within eps, then count answers there against the bound."""

from __future__ import annotations

import hashlib
import statistics
from collections.abc import Sequence
from typing import Any

import torch

from centersmooth.attacks.judge import Judge
from centersmooth.attacks.result import Audit
from centersmooth.attacks.search import Candidate, Search
from centersmooth.attacks.verdict import Verdict
from centersmooth.certificates import Certificate
from centersmooth.certifying import check_count
from centersmooth.errors import ArgumentError, CenterError, expected
from centersmooth.metrics import Block
from centersmooth.noise.inputs import InputRange
from centersmooth.procedure import Source, check_target
from centersmooth.progress import progress_bar
from centersmooth.sampling import root_seed
from centersmooth.smoother import Smoother

_FINALISTS = 3


def audit(
    smoother: Smoother,
    certificate: Certificate,
    x: Any,
    eps: float,
    trials: int = 50,
    candidates: Sequence[Any] | None = None,
    target: Any = None,
    search_samples: int = 99,
    seed: int | None = None,
) -> Audit:
    """Try to break a certificate at eps: search for the worst x', then count fresh answers there.

    The search knows the certificate and, of a torch module, the gradients; it does not know the
    noise of the answers that are counted. The guarantee covers every such attacker, so more
    violations than chance explains refute it. None prove nothing.

    trials: answers of the smoothed model at the worst x' found, each with fresh noise.
    candidates: inputs within eps to try as well; needed where the noise can list none.
    target: the one certified with, to audit ``certificate.error`` in place of ``bound``.
    search_samples: outputs behind each answer of the search, which needs no exact ones.
    seed: repeats an audit. The answers never share noise with the certificate's.
    """
    _check_kinds(smoother, certificate)
    check_count(trials, "trials", 1)
    check_count(search_samples, "search_samples", 10)
    bound = certificate.bound(eps) if target is None else certificate.error(eps)
    root = root_seed(seed)
    source, _ = smoother.source(x, _derived(root, "search"))
    _check_same(smoother, certificate, source)
    own = [_checked(there, smoother, source, eps) for there in candidates or ()]
    reference = certificate.value if target is None else target
    block = _reference_block(smoother, source, target, reference)
    worst, spent = _worst(smoother, source, (reference, block), float(eps), own, search_samples)
    distances, unanswered = _distances(smoother, reference, worst, trials, root)
    return Audit(
        eps=float(eps),
        bound=bound,
        movement=max(distances, default=0.0),
        typical=statistics.median(distances) if distances else 0.0,
        verdict=Verdict.of(sum(d > bound for d in distances), len(distances), certificate.level),
        about="the certified answer" if target is None else "the target",
        worst=worst.x,
        found_by=worst.found_by,
        unanswered=unanswered,
        evaluations=spent + trials * (smoother.center.draws + smoother.answer_samples),
        seed=root,
        metric=certificate.metric.name,
        norm=certificate.noise.norm,
    )


def _worst(
    smoother: Smoother,
    source: Source,
    about: tuple[Any, Block],
    eps: float,
    own: Sequence[Any],
    samples: int,
) -> tuple[Candidate, int]:
    """The input whose answer lies farthest, the last few compared by full answers; and the cost."""
    reference, block = about
    judge = Judge(source, smoother.party, block, samples)
    search = Search(source, smoother.party, reference, eps, smoother.input_range, judge)
    found = search.run(own)
    if not found:
        fix = "Pass candidates=[...]: inputs within eps that may be bad ones."
        got = f"none, and {smoother.noise} lists none"
        raise ArgumentError(expected("inputs to try", got, fix))
    final = Judge(source, smoother.party, block, smoother.answer_samples)
    worst = max(found[:_FINALISTS], key=lambda one: final.movement(one.x))
    return worst, search.evaluations + final.evaluations


def _derived(root: int, name: str) -> int:
    """Seeds of its own for every part: none may repeat the noise of another."""
    digest = hashlib.sha256(f"audit/{root}/{name}".encode()).digest()
    return int.from_bytes(digest[:8], "little") >> 1


def _distances(
    smoother: Smoother, reference: Any, worst: Candidate, trials: int, root: int
) -> tuple[list[float], int]:
    """How far fresh answers at the worst x' lie from the reference point, and how many failed."""
    quiet, distances, unanswered = smoother.quiet(), [], 0
    with progress_bar(smoother.progress, "auditing", trials) as advance:
        for trial in range(trials):
            try:
                answer = quiet.predict(worst.x, seed=_derived(root, f"answer {trial}"))
                distances.append(smoother.metric(reference, answer.value))
            except CenterError:
                unanswered += 1
            advance(1)
    return distances, unanswered


def _reference_block(smoother: Smoother, source: Source, target: Any, reference: Any) -> Block:
    if target is not None:
        return check_target(source, smoother.party, target)
    return smoother.metric.collate(smoother.metric.single(reference))


def _check_kinds(smoother: object, certificate: object) -> None:
    if not (isinstance(smoother, Smoother) and isinstance(certificate, Certificate)):
        got = f"{type(smoother).__name__} and {type(certificate).__name__}"
        fix = "In this order: cs.audit(smoother, certificate, x, eps)."
        raise ArgumentError(expected("a smoother and its certificate", got, fix))


def _check_same(smoother: Smoother, certificate: Certificate, source: Source) -> None:
    """A certificate speaks of one input and one smoothed model."""
    same = (
        ("noise", smoother.noise, certificate.noise),
        ("metric", smoother.metric, certificate.metric),
        ("center", smoother.center, certificate.center),
        ("answer_samples", smoother.answer_samples, certificate.sizes.n),
    )
    for name, one, other in same:
        if one != other:
            fix = "Audit a certificate with the smoother that made it."
            raise ArgumentError(expected(f"a smoother with {name} = {other}", one, fix))
    if source.address.x.hex() != certificate.provenance.input_sha256:
        fix = "Give the very input that was certified, in the same precision."
        raise ArgumentError(expected("the certified input", "another one", fix))


def _checked(there: Any, smoother: Smoother, source: Source, eps: float) -> Any:
    """A candidate of the user's, in the form of x and no farther than eps where that is known."""
    limits: InputRange = smoother.input_range
    there = smoother.model.place(smoother.noise.check_input(there, limits))
    if not isinstance(there, torch.Tensor) or not isinstance(source.x, torch.Tensor):
        return there
    if there.shape != source.x.shape:
        fix = "Candidates are inputs like x."
        got = tuple(there.shape)
        raise ArgumentError(expected(f"candidates of shape {tuple(source.x.shape)}", got, fix))
    ball = smoother.noise.ball(source.x)
    length = 0.0 if ball is None else ball.length(there.double() - source.x.double())
    if length > eps * (1 + 1e-6):
        fix = f"The attacker moves x by {eps:g} at most."
        raise ArgumentError(expected("candidates within eps", f"one at {length:.4g}", fix))
    return there
