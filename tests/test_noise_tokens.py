from __future__ import annotations

import itertools
from collections import Counter

import numpy as np
import pytest
import torch

import centersmooth as cs
from centersmooth.errors import ArgumentError, InputError
from centersmooth.noise import TokenDeletion, TokenSubstitution
from noise_laws import (
    GRID,
    Law,
    assert_exact,
    assert_samples_follow,
    assert_valid,
    changed_in,
    claims_and_is_refuted,
    gathered,
    generator,
    independent,
    least_of_ball,
    promises_too_much,
    repeated,
    two_valued_smoother,
)

# -------------------------------------------------------------------------------- deletion


def thinned(p_delete: float):
    """The law of what is left of a sequence."""

    def law(x: tuple) -> Law:
        outcomes = []
        for mask in itertools.product((True, False), repeat=len(x)):
            kept = tuple(token for token, keep in zip(x, mask, strict=True) if keep)
            outcomes.append((kept, p_delete ** (len(x) - len(kept)) * (1 - p_delete) ** len(kept)))
        return gathered(outcomes)

    return law


def levenshtein(a, b) -> int:
    row = list(range(len(b) + 1))
    for i, one in enumerate(a, 1):
        diagonal, row[0] = row[0], i
        for j, other in enumerate(b, 1):
            diagonal, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, diagonal + (one != other))
    return row[-1]


def edited(x: tuple, count: int, alphabet: str) -> list[tuple]:
    """All sequences within so many insertions, deletions and substitutions."""
    lengths = range(max(0, len(x) - count), len(x) + count + 1)
    every = itertools.chain(*(itertools.product(alphabet, repeat=n) for n in lengths))
    return [y for y in every if levenshtein(x, y) <= count]


@pytest.mark.parametrize("p_delete", [0.5, 0.9])
@pytest.mark.parametrize("count", [1, 2])
def test_deletion_is_exact_over_the_whole_edit_ball(p_delete: float, count: int) -> None:
    x = ("a", "b", "c")
    exact = least_of_ball(thinned(p_delete), x, edited(x, count, "abcde"))
    noise = TokenDeletion(p_delete)
    assert_exact(noise.mass_left(GRID, count + 0.5), exact)
    assert promises_too_much(noise.mass_left(GRID, count - 1), exact)


@pytest.mark.parametrize("x", [("a", "a", "b"), ("a", "a", "a"), ("b",), ()])
def test_deletion_is_valid_where_tokens_repeat_or_lack(x: tuple) -> None:
    exact = least_of_ball(thinned(0.7), x, edited(x, 2, "abc"))
    assert_valid(TokenDeletion(0.7).mass_left(GRID, 2), exact)


def test_each_kind_of_edit_has_its_own_least_mass() -> None:
    """Insertions take a share, deletions take from the rest, substitutions take both ways."""
    x, s = ("a", "b", "c", "d"), 0.8**2
    law = thinned(0.8)
    inserted = least_of_ball(law, x, [("a", "x", "b", "y", "c", "d")])
    np.testing.assert_allclose(inserted, s * GRID, atol=1e-12)
    deleted = least_of_ball(law, x, [("b", "d")])
    np.testing.assert_allclose(deleted, np.maximum(1 - (1 - GRID) / s, 0), atol=1e-12)
    replaced = least_of_ball(law, x, [("a", "x", "y", "d")])
    np.testing.assert_allclose(replaced, np.maximum(GRID - 1 + s, 0), atol=1e-12)
    mixed = least_of_ball(law, x, [("a", "x", "b", "d")])
    for other in (inserted, deleted, mixed):
        assert (other >= replaced - 1e-12).all()
    assert promises_too_much(inserted, replaced), "the insertion formula is a wrong twin"


def test_several_deletions_are_exact_too() -> None:
    x, law = ("a", "b"), repeated(thinned(0.7), 2)
    exact = least_of_ball(law, x, edited(x, 1, "abcd"))
    assert_exact(TokenDeletion(0.7).mass_left(GRID, 1, fold=2), exact)
    assert promises_too_much(TokenDeletion(0.7).mass_left(GRID, 1), exact)


def test_deletion_samples_follow_the_law() -> None:
    copies = TokenDeletion(0.6).sample(["a", "b", "a"], generator(), 20_000)
    assert_samples_follow(thinned(0.6)(("a", "b", "a")), [tuple(copy) for copy in copies])
    assert TokenDeletion(0.6).sample([], generator(), 2) == [[], []]


