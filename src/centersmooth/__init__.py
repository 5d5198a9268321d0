"""input -> noise -> model -> outputs -> metric distances -> center -> certificate -> study."""

from centersmooth import executors, metrics, models, noise, published
from centersmooth.attacks import Audit, audit
from centersmooth.centers import ClippedMean, GeometricMedian, Medoid, WeberPoint
from centersmooth.certificates import Certificate
from centersmooth.certifying import certify_together
from centersmooth.confidence import Joint, Split
from centersmooth.design import best_center
from centersmooth.errors import CentersmoothError
from centersmooth.goals import Goal, Tolerance
from centersmooth.noise import Gaussian
from centersmooth.planning import Plan, plan
from centersmooth.smoother import Prediction, Smoother
from centersmooth.store import Store
from centersmooth.study import PublishedProcedure, Setting, Study

__version__ = "0.1.0"

__all__ = [
    "Audit",
    "CentersmoothError",
    "Certificate",
    "ClippedMean",
    "Gaussian",
    "GeometricMedian",
    "Goal",
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
    "Tolerance",
    "WeberPoint",
    "audit",
    "best_center",
    "certify_together",
    "executors",
    "metrics",
    "models",
    "noise",
    "plan",
    "published",
]
