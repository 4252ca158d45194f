from studies.tables import Mean


def test_a_difference_is_told_in_standard_errors():
    assert Mean(0.95, 0.003).distance(Mean(0.94, 0.004)) == "+2.0"
    assert Mean.of([1.0, 3.0]) == Mean(2.0, 1.0)
    assert str(Mean.of([1.0])) == "1.000"