def test_deletion_at_the_worst_sentence_and_a_wrong_twin() -> None:
    """psi's extremal set: the old word is seen, or neither is and one of the fillers is."""
    noise = TokenDeletion(0.8)
    x = ["old", *(f"w{i}" for i in range(12))]
    worst = ["new", *x[1:]]

    def accepts(fillers: int):
        wanted = set(x[1 : 1 + fillers])

        def inside(batch: list[list[str]]) -> list[bool]:
            return [
                "old" in words or ("new" not in words and not wanted.isdisjoint(words))
                for words in batch
            ]

        return inside

    # At x' the mass is .8 (1 - .8^fillers): .75 for 12 and .47 for 4; at x it is .2 more.
    smoother = two_valued_smoother(noise, accepts(12))
    assert claims_and_is_refuted(smoother, x, worst, 1) == (True, False)
    smoother = two_valued_smoother(noise, accepts(4))
    assert claims_and_is_refuted(smoother, x, worst, 1) == (False, False)
    assert claims_and_is_refuted(smoother, x, worst, 0.5) == (True, True)


# ---------------------------------------------------------------------------- substitution


def replaced_law(p_replace: float, vocabulary: int):
    def law(x: tuple[int, ...]) -> Law:
        other = p_replace / (vocabulary - 1)
        return independent(
            [{v: 1 - p_replace if v == token else other for v in range(vocabulary)} for token in x]
        )

    return law


@pytest.mark.parametrize(("p_replace", "vocabulary"), [(0.3, 2), (0.5, 4), (0.74, 4)])
@pytest.mark.parametrize("count", [1, 2, 3])
def test_substitution_is_exact_over_every_ball(p_replace, vocabulary: int, count: int) -> None:
    x = (0, 1, 0)
    around = changed_in(x, count, range(vocabulary))
    exact = least_of_ball(replaced_law(p_replace, vocabulary), x, around)
    noise = TokenSubstitution(p_replace, vocabulary)
    assert_exact(noise.mass_left(GRID, count + 0.5), exact)
    assert promises_too_much(noise.mass_left(GRID, count - 1), exact)


def test_the_vocabulary_matters() -> None:
    exact = least_of_ball(replaced_law(0.5, 5), (0, 1), changed_in((0, 1), 1, range(5)))
    assert promises_too_much(TokenSubstitution(0.5, 3).mass_left(GRID, 1), exact)


def test_several_substitutions_are_exact_too() -> None:
    law = repeated(replaced_law(0.5, 3), 2)
    exact = least_of_ball(law, (0, 1), changed_in((0, 1), 2, range(3)))
    assert_exact(TokenSubstitution(0.5, 3).mass_left(GRID, 2, fold=2), exact)


@pytest.mark.parametrize("kind", [list, torch.tensor])
def test_substitution_samples_follow_the_law(kind) -> None:
    copies = TokenSubstitution(0.5, 4).sample(kind([2, 0]), generator(), 20_000)
    rows = copies if kind is list else copies.tolist()
    assert_samples_follow(replaced_law(0.5, 4)((2, 0)), [tuple(row) for row in rows])
    assert isinstance(copies, list) == (kind is list)


def test_substitution_keeps_the_kind_of_ids() -> None:
    noise = TokenSubstitution(0.5, 300)
    assert noise.sample(torch.tensor([299], dtype=torch.int32), generator(), 2).dtype == torch.int32
    assert noise.sample([], generator(), 2) == [[], []]


def test_substitution_at_the_worst_sentence_and_a_wrong_twin() -> None:
    noise, x, worst = TokenSubstitution(0.5, 4), torch.zeros(2).long(), torch.tensor([1, 0])

    def accepts(seconds: tuple[int, ...], new: bool):
        """0 for the old first token; for a third one if the second is one of these; and, if
        asked for, for the new one before the old second."""

        def inside(z: torch.Tensor) -> torch.Tensor:
            third = (z[:, 0] >= 2) & torch.isin(z[:, 1], torch.tensor(seconds))
            return (z[:, 0] == 0) | third | ((z == worst).all(dim=1) & new)

        return inside

    smoother = two_valued_smoother(noise, accepts((0, 1, 2, 3), True))  # .92 at x, .75 at x'
    assert claims_and_is_refuted(smoother, x, worst, 1) == (True, False)
    smoother = two_valued_smoother(noise, accepts((1, 2, 3), False))  # .67 at x, .33 at x'
    assert claims_and_is_refuted(smoother, x, worst, 1) == (False, False)
    assert claims_and_is_refuted(smoother, x, worst, 0.5) == (True, True)


# -------------------------------------------------------------------- through the pipeline


def summary(batch: list[list[str]]) -> list[str]:
    """A model with strings out: the commonest word of what is left of each text."""
    best = (Counter(words).most_common(1) for words in batch)
    return [found[0][0] if found else "" for found in best]


def edit_distance(a: str, b: str) -> float:
    return float(levenshtein(a, b))


