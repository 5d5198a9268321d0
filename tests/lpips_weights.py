"""Small random weights, named and laid out like the published ones of LPIPS."""

from __future__ import annotations

from typing import Any

import numpy as np

WIDTHS = {"alex": (5, 6, 4, 4, 3), "vgg": (3, 3, 4, 4, 5, 5, 5, 4, 4, 4, 3, 3, 3)}
SIZES = {"alex": (11, 5, 3, 3, 3), "vgg": (3,) * 13}
STAGE_ENDS = {"alex": (0, 1, 2, 3, 4), "vgg": (1, 3, 6, 9, 12)}
TRUNKS = {"alex": "AlexNet_0", "vgg": "VGG16_0"}


def small_weights(name: str, seed: int = 0) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    trunk, inputs = {}, 3
    for place, (outputs, size) in enumerate(zip(WIDTHS[name], SIZES[name], strict=True)):
        kernel = rng.normal(0, 1 / size, (size, size, inputs, outputs)).astype(np.float32)
        bias = rng.normal(0, 0.3, outputs).astype(np.float32)
        trunk[f"Conv_{place}"] = {"kernel": kernel, "bias": bias}
        inputs = outputs
    heads = {
        f"NetLinLayer_{place}": {
            "Conv_0": {"kernel": rng.random((1, 1, WIDTHS[name][end], 1)).astype(np.float32)}
        }
        for place, end in enumerate(STAGE_ENDS[name])
    }
    return {TRUNKS[name]: trunk, **heads}
