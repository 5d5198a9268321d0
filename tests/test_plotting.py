from __future__ import annotations

import warnings
from typing import Any

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib import pyplot as plt
from matplotlib.figure import Figure

from tiny_models import certificate, one_of_each_kind

CERTIFICATES = one_of_each_kind()


@pytest.fixture(autouse=True)
def _quiet_figures() -> Any:
    backend = mpl.get_backend()
    mpl.use("Agg")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield
    plt.close("all")
    mpl.use(backend)


def test_the_plot_shows_the_curve() -> None:
    one = CERTIFICATES["median"]
    axes = one.plot()
    bound, error = axes.get_lines()
    xs, ys = (np.asarray(data) for data in bound.get_data())
    assert xs[0] == 0
    assert len(xs) > 10
    assert ys.tolist() == one.curve(xs.tolist())
    assert np.asarray(error.get_ydata()).tolist() == [one.error(eps) for eps in xs]
    assert "l2" in axes.get_xlabel()
    assert "L2" in axes.get_ylabel()


def test_the_plot_of_a_grid_shows_its_points_on_a_given_axis() -> None:
    axes = Figure().subplots()
    one = CERTIFICATES["grid"]
    assert one.plot(axes) is axes
    assert np.asarray(axes.get_lines()[0].get_xdata()).tolist() == list(one.grid or ())
    picked = CERTIFICATES["boxes"].plot(eps=[0.01, 0.02]).get_lines()
    assert np.asarray(picked[0].get_xdata()).tolist() == [0.01, 0.02]
    assert np.asarray(picked[1].get_ydata()).tolist() == [1.0, 1.0]  # the diameter


def test_what_the_samples_cannot_decide_is_left_out() -> None:
    one = certificate(samples=100)
    xs = one.plot(eps=[0.1, 0.2, 5.0]).get_lines()[0].get_xdata()
    assert np.asarray(xs).tolist() == [eps for eps in (0.1, 0.2) if one.status(eps) == "certified"]
    assert one.status(5.0) == "undecided"
