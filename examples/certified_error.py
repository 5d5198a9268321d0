"""Bound the error against the truth, not only the movement of the answer.

With `target=` the same samples also bound the distance from the target to the smoothed model's
answer, for every attack: here how far a denoised digit can be from the clean one. That is sharper
than adding the error of the answer to its movement, for no triangle inequality is spent.
"""

import centersmooth as cs
from centersmooth.demo_model import autoencoder, digits

images, labels = digits(3)
metric = cs.metrics.L2()
smoother = cs.Smoother(autoencoder(), cs.Gaussian(sigma=0.25), metric, seed=0)

for image, label, cert in zip(
    images,
    labels.tolist(),
    smoother.certify_many(images, targets=images, samples=1_000),
    strict=True,
):
    error = metric(cert.value, image)
    print(
        f"digit {label}: error {error:.2f} without an attack; under any attack of length 0.25 at "
        f"most {cert.error(0.25):.2f} (movement added to error: {cert.bound(0.25) + error:.2f})"
    )
