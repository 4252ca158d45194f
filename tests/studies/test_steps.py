from paretodepth._blocks import phase, watched
from paretodepth.studies.steps import step


def test_the_steps_of_a_study_are_told_and_the_phases_within_are_not():
    told = []
    with watched(lambda *state: told.append(state)):
        with step("first"), phase("within"):
            pass
        with step("second"):
            pass
    assert told == [("first", 0, 0), ("second", 0, 0)]
