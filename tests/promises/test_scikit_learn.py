import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from paretodepth import Criterion, ParetoDepthDetector
from studies.baselines import WeightedDetector


@pytest.mark.filterwarnings("ignore::paretodepth.AdviceWarning")
@parametrize_with_checks(
    [
        ParetoDepthDetector(),
        ParetoDepthDetector(depth="mid", n_neighbors=2, n_jobs=2, method="blend"),
        ParetoDepthDetector(method="blend", calibration="split", random_state=0),
        ParetoDepthDetector([Criterion("all"), Criterion("first", 0, "cityblock")], depth="insertion"),
        WeightedDetector(),
        WeightedDetector(method="LOF", n_neighbors=3),
    ]
)
def test_the_detector_is_a_scikit_learn_estimator(estimator, check):
    check(estimator)
