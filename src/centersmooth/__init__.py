"""input -> noise -> model -> outputs -> metric distances -> center -> certificate."""

from centersmooth import metrics, models, noise, published
from centersmooth.centers import GeometricMedian, Medoid
from centersmooth.certificates import Certificate
from centersmooth.confidence import Joint, Split
from centersmooth.errors import CentersmoothError
from centersmooth.noise import Gaussian
from centersmooth.smoother import Prediction, Smoother, certify_together

__version__ = "0.1.0"

__all__ = [
    "CentersmoothError",
    "Certificate",
    "Gaussian",
    "GeometricMedian",
    "Joint",
    "Medoid",
    "Prediction",
    "Smoother",
    "Split",
    "certify_together",
    "metrics",
    "models",
    "noise",
    "published",
]
