"""Trajectories smoothed by cubic splines, as the paper does before it compares them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.interpolate import make_lsq_spline

from paretodepth.criteria.metrics.paths import Trajectory, check_trajectories

N_CONTROL_POINTS = 7
SPLINE_DEGREE = 3


def smoothed(trajectories: Sequence[Trajectory]) -> list[Trajectory]:
    """Return the positions on the cubic spline of each trajectory, at the same times.

    The spline x(t), y(t) is the one with seven control points nearest to the positions in
    the sum of squares. Its knots are the quartiles of the times, so that it is determined
    whatever gaps the times have.

    Parameters
    ----------
    trajectories : sequence of ndarray of shape (n_points, 3)
        At least seven points each.

    Returns
    -------
    trajectories : list of ndarray of shape (n_points, 3)

    References
    ----------
    Section 5.2 of the paper; Sillito and Fisher, "Parametric trajectory representations for
    behaviour classification", BMVC 2009.

    Examples
    --------
    >>> import numpy as np
    >>> from studies.paper.splines import smoothed
    >>> cubic = np.arange(10.0)[:, None] ** [2, 3, 1]
    >>> bool(np.allclose(smoothed([cubic])[0], cubic))
    True
    """
    return [_on_spline(trajectory) for trajectory in check_trajectories(trajectories, N_CONTROL_POINTS, "smoothed")]


def _on_spline(trajectory: Trajectory) -> Trajectory:
    """Return one trajectory's positions on its spline."""
    time = trajectory[:, 2]
    inner = np.quantile(time, np.linspace(0, 1, N_CONTROL_POINTS - SPLINE_DEGREE + 1))
    knots = np.concatenate(([time[0]] * SPLINE_DEGREE, inner, [time[-1]] * SPLINE_DEGREE))
    spline = make_lsq_spline(time, trajectory[:, :2], knots, k=SPLINE_DEGREE)
    return np.column_stack([spline(time), time])
