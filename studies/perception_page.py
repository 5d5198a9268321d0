"""The page of experiment 6."""

from __future__ import annotations

from studies import figures
from studies.comparison import points
from studies.page import Page, headline, parts_of, rows_of_parts
from studies.perception import ON_REQUEST, PARTS
from studies.scales import Scale
from studies.tables import bounds_table, note, spent, verdict

AIM = 0.55
_SETUP = """\
The attacker changes the latent input of a generator; the distance is LPIPS with AlexNet's
published weights. Published: Algorithm 2 on Algorithm 3 (Smooth-HD), with γ(1 + 2γ) = 10 for the
relaxed triangle inequality and Δ = {delta:g} (the paper prints 0.8, but Δ cannot exceed 1/2).
*generator* is the decoder of a variational autoencoder that the study trains on CIFAR-10 (epochs:
{epochs}; its weights are in `studies/weights`); *biggan* needs weights that have to be put in
place by hand.
"""


def pages(scale: Scale) -> list[Page]:
    """The page, if there are records for it."""
    rows = rows_of_parts(scale, [part.name for part in (*PARTS, *ON_REQUEST)])
    if not rows:
        return []
    found = points(rows, "LPIPS", scale.perceiving)
    said = spent(found, scale.perception.published)
    figure = figures.bounds(found, "median ε₂ (LPIPS)", note(found, scale.perception.published))
    caption = "Median bound on LPIPS by the size of the attack in latent space. " + said
    setup = _SETUP.format(epochs=scale.generating.epochs, delta=scale.perception.published.delta)
    return [
        Page(
            "6-perceptual",
            "Experiment 6: pictures of a generator, perceptual distance",
            setup + "\n" + verdict(found, AIM) + "\n\n" + bounds_table(found),
            {"6-bounds": (figure, caption)},
            {
                f"{part}-examples.png": f"{part}: base and smoothed outputs for the same latents."
                for part in parts_of(rows)
            },
            headline("LPIPS", AIM, found),
            parts_of(rows),
        )
    ]
