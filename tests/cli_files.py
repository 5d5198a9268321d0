"""Files that a user of the command line would have, and the command itself."""

from __future__ import annotations

import textwrap
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image
from typer.testing import CliRunner, Result

from centersmooth.cli import app

MODEL = '''
import time, torch

def build():
    """A small model, built."""
    return torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(48, 5)).eval()

def predict(batch):
    """A model already: (N, ...) to (N, 5)."""
    return batch.flatten(1)[:, :5] * 2

def masks(batch):
    return batch.mean(dim=1) > 0.5

def slow(batch):
    time.sleep(2.5e-4 * len(batch))
    return predict(batch)

def wrong():
    return 3

def raising():
    raise RuntimeError("no weights here")

number = 3
'''

STUDY = """
import centersmooth as cs
import torch
from centersmooth.study import Setting, Study

class Net(torch.nn.Module):
    def forward(self, batch):
        return torch.tanh(batch[:, :4])

def study():
    settings = [
        Setting("l2", cs.Gaussian(0.25), cs.metrics.L2(), (0.1, 0.2), samples=100,
                answer_samples=50, alpha=0.1),
    ]
    inputs = torch.randn(3, 6, generator=torch.Generator().manual_seed(0))
    return Study(inputs, settings, model=Net().eval(), batch_size=64, seed=1)
"""


def model_file(folder: Path, name: str = "own_model.py") -> Path:
    path = folder / name
    path.write_text(textwrap.dedent(MODEL))
    return path


def study_file(folder: Path, text: str = STUDY) -> Path:
    path = folder / "own_study.py"
    path.write_text(textwrap.dedent(text))
    return path


def image_folder(folder: Path, count: int = 3) -> Path:
    """Colour pictures of 4 by 4 pixels."""
    images = folder / "images"
    images.mkdir()
    pixels = np.random.default_rng(0).integers(0, 256, (count, 4, 4, 3), dtype=np.uint8)
    for number, one in enumerate(pixels):
        Image.fromarray(one).save(images / f"{number}.png")
    return images


def command(*arguments: Any) -> Result:
    """The command as typed, in this process."""
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def words(result: Result) -> str:
    """All that was printed, without the frames and line breaks of a terminal."""
    text = result.output.replace("│", " ")
    return " ".join(text.split())
