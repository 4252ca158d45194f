"""Table 1a of the paper: anomalies just outside the unit cube, four criteria."""

from sklearn.metrics import roc_auc_score

from paretodepth.datasets import make_hypercube
from paretodepth.detector import ParetoDepthDetector

PAPER_AUC, PAPER_ERROR = 0.948, 0.002


def simulated_auc(seed: int) -> float:
    """Return the area under the ROC curve of one simulated data set."""
    data = make_hypercube(random_state=seed)
    detector = ParetoDepthDetector(data.criteria).fit(data.X_train)
    return float(roc_auc_score(data.is_anomaly, detector.mean_depth(data.X_test)))
