"""Distances between rotations and between sets of keypoints."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numba
import numpy as np
import torch

from centersmooth import kernels
from centersmooth.errors import ArgumentError, OutputError, expected
from centersmooth.metrics.base import (
    Block,
    Hilbert,
    Metric,
    as_tensor,
    check_diameter,
    flat_rows,
    one_tensor,
)
from centersmooth.outputs import Outputs

_SINGLE = 2.0**-21  # what casting a rotation to float32 can turn it by, generously
_DOUBLE = 2.0**-44  # more than the rounding of two rows can turn them, but near half a turn
_TOLERANCE = 1e-2


@dataclass(frozen=True)
class Rotation(Metric):
    """The angle, in radians, of the rotation that leads from a to b. Range [0, pi]. Theorem C.

    ``d(a, b) = arccos((trace(a^T b) - 1) / 2) = 2 arccos |<q_a, q_b>|``. One output is a
    rotation matrix (3, 3) or a quaternion (4,), w first, of any sign and length > 0.

    Rows are matrices over sqrt 2, in which d is ``2 arcsin(l2 / 2)``. A matrix within delta < 1
    of the row of w is decoded to the nearest rotation R, which is within the angle arcsin(delta)
    of w. Proof: let M be sqrt 2 times that matrix, R^T M = P (symmetric, two of its eigenvalues
    adding up to >= 0), and theta the angle of V = R^T w. For theta <= pi/2, |M - w| = |P - V| is
    at least the norm of the antisymmetric part of V, sqrt 2 sin(theta). Beyond, the symmetric
    part has the eigenvalues 1 and twice cos(theta) < 0, and P is at least sqrt 2 |cos(theta)|
    away from it: sqrt 2 in all.
    """

    diameter: float = field(default=math.pi, init=False)
    unit: ClassVar[str] = "radians"

    def collate(self, outputs: Outputs) -> Block:
        tensor = as_tensor(outputs, self)
        if tensor.shape[1:] not in ((3, 3), (4,)) and len(tensor):
            fix = "Return rotation matrices, or quaternions with w first."
            got = f"shape {tuple(tensor.shape[1:])}"
            raise OutputError(expected("rotations of shape (3, 3) or (4,)", got, fix))
        numbers, valid = flat_rows(tensor, self)
        numbers = numbers.double()
        if tensor.shape[1:] == (4,):
            lengths = numbers.norm(dim=1)
            directed = (lengths > 1e-150) & torch.isfinite(lengths)
            valid = valid & directed.cpu()
            numbers = torch.where(directed[:, None], numbers / lengths[:, None], 0.5)
            matrices = _matrices(numbers)
        else:
            matrices = numbers.reshape(-1, 3, 3)
            matrices = torch.where(_column(valid, matrices), matrices, torch.eye(3).to(matrices))
        return Block((_nearest(matrices) / math.sqrt(2.0)).reshape(-1, 9), valid)

    def lengths(self, a: Any, b: Any) -> torch.Tensor:
        angles = torch.arcsin(kernels.l2(a, b).mul_(0.5).clamp_(max=1.0)).mul_(2.0)
        return angles.add_(angles > 0, alpha=_DOUBLE)

    @property
    def hilbert(self) -> Hilbert:
        return _Matrices()


@dataclass(frozen=True)
class _Matrices:
    """Coordinates are rotation matrices over sqrt 2."""

    scale_free: ClassVar[bool] = True

    def decode(self, point: torch.Tensor, like: Outputs) -> torch.Tensor:
        matrix = _projected(point.reshape(1, 3, 3))[0]
        first = one_tensor(like[0])
        rotation = matrix if first.numel() == 9 else _quaternion(matrix)
        single = first.is_floating_point() and first.dtype != torch.float64
        return rotation.to(torch.float32 if single else torch.float64)

    def bound(self, delta: float) -> float:
        return math.asin(delta) + _SINGLE if delta < 1 else math.pi


def _column(flags: torch.Tensor, like: torch.Tensor) -> torch.Tensor:
    return flags.to(like.device)[:, None, None]


def _matrices(q: torch.Tensor) -> torch.Tensor:
    """Rotation matrices of unit quaternions, w first."""
    w, x, y, z = q.unbind(dim=1)
    rows = (
        (1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)),
        (2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)),
        (2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)),
    )
    return torch.stack([torch.stack(row, dim=1) for row in rows], dim=1)


def _quaternion(matrix: torch.Tensor) -> torch.Tensor:
    """The unit quaternion of a rotation matrix, w >= 0: the top eigenvector of Bar-Itzhack."""
    (a, b, c), (d, e, f), (g, h, i) = matrix.tolist()
    table = [
        [a + e + i, h - f, c - g, d - b],
        [h - f, a - e - i, b + d, c + g],
        [c - g, b + d, e - a - i, f + h],
        [d - b, c + g, f + h, i - a - e],
    ]
    vector: torch.Tensor = torch.linalg.eigh(torch.tensor(table, dtype=torch.float64)).eigenvectors[
        :, -1
    ]
    return vector if vector[0] >= 0 else -vector


def _nearest(matrices: torch.Tensor) -> torch.Tensor:
    """Rotations from matrices that are rotations up to rounding."""
    gram = matrices.transpose(1, 2) @ matrices - torch.eye(3).to(matrices)
    wrong = (gram.flatten(1).abs().amax(dim=1) > _TOLERANCE) | (torch.linalg.det(matrices) < 0)
    if bool(wrong.any()):
        place = int(wrong.nonzero()[0, 0])
        fix = "Project the model's matrices to rotations first, e.g. by their SVD."
        got = f"a matrix that is none at {place}"
        raise OutputError(expected("rotation matrices", got, fix))
    return _projected(matrices)


def _projected(matrices: torch.Tensor) -> torch.Tensor:
    """The nearest rotation of each matrix."""
    u, _, v = torch.linalg.svd(matrices)
    signs = torch.ones_like(matrices[:, 0])
    signs[:, 2] = torch.linalg.det(u @ v).sign()
    rotations: torch.Tensor = (u * signs[:, None, :]) @ v
    return rotations


@dataclass(frozen=True)
class Keypoints(Metric):
    """``d(a, b) = the mean``, or largest (``how="max"``), distance of the joints. Theorem B.

    One output is a (K, dims) tensor of joints, or (K, dims + 1) with a last column that is
    positive where the joint is visible. Per joint: the Euclidean distance, cut off at `cutoff`;
    0 if both are absent, `cutoff` if one is. That is a metric, and so are mean and maximum over
    joints. Range [0, cutoff]. Absent joints need a finite cutoff, in the units of the joints.
    """

    how: str = "mean"
    cutoff: float = math.inf
    dims: int = 2

    def __post_init__(self) -> None:
        check_diameter(self.cutoff)
        if self.how not in ("mean", "max"):
            fix = "It says how the errors of the joints are put together."
            raise ArgumentError(expected("how='mean' or 'max'", repr(self.how), fix))
        if self.dims not in (1, 2, 3):
            fix = "It is the number of coordinates of a joint, its visibility not counted."
            raise ArgumentError(expected("dims of 1, 2 or 3", repr(self.dims), fix))

    @property
    def diameter(self) -> float:  # type: ignore[override]
        return self.cutoff

    def collate(self, outputs: Outputs) -> Block:
        """Coordinates and visibility of every joint; absent ones at the origin."""
        joints = as_tensor(outputs, self).cpu().double()
        extra = joints.shape[-1] - self.dims
        if joints.dim() != 3 or extra not in (0, 1) or not joints.shape[1]:
            got = f"shape {tuple(joints.shape[1:])}"
            fix = f"dims is {self.dims}: set it to the number of coordinates of a joint."
            raise OutputError(expected(f"(K, {self.dims}) joints, or one column more", got, fix))
        seen = joints[..., -1:] > 0 if extra else torch.ones_like(joints[..., :1], dtype=torch.bool)
        joints = torch.where(seen, joints[..., : self.dims], 0.0)
        valid = torch.isfinite(joints).flatten(1).all(dim=1)
        if self.cutoff == math.inf and not bool(seen.all()):
            fix = "Keypoints(cutoff=...) says how much an absent joint counts."
            raise OutputError(expected("a cutoff where joints are absent", "none", fix))
        rows = torch.cat((torch.where(valid[:, None, None], joints, 0.0), seen.double()), dim=2)
        return Block(rows.flatten(1), valid)

    def lengths(self, a: Any, b: Any) -> torch.Tensor:
        kernels.check_widths(a, b)
        shape = (-1, a.shape[1] // (self.dims + 1), self.dims + 1)
        one, other = (np.ascontiguousarray(rows.numpy()).reshape(shape) for rows in (a, b))
        return torch.from_numpy(_joint_errors(one, other, self.cutoff, self.how == "max"))


@numba.njit(cache=True, nogil=True)
def _joint_errors(a, b, cutoff, largest):  # type: ignore[no-untyped-def]  # pragma: no cover - compiled
    out = np.zeros((len(a), len(b)))
    joints, dims = a.shape[1], a.shape[2] - 1
    for i in range(len(a)):
        for j in range(len(b)):
            total = 0.0
            for k in range(joints):
                error = 0.0
                if a[i, k, dims] != b[j, k, dims]:
                    error = cutoff
                else:
                    for axis in range(dims):
                        error += (a[i, k, axis] - b[j, k, axis]) ** 2
                    error = min(cutoff, math.sqrt(error))
                total = max(total, error) if largest else total + error
            out[i, j] = total if largest else min(cutoff, total / joints)
    return out
