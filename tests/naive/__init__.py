"""The definitions word for word: slow, plain, and importing nothing from the package."""

from fractions import Fraction
from itertools import combinations

import numpy as np

LARGEST = 1e300


def dominates(a, b):
    """Tell whether a dyad is nowhere larger and somewhere smaller than another; of arrays, row by row."""
    return np.all(a <= b, axis=-1) & np.any(a < b, axis=-1)


def front_numbers(dyads):
    """Peel off the dyads that no remaining dyad dominates, again and again."""
    dyads = np.asarray(dyads)
    is_dominated_by = dominates(dyads, dyads[:, None])
    numbers = np.zeros(len(dyads), int)
    remaining = np.ones(len(dyads), bool)
    front = 0
    while remaining.any():
        front += 1
        peeled = remaining & ~is_dominated_by[:, remaining].any(axis=1)
        numbers[peeled] = front
        remaining &= ~peeled
    return numbers


def deb_front_numbers(dyads):
    """Deb's sort, the paper's choice for three and more criteria: count and release dominators."""
    n = len(dyads)
    dominated = [np.flatnonzero(dominates(dyad, dyads)) for dyad in dyads]
    n_dominators = np.zeros(n, int)
    for followers in dominated:
        for j in followers:
            n_dominators[j] += 1
    numbers = np.zeros(n, int)
    current = [i for i in range(n) if n_dominators[i] == 0]
    front = 0
    while current:
        front += 1
        following = []
        for i in current:
            numbers[i] = front
            for j in dominated[i]:
                n_dominators[j] -= 1
                if n_dominators[j] == 0:
                    following.append(j)
        current = following
    return numbers


def algorithm_2_front_numbers(dyads):
    """Algorithm 2 of the paper as printed: right for distinct values, wrong under ties."""
    numbers = np.zeros(len(dyads), int)
    remaining = list(np.argsort([first for first, _ in dyads], kind="stable"))
    front = 0
    while remaining:
        front += 1
        current = [remaining[0]]
        y = dyads[remaining[0]][1]
        for i in remaining[1:]:
            if dyads[i][1] <= y:
                current.append(i)
                y = dyads[i][1]
        for i in current:
            numbers[i] = front
        remaining = [i for i in remaining if i not in current]
    return numbers


def depths_of_every_kind(new_dyads, dyads, numbers):
    """The depths of new dyads below the fronts given by the training dyads and their front numbers, by kind."""
    new_dyads, dyads, numbers = map(np.asarray, (new_dyads, dyads, numbers))
    n_fronts = max(numbers, default=0)
    paper, insertion = np.empty(len(new_dyads)), np.empty(len(new_dyads))
    for row, new in enumerate(new_dyads):
        below, above = numbers[dominates(new, dyads)], numbers[dominates(dyads, new)]
        paper[row], insertion[row] = min(below, default=n_fronts + 1), 1 + max(above, default=0)
    return {"paper": paper, "insertion": insertion, "mid": (paper + insertion) / 2}


def depths(new_dyads, dyads, numbers, kind):
    """The depths of one kind."""
    return depths_of_every_kind(new_dyads, dyads, numbers)[kind]


def pair_depths(new_dyads, dyads, pairs):
    """The mean over pairs of criteria of the mid depth divided by the number of the pair's fronts."""
    parts = []
    for pair in pairs:
        columns = list(pair)
        numbers = front_numbers(dyads[:, columns])
        mid = depths(new_dyads[:, columns], dyads[:, columns], numbers, "mid")
        parts.append(mid / max(1, max(numbers, default=1)))
    return sum(parts) / len(parts)


def pairwise_dyads(matrices):
    n = len(matrices[0])
    return np.array([[matrix[i][j] for matrix in matrices] for i in range(n) for j in range(i + 1, n)])


def connected_n_neighbors(matrix):
    """Grow k until the symmetric k-NN graph is connected; j is among the k nearest of i if fewer than k are nearer."""
    n = len(matrix)
    n_nearer = {
        (i, j): sum(matrix[i][m] < matrix[i][j] for m in range(n) if m != i)
        for i in range(n)
        for j in range(n)
        if i != j
    }
    for k in range(1, n):
        edges = {edge for edge, count in n_nearer.items() if count < k}
        reached = {0}
        while True:
            more = {j for i, j in edges if i in reached} | {i for i, j in edges if j in reached}
            if more <= reached:
                break
            reached |= more
        if len(reached) == n:
            return k
    return n - 1


