from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import centersmooth as cs
from centersmooth import metrics, wording
from tiny_models import certificate, one_of_each_kind

LAW = settings(derandomize=True, deadline=None, max_examples=200)
CERTIFICATES = one_of_each_kind()


@LAW
@given(st.floats(0, 1e300))
def test_a_bound_is_never_rounded_down(value: float) -> None:
    text = wording.number(value)
    assert float(text) >= value
    assert float(text) <= value * 1.001 + 1e-320
    assert len(text) <= 10


def test_an_infinite_bound_is_called_so() -> None:
    assert wording.number(math.inf) == "inf"


@LAW
@given(st.floats(0, 1))
def test_a_probability_is_never_rounded_up_to_certainty(probability: float) -> None:
    text = wording.percent(probability)
    assert text.endswith(" %")
    assert float(text[:-2]) == pytest.approx(100 * probability, rel=1e-5)
    assert (float(text[:-2]) < 100) == (100 * probability < 100)


def test_usual_probabilities_are_short() -> None:
    assert [wording.percent(p) for p in (0.99, 0.999, 1 - 0.05)] == ["99 %", "99.9 %", "95 %"]


def test_the_guarantee_says_all_that_counts() -> None:
    joint, split = CERTIFICATES["median"], CERTIFICATES["split median"]
    for word in ("certification and the query samples together", "l2 distance 0.1", "99 %", "L2"):
        assert word in joint.guarantee(0.1)
    for word in ("at least 99 % over the certification samples", "fresh noise", "1 % per query"):
        assert word in split.guarantee(0.1)
    assert "All 3 values of the declared grid hold together" in CERTIFICATES["grid"].guarantee(0.1)


@pytest.mark.parametrize("name", sorted(CERTIFICATES))
def test_no_bound_is_rounded_down_in_words(name: str) -> None:
    one = CERTIFICATES[name]
    for eps in (0.03, 0.1, 0.17):
        if one.status(eps) == "certified":
            text = one.guarantee(eps)
            assert float(text.split("within ")[-1].split(" ")[0]) >= one.bound(eps)


def test_an_undecided_eps_is_explained_with_a_remedy() -> None:
    one = CERTIFICATES["median"]
    text = one.explain(0.6)
    for word in ("Undecided at eps = 0.6", "200 samples", "At least", "200 reach eps = "):
        assert word in text
    least = int(text.split("At least ")[1].split(" ")[0].replace(",", ""))
    assert certificate(samples=least).status(0.6) == "certified"
    assert "use more noise" in one.explain(50.0)
    assert "(1)" in CERTIFICATES["boxes"].explain(1.0)


def test_an_eps_that_is_certified_is_explained_with_the_guarantee() -> None:
    one = CERTIFICATES["median"]
    assert one.explain(0.1).startswith(one.guarantee(0.1))
    assert "About the target" in one.explain(0.1)
    hopeless = certificate(lambda batch: batch * 1e4 % 1 - 0.5, metrics.Angular(), samples=400)
    assert hopeless.bound(0.1) == 1.0
    assert "the largest distance Angular has" in hopeless.explain(0.1)


@pytest.mark.parametrize("name", sorted(CERTIFICATES))
def test_printing_shows_the_table_the_guarantee_and_the_cost(name: str) -> None:
    one = CERTIFICATES[name]
    text = str(one)
    for word in (one.metric.name, "attack eps", "Cost:", f"{one.evaluations:,}", "Not promised:"):
        assert word in text
    assert str(one.seed) in text
    assert max(map(len, text.splitlines())) <= 88
    assert type(one.center).__name__ in repr(one)


def test_printing_works_where_no_usual_eps_is_allowed() -> None:
    wide = certificate(noise=cs.Gaussian(50.0), input_range=(0, 1))
    assert "2.449" in str(wide)


def test_html_is_escaped() -> None:
    def evil(a: Any, b: Any) -> float:
        return float((a - b).abs().max())

    evil.__name__ = "<script>alert(1)</script>"
    one = certificate(metric=metrics.Custom(evil), center=cs.Medoid(5), samples=50)
    html = one._repr_html_()
    assert "<script>" not in html
    assert "&lt;script&gt;" in html
    for word in ("<table>", "<caption>", "scope='col'", "Not promised"):
        assert word in html