TEXT = ("spam " * 12 + "eggs ham and toast").split()


def text_smoother(**options) -> cs.Smoother:
    noise = TokenDeletion(0.7)
    metric = cs.metrics.Custom(edit_distance, diameter=5.0)
    options = {"answer_samples": 101, "seed": 3, "progress": False, **options}
    return cs.Smoother(summary, noise, metric, **options)


def test_words_in_and_strings_out() -> None:
    certificate = text_smoother().certify(TEXT, samples=600, target="spam")
    assert certificate.value == "spam"
    assert certificate.error(0) == certificate.bound(0) == 0
    assert certificate.bound(1) == certificate.bound(1.7) == 0
    assert certificate.bound(9) == 5.0
    assert certificate.status(9) == "undecided"
    assert "every x' within Levenshtein distance 1" in certificate.guarantee(1)
    assert "1   " in str(certificate)
    attacked = ["ham", *TEXT[1:]]
    assert text_smoother()(attacked) == "spam"


def test_the_same_however_it_is_batched_and_kept() -> None:
    certificates = [text_smoother(batch_size=n).certify(TEXT, samples=300) for n in (7, 64, 300)]
    bounds = [[c.bound(eps) for eps in (0, 1, 2)] for c in certificates]
    assert bounds[0] == bounds[1] == bounds[2]
    again = cs.Certificate.from_json(
        certificates[0].to_json(), metric=cs.metrics.Custom(edit_distance, diameter=5.0)
    )
    assert again.noise == TokenDeletion(0.7)
    assert again.value == certificates[0].value
    assert again.bound(1) == certificates[0].bound(1)


def test_the_published_procedure_takes_words_too() -> None:
    certificate = cs.published.certify(
        summary,
        TEXT,
        TokenDeletion(0.9),
        cs.metrics.Custom(edit_distance, diameter=5.0),
        eps=1.0,
        n=100,
        m=2000,
        delta=0.2,
        seed=0,
        progress=False,
    )
    assert certificate.eps == 1.0
    assert 0 <= certificate.bound <= 5.0


def test_ids_in_a_tensor_go_through_the_pipeline() -> None:
    smoother = cs.Smoother(
        lambda ids: ids.float().mean(dim=1, keepdim=True),
        TokenSubstitution(0.4, 50),
        cs.metrics.L1(),
        answer_samples=101,
        progress=False,
    )
    certificate = smoother.certify(torch.arange(40), samples=500, seed=0)
    assert 0 < certificate.bound(1) <= certificate.bound(2)


# ---------------------------------------------------------------------------------- checks


@pytest.mark.parametrize(
    "build",
    [
        lambda: TokenDeletion(1.0),
        lambda: TokenDeletion(-0.1),
        lambda: TokenSubstitution(0.0, 9),
        lambda: TokenSubstitution(0.9, 9),
        lambda: TokenSubstitution(0.5, 1),
    ],
)
def test_options_that_make_no_sense(build) -> None:
    with pytest.raises(ArgumentError, match="expected"):
        build()


@pytest.mark.parametrize(
    ("noise", "x", "message"),
    [
        (TokenDeletion(0.5), "a text", "Split the text first"),
        (TokenDeletion(0.5), torch.arange(3), "expected a list of tokens, got Tensor"),
        (TokenSubstitution(0.5, 9), ["word"], "expected whole numbers from 0 to 8"),
        (TokenSubstitution(0.5, 9), [1, 9], "whole numbers from 0 to 8"),
        (TokenSubstitution(0.5, 9), [-1], "whole numbers from 0 to 8"),
        (TokenSubstitution(0.5, 9), torch.tensor([9]), "whole numbers from 0 to 8"),
        (TokenSubstitution(0.5, 300), torch.tensor([9], dtype=torch.uint8), "a type that holds"),
        (TokenSubstitution(0.5, 9), torch.tensor([1.0]), "whole numbers from 0 to 8"),
        (TokenSubstitution(0.5, 9), torch.tensor([True]), "whole numbers from 0 to 8"),
    ],
)
def test_inputs_that_do_not_fit(noise, x, message: str) -> None:
    with pytest.raises(InputError, match=message):
        noise.check_input(x, None)


def test_tuples_become_lists_and_empty_texts_are_texts() -> None:
    assert TokenDeletion(0.5).check_input(("a", "b"), None) == ["a", "b"]
    assert TokenSubstitution(0.5, 9).check_input([], None) == []
    assert TokenSubstitution(0.5, 9).largest_move([1, 2], (0, 1)) == 2
    assert TokenSubstitution(0.5, 9).largest_move(torch.zeros(2, 3).long(), (0, 1)) == 6
