"""The definitions word for word: slow, plain, and importing nothing from the package."""

import numpy as np


def dominates(a, b):
    return all(x <= y for x, y in zip(a, b, strict=True)) and any(x < y for x, y in zip(a, b, strict=True))


def front_numbers(dyads):
    """Peel off the dyads that no remaining dyad dominates, again and again."""
    numbers = np.zeros(len(dyads), int)
    remaining = set(range(len(dyads)))
    front = 0
    while remaining:
        front += 1
        peeled = {i for i in remaining if not any(dominates(dyads[j], dyads[i]) for j in remaining)}
        for i in peeled:
            numbers[i] = front
        remaining -= peeled
    return numbers


def deb_front_numbers(dyads):
    """Deb's sort, the paper's choice for three and more criteria: count and release dominators."""
    n = len(dyads)
    dominated = [[j for j in range(n) if dominates(dyads[i], dyads[j])] for i in range(n)]
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


def depths(new_dyads, dyads, numbers, kind):
    """The depths of new dyads below the fronts given by the training dyads and their front numbers."""
    n_fronts = max(numbers, default=0)
    result = []
    for new in new_dyads:
        below = [f for f, dyad in zip(numbers, dyads, strict=True) if dominates(new, dyad)]
        above = [f for f, dyad in zip(numbers, dyads, strict=True) if dominates(dyad, new)]
        paper, insertion = min(below, default=n_fronts + 1), 1 + max(above, default=0)
        result.append({"paper": paper, "insertion": insertion, "mid": (paper + insertion) / 2}[kind])
    return np.array(result, float)


def pairwise_dyads(matrices):
    n = len(matrices[0])
    return np.array([[matrix[i][j] for matrix in matrices] for i in range(n) for j in range(i + 1, n)])


def connected_n_neighbors(matrix):
    """Grow k until the symmetric k-NN graph is connected; j is among the k nearest of i if fewer than k are nearer."""
    n = len(matrix)
    for k in range(1, n):
        edges = {
            (i, j)
            for i in range(n)
            for j in range(n)
            if i != j and sum(matrix[i][m] < matrix[i][j] for m in range(n) if m != i) < k
        }
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


def distinct_tracks(tracks):
    """Keep the longest, then each next that shares no more than half of its points with any kept one."""
    kept = []
    for track in sorted(range(len(tracks)), key=lambda track: (-len(tracks[track]), track)):
        points = {tuple(point) for point in tracks[track]}
        if all(len(points & {tuple(point) for point in tracks[other]}) <= len(points) / 2 for other in kept):
            kept.append(track)
    return sorted(kept)