def nearest(rows, n_neighbors, exclude=None):
    """Return the nearest training samples, criterion after criterion, from one row per criterion."""
    candidates = [j for j in range(len(rows[0])) if j != exclude]
    chosen = []
    for row, k in zip(rows, n_neighbors, strict=True):
        ranked = sorted(candidates, key=lambda j: (row[j], *(other[j] for other in rows), j))
        chosen.extend(ranked[:k])
    return chosen


def mean_depth(rows, n_neighbors, dyads, numbers, kind="paper", exclude=None):
    """The paper's v(X) from a sample's dissimilarities to the training samples, one row per criterion."""
    new_dyads = [[row[j] for row in rows] for j in nearest(rows, n_neighbors, exclude)]
    return np.mean(depths(new_dyads, dyads, numbers, kind))


def scalarizable(dyads):
    """Tell which Pareto-optimal dyads minimize some non-negative combination, in exact arithmetic.

    The weights that do form a polytope; if there are any, one of its corners is among them,
    and a corner is where as many conditions as there are free weights hold with equality.
    """
    points = [[Fraction(float(value)) for value in dyad] for dyad in dyads]
    result = []
    for p, is_optimal in zip(points, front_numbers(dyads) == 1, strict=True):
        n_criteria = len(p)
        conditions = [[q - own for q, own in zip(other, p, strict=True)] for other in points]
        conditions += [[Fraction(int(i == j)) for j in range(n_criteria)] for i in range(n_criteria)]
        corners = (
            _solution([[Fraction(1)] * n_criteria, *chosen], [Fraction(1)] + [Fraction(0)] * (n_criteria - 1))
            for chosen in combinations(conditions, n_criteria - 1)
        )
        result.append(
            bool(is_optimal)
            and any(
                corner is not None
                and all(sum(a * w for a, w in zip(row, corner, strict=True)) >= 0 for row in conditions)
                for corner in corners
            )
        )
    return np.array(result, bool)


def _solution(matrix, right):
    """Solve a square system by elimination; None if it is singular."""
    rows = [[*row, value] for row, value in zip(matrix, right, strict=True)]
    n = len(rows)
    for column in range(n):
        pivot = next((row for row in range(column, n) if rows[row][column] != 0), None)
        if pivot is None:
            return None
        rows[column], rows[pivot] = rows[pivot], rows[column]
        rows[column] = [value / rows[column][column] for value in rows[column]]
        for row in range(n):
            if row != column:
                factor = rows[row][column]
                rows[row] = [a - factor * b for a, b in zip(rows[row], rows[column], strict=True)]
    return [row[-1] for row in rows]


def baseline_scores(training, test, k):
    """k-NN, k-NN sum, k-LPE and LOF of test samples, from dissimilarity matrices."""

    def neighbors(row, exclude=None):
        return sorted((j for j in range(len(row)) if j != exclude), key=lambda j: (row[j], j))[:k]

    n = len(training)
    radius = [training[i][neighbors(training[i], i)[-1]] for i in range(n)]

    def density(row, exclude=None):
        return 1 / (np.mean([max(row[j], radius[j]) for j in neighbors(row, exclude)]) + 1e-10)

    densities = [density(training[i], i) for i in range(n)]
    return {
        "k-NN": [row[neighbors(row)[-1]] for row in test],
        "k-NN sum": [sum(row[j] for j in neighbors(row)) for row in test],
        "k-LPE": [sum(r < row[neighbors(row)[-1]] for r in radius) / n for row in test],
        "LOF": [np.mean([densities[j] for j in neighbors(row)]) / density(row) for row in test],
    }


def distinct_tracks(tracks):
    """Keep the longest, then each next that shares no more than half of its points with any kept one."""
    kept = []
    for track in sorted(range(len(tracks)), key=lambda track: (-len(tracks[track]), track)):
        points = {tuple(point) for point in tracks[track]}
        if all(len(points & {tuple(point) for point in tracks[other]}) <= len(points) / 2 for other in kept):
            kept.append(track)
    return sorted(kept)


def p_value(nominal, value):
    """The share of nominal values and this one that are at least as large as it."""
    return (1 + sum(other >= value for other in nominal)) / (len(nominal) + 1)


