"""input -> noise -> model -> outputs -> metric distances -> center -> certificate -> study."""

from centersmooth import executors, metrics, models, noise, published
from centersmooth.centers import GeometricMedian, Medoid, WeberPoint
from centersmooth.certificates import Certificate
from centersmooth.certifying import certify_together
from centersmooth.confidence import Joint, Split
from centersmooth.errors import CentersmoothError
from centersmooth.noise import Gaussian
from centersmooth.planning import Plan, plan
from centersmooth.smoother import Prediction, Smoother
from centersmooth.store import Store
from centersmooth.study import PublishedProcedure, Setting, Study

__version__ = "0.1.0"

__all__ = [
    "CentersmoothError",
    "Certificate",
    "Gaussian",
    "GeometricMedian",
    "Joint",
    "Medoid",
    "Plan",
    "Prediction",
    "PublishedProcedure",
    "Setting",
    "Smoother",
    "Split",
    "Store",
    "Study",
    "WeberPoint",
    "certify_together",
    "executors",
    "metrics",
    "models",
    "noise",
    "plan",
    "published",
]