def surprise(nominal, value):
    """Minus the logarithm of the share of nominal values at least as large; an exponential tail beyond 90 %.

    The tail starts with the share of the values above its start. The start counts too: once, or as often as it
    occurs if that is at most three times, as among values of samples that are not tied.
    """
    nominal, value = np.minimum(nominal, LARGEST), min(value, LARGEST)
    ranked = sorted(nominal)
    start = ranked[-min(len(ranked), max(5, len(ranked) // 10))]
    if value <= start:
        return -np.log(sum(other >= value for other in nominal) / len(nominal))
    excess = [other - start for other in nominal if other > start]
    scale = np.mean(excess) if excess else np.mean(np.abs(nominal)) or 1.0
    with np.errstate(over="ignore"):
        tail = min((value - start) / max(scale, np.finfo(float).tiny), LARGEST)
    n_tied = sum(other == start for other in nominal)
    return -np.log((len(excess) + (n_tied if n_tied <= 3 else 1)) / len(nominal)) + tail


def statistics(rows, n_neighbors, dyads, numbers, exclude=None):
    """The mean depth, each criterion's neighbor sum, and the balanced sum, from one row per criterion."""
    others = [j for j in range(len(rows[0])) if j != exclude]
    n_summed = [max(k, 5) for k in n_neighbors]
    sums = [sum(sorted(row[j] for j in others)[:k]) for row, k in zip(rows, n_summed, strict=True)]
    weights = 1 / np.median(dyads, axis=0)
    balanced = sorted(sum(weight * row[j] for weight, row in zip(weights, rows, strict=True)) for j in others)
    return [
        mean_depth(rows, n_neighbors, dyads, numbers, exclude=exclude),
        *sums,
        sum(balanced[: max(n_summed)]),
    ]


def depth_alone(nominal, values):
    """The surprise of each criterion's neighbor sum, from the statistics of the nominal samples and a sample's own."""
    return [surprise(*pair) for pair in zip(np.transpose(nominal)[1:-1], values[1:-1], strict=True)]


def usual_size(values):
    """The median, of values that are mostly zero their mean, and one if all are."""
    size = np.median(values) or np.mean(values) or 1.0
    return max(size, np.finfo(float).tiny)


def mean_of_nearest(values, k, exclude=None):
    """m^k: the mean of the k smallest, of fewer if there are no more other samples."""
    others = sorted(value for j, value in enumerate(values) if j != exclude)
    k = min(k, len(values) - 1)
    return sum(others[:k]) / k


class Blend:
    """The statistics of the blend, from matrices of the training samples' dissimilarities, one per criterion."""

    def __init__(self, training):
        self.training = np.asarray(training, float)
        n_criteria, self.n, _ = self.training.shape
        dyads = pairwise_dyads(self.training)
        self.usual = [usual_size(column) for column in dyads.T]
        self.pairs = list(combinations(range(n_criteria), 2)) or [(0,)]
        self.fronts = [(dyads[:, pair], front_numbers(dyads[:, pair])) for pair in self.pairs]
        own = [[mean_of_nearest(row, 10, i) for row in self.with_sum(self.training[:, i])] for i in range(self.n)]
        self.own_means = np.minimum(own, LARGEST)
        sizes = [*self.usual, usual_size(self.own_means[:, -1])]
        self.softening = [min(size, LARGEST) / 1000 for size in sizes]

    def with_sum(self, rows):
        """The dissimilarities of a sample, and last their balanced sum."""
        weights = [1 / usual for usual in self.usual]
        sums = [
            sum(weight * value for weight, value in zip(weights, column, strict=True) if weight > 0)
            for column in np.transpose(rows)
        ]
        return [*(list(row) for row in rows), sums]

    def local_ratio(self, rows, place, exclude=None):
        """m^10 of a sample over the mean of that of its 10 nearest.

        Those nearer than the 10th count fully. Those as near as the 10th, up to rounding errors, share the
        remaining places evenly. A sample that is infinitely far in every criterion shares none.
        """
        values, k = self.with_sum(rows)[place], min(10, self.n - 1)
        others = [j for j in range(self.n) if j != exclude]
        last = sorted(values[j] for j in others)[k - 1]
        low, high = last * (1 - 1e-10), last * (1 + 1e-10)
        nearer = [self.own_means[j, place] for j in others if values[j] < low]
        tied = [
            self.own_means[j, place]
            for j in others
            if low <= values[j] <= high and any(row[j] < np.inf for row in rows)
        ]
        share = np.mean(tied) if tied else 0.0
        softening = self.softening[place]
        near = (sum(nearer) + (k - len(nearer)) * share) / k
        return min((min(mean_of_nearest(values, 10, exclude), LARGEST) + softening) / (near + softening), LARGEST)

    def dyad_depths(self, rows, pair, exclude=None):
        """The mid depths in a pair of criteria, as shares of its fronts, of the dyads with the 10 nearest in each."""
        (below, numbers), k = self.fronts[self.pairs.index(pair)], min(10, self.n - 1)
        dyads = np.array([[rows[c][j] for c in pair] for j in nearest(rows, [k] * len(rows), exclude)])
        return np.reshape(depths(dyads, below, numbers, "mid") / max(numbers), (len(rows), k))

    def statistics(self, rows, exclude=None):
        """All statistics of a sample, by the names of the package."""
        *alone, together = self.with_sum(rows)
        ratios = [self.local_ratio(rows, place, exclude) for place in range(len(rows) + 1)]
        dyad_depths = [self.dyad_depths(rows, pair, exclude) for pair in self.pairs]
        return {
            "neighbor_means": [mean_of_nearest(values, k, exclude) for k in (1, 5, 20) for values in alone],
            "local_ratios": ratios[:-1],
            "balanced_mean": mean_of_nearest(together, 5, exclude),
            "balanced_ratio": ratios[-1],
            "pair_depth": np.mean(dyad_depths),
            "pair_depths": [np.mean(shares[list(pair)]) for shares, pair in zip(dyad_depths, self.pairs, strict=True)],
        }

    def left_out(self):
        """The statistics of the training samples, each compared with the others."""
        return [self.statistics(self.training[:, i], exclude=i) for i in range(self.n)]


def blend_alone(nominal, values):
    """The mean surprise of each criterion's statistics."""

    def surprises(name):
        columns = np.transpose([sample[name] for sample in nominal])
        return [surprise(column, value) for column, value in zip(columns, values[name], strict=True)]

    few, some, many = np.reshape(surprises("neighbor_means"), (3, -1))
    return np.mean([few, some, many, surprises("local_ratios")], axis=0)


def blend_score(nominal, values):
    """The blend from the statistics of the nominal samples and a sample's own."""

    def surprise_of(name):
        return surprise([sample[name] for sample in nominal], values[name])

    parts = [(surprise_of("balanced_mean") + surprise_of("balanced_ratio")) / 2, surprise_of("pair_depth")]
    alone = blend_alone(nominal, values)
    if len(alone) > 1:
        parts.append(max(alone) - np.log(len(alone)))
    largest = max(parts)
    return largest + np.log(np.mean([np.exp(part - largest) for part in parts]))


def discoveries(p_values, fdr):
    """Benjamini and Hochberg: the k smallest p-values, for the largest k with p_(k) <= k fdr / m."""
    ranked = sorted(p_values)
    counts = [k for k in range(1, len(ranked) + 1) if ranked[k - 1] <= k * fdr / len(ranked)]
    return [bool(counts) and p <= ranked[max(counts) - 1] for p in p_values]


def relieved_rows(rows, training, criterion):
    """A sample's dissimilarities if one criterion were ordinary: the nominal median of the same rank."""
    n = len(training[criterion])
    ranked = [sorted(training[criterion][i][j] for j in range(n) if j != i) for i in range(n)]
    profile = [np.median([row[rank] for row in ranked]) for rank in range(n - 1)]
    profile.append(profile[-1])
    score_if_ordinary = [list(row) for row in rows]
    for rank, j in enumerate(sorted(range(n), key=lambda j: rows[criterion][j])):
        score_if_ordinary[criterion][j] = profile[rank]
    return score_if_ordinary


def drifts(p_values, exponents, mean_run):
    """Lay a stake at every sample, multiply all stakes by every later bet, and begin anew after each drift."""
    found, first = [], 0
    for last in range(len(p_values)):
        worth = []
        for exponent in exponents:
            total = 0.0
            for start in range(first, last + 1):
                stake = 1.0
                for p_value in p_values[start : last + 1]:
                    stake *= exponent * p_value ** (exponent - 1)
                total += stake
            worth.append(total)
        if sum(worth) / len(worth) >= mean_run:
            found.append(last)
            first = last + 1
    return found
