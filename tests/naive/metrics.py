"""The metrics of the registry word for word: one pair at a time, importing nothing from the package.

A sample is a tuple of its columns' values. `training` is the list of training samples, for
what is estimated from them.
"""

import math
from collections import Counter
from functools import cache
from itertools import pairwise, permutations
from numbers import Real

import numpy as np
from scipy.spatial import distance


def scipy_metric(name):
    return lambda a, b, training: getattr(distance, name)(a, b)


def boolean_metric(name):
    return lambda a, b, training: getattr(distance, name)(np.array(a, bool), np.array(b, bool))


def columns(training):
    return list(zip(*training, strict=True))


def categories(column):
    return {value for value in column if not is_missing(value)}


def is_missing(value):
    return value is None or (isinstance(value, float) and math.isnan(value))


def seuclidean(a, b, training):
    variances = [np.var(column, ddof=1) or 1.0 for column in columns(training)]
    return math.sqrt(sum((x - y) ** 2 / v for x, y, v in zip(a, b, variances, strict=True)))


def mahalanobis(a, b, training):
    difference = np.subtract(a, b)
    return math.sqrt(difference @ np.linalg.solve(np.cov(columns(training)), difference))


def cyclic(a, b, training, period=24):
    return sum(min((x - y) % period, (y - x) % period) for x, y in zip(a, b, strict=True))


def moment(value):
    return np.datetime64(value, "us").item() if isinstance(value, np.datetime64) else value


def elapsed(a, b, training):
    return abs((moment(a[0]) - moment(b[0])).total_seconds()) / 86400


def time_of_day(a, b, training):
    hours = [t.hour + t.minute / 60 + t.second / 3600 for t in (moment(a[0]), moment(b[0]))]
    return cyclic(hours[:1], hours[1:], training, 24)


def weekday(a, b, training):
    return cyclic([moment(a[0]).isoweekday()], [moment(b[0]).isoweekday()], training, 7)


def day_of_year(a, b, training):
    return cyclic([moment(a[0]).timetuple().tm_yday], [moment(b[0]).timetuple().tm_yday], training, 365.25)


def haversine(a, b, training):
    (lat1, lon1), (lat2, lon2) = np.radians(a), np.radians(b)
    inner = math.sin((lat1 - lat2) / 2) ** 2 + math.cos(lat1) * math.cos(lat2) * math.sin((lon1 - lon2) / 2) ** 2
    return 2 * 6371.0088 * math.asin(math.sqrt(inner))


def eskin(a, b, training):
    return sum(2 / len(categories(c)) ** 2 for x, y, c in zip(a, b, columns(training), strict=True) if x != y)


def cosine(a, b, training):
    if not any(a) or not any(b):
        return float(any(a) or any(b))
    return distance.cosine(a, b)


def jaccard(a, b, training):
    if len(a) == 1:
        first, second = set(a[0]), set(b[0])
    else:
        first, second = ({i for i, flag in enumerate(flags) if flag} for flags in (a, b))
    return 1 - len(first & second) / len(first | second) if first | second else 0.0


def gower(a, b, training):
    """The mean over the columns that both have."""
    parts = []
    for x, y, column in zip(a, b, columns(training), strict=True):
        if is_missing(x) or is_missing(y):
            continue
        present = categories(column)
        if all(isinstance(value, Real) for value in present) and max(present) > min(present):
            parts.append(abs(x - y) / (max(present) - min(present)))
        else:
            parts.append(float(x != y))
    return sum(parts) / len(parts)


def scaled(a, b, training, ratio=(), categories=()):
    """Squares add up over columns, each divided by half of what it is for two training samples on average."""
    total = 0.0
    for position, (x, y, column) in enumerate(zip(a, b, columns(training), strict=True)):
        is_category = position in categories or any(isinstance(value, str | bool | np.bool_) for value in column)
        if is_category:
            counts = Counter(column)
            compared = lambda u, v, counts=counts: (u != v) * (1 / (counts[u] or 1) + 1 / (counts[v] or 1))  # noqa: E731
        elif position in ratio:
            floor = np.quantile([abs(value) for value in column if value != 0] or [1.0], 0.5)
            compared = lambda u, v, floor=floor: (math.asinh(u / 2 / floor) - math.asinh(v / 2 / floor)) ** 2  # noqa: E731
        else:
            compared = lambda u, v: (u - v) ** 2  # noqa: E731
        usual = np.mean([compared(u, v) for u, v in permutations(column, 2)])
        total += compared(x, y) / (usual / 2 or 1.0)
    return math.sqrt(total)


def levenshtein(a, b, training):
    (s,), (t,) = a, b

    @cache
    def edits(i, j):
        if i == 0 or j == 0:
            return i + j
        return min(edits(i - 1, j) + 1, edits(i, j - 1) + 1, edits(i - 1, j - 1) + (s[i - 1] != t[j - 1]))

    return edits(len(s), len(t))


def normalized_levenshtein(a, b, training):
    longer = max(len(a[0]), len(b[0]))
    return levenshtein(a, b, training) / longer if longer else 0.0


def jaro_winkler(a, b, training):
    (s,), (t,) = a, b
    if not s and not t:
        return 0.0
    reach = max(max(len(s), len(t)) // 2 - 1, 0)
    taken = set()
    matched = []
    for i, letter in enumerate(s):
        for j in range(max(0, i - reach), min(len(t), i + reach + 1)):
            if j not in taken and t[j] == letter:
                taken.add(j)
                matched.append(letter)
                break
    m = len(matched)
    if m == 0:
        return 1.0
    transpositions = sum(x != y for x, y in zip(matched, [t[j] for j in sorted(taken)], strict=True)) // 2
    similarity = (m / len(s) + m / len(t) + (m - transpositions) / m) / 3
    prefix = 0
    while prefix < min(4, len(s), len(t)) and s[prefix] == t[prefix]:
        prefix += 1
    return 1 - (similarity + 0.1 * prefix * (1 - similarity) if similarity > 0.7 else similarity)


def longest_common(s, t):
    @cache
    def longest(i, j):
        if i == 0 or j == 0:
            return 0
        if s[i - 1] == t[j - 1]:
            return longest(i - 1, j - 1) + 1
        return max(longest(i - 1, j), longest(i, j - 1))

    return longest(len(s), len(t))


def token_set(a, b, training):
    """The most alike two of: the common words, these with the one's own words, these with the other's own words."""
    s, t = set(a[0].split()), set(b[0].split())
    if not s or not t:
        return float(s != t)
    common = " ".join(sorted(s & t))
    if common and (s <= t or t <= s):
        return 0.0
    first, second = (" ".join(filter(None, [common, " ".join(sorted(own))])) for own in (s - t, t - s))

    def similarity(x, y):
        return 2 * longest_common(x, y) / (len(x) + len(y))

    pairs = [(first, second)] + ([(common, first), (common, second)] if common else [])
    return 1 - max(similarity(x, y) for x, y in pairs)


def dtw(a, b, training, window=None):
    s, t = a[0], b[0]
    below, above = max(0, len(s) - len(t)), max(0, len(t) - len(s))
    costs = np.full((len(s) + 1, len(t) + 1), np.inf)
    costs[0, 0] = 0
    for i in range(len(s)):
        for j in range(len(t)):
            if window is not None and not -below - window <= j - i <= above + window:
                continue
            costs[i + 1, j + 1] = (s[i] - t[j]) ** 2 + min(costs[i, j + 1], costs[i + 1, j], costs[i, j])
    return math.sqrt(costs[-1, -1])


def shape_based(a, b, training):
    s, t = (np.asarray(series) - np.mean(series) for series in (a[0], b[0]))
    if not s.any() or not t.any():
        return float(s.any() != t.any())
    return 1 - max(np.correlate(s, t, "full").max(), 0) / math.sqrt(np.sum(s**2) * np.sum(t**2))


def steps(trajectory):
    """Length and duration of each step."""
    for p, q in pairwise(trajectory):
        yield math.hypot(q[0] - p[0], q[1] - p[1]), q[2] - p[2] if len(p) == 3 else 1.0


def speed(a, b, training):
    """Squared distance of the shares of time in twenty bins up to the speed that 1 % of training steps exceed."""
    speeds = [length / duration for (trajectory,) in training for length, duration in steps(trajectory)]
    width = np.quantile(speeds, 0.99) / 20

    def shares(trajectory):
        times = [0.0] * 20
        for length, duration in steps(trajectory):
            times[min(int(length / duration / width), 19)] += duration
        return [time / sum(times) for time in times]

    return sum((x - y) ** 2 for x, y in zip(shares(a[0]), shares(b[0]), strict=True))


def shape(a, b, training):
    """Sum of squared distances of a hundred points spaced evenly along the path."""

    def points(trajectory):
        places = [0.0]
        for length, _ in steps(trajectory):
            places.append(places[-1] + length)
        result = []
        for k in range(100):
            place = places[-1] * k / 99
            i = max(i for i in range(len(places) - 1) if places[i] <= place)
            share = min(1.0, (place - places[i]) / (places[i + 1] - places[i])) if places[i + 1] > places[i] else 0.0
            result.append([u + share * (v - u) for u, v in zip(trajectory[i][:2], trajectory[i + 1][:2], strict=True)])
        return result

    return sum((x - u) ** 2 + (y - v) ** 2 for (x, y), (u, v) in zip(points(a[0]), points(b[0]), strict=True))


def hausdorff(a, b, training):
    s, t = (np.asarray(trajectory)[:, :2] for trajectory in (a[0], b[0]))
    return max(distance.directed_hausdorff(s, t)[0], distance.directed_hausdorff(t, s)[0])


def frechet(a, b, training):
    s, t = a[0], b[0]

    @cache
    def leash(i, j):
        here = math.hypot(s[i][0] - t[j][0], s[i][1] - t[j][1])
        before = [leash(k, m) for k, m in ((i - 1, j), (i, j - 1), (i - 1, j - 1)) if k >= 0 and m >= 0]
        return max(here, min(before, default=0.0))

    return leash(len(s) - 1, len(t) - 1)


TWINS = {
    "difference": lambda a, b, training: abs(a[0] - b[0]),
    "log_ratio": lambda a, b, training: sum(abs(math.log(x / y)) for x, y in zip(a, b, strict=True)),
    "cyclic": cyclic,
    "elapsed": elapsed,
    "time_of_day": time_of_day,
    "weekday": weekday,
    "day_of_year": day_of_year,
    "haversine": haversine,
    "seuclidean": seuclidean,
    "mahalanobis": mahalanobis,
    "hamming": lambda a, b, training: np.mean([x != y for x, y in zip(a, b, strict=True)]),
    "mismatch": lambda a, b, training: np.mean([x != y for x, y in zip(a, b, strict=True)]),
    "eskin": eskin,
    "cosine": cosine,
    "jaccard": jaccard,
    "gower": gower,
    "scaled": scaled,
    "levenshtein": levenshtein,
    "jaro_winkler": jaro_winkler,
    "token_set": token_set,
    "dtw": dtw,
    "shape_based": shape_based,
    "speed": speed,
    "shape": shape,
    "hausdorff": hausdorff,
    "frechet": frechet,
}
VECTOR = ("euclidean", "sqeuclidean", "cityblock", "chebyshev", "minkowski", "braycurtis", "canberra", "correlation")
TWINS |= {name: scipy_metric(name) for name in (*VECTOR, "jensenshannon")}
TWINS |= {name: boolean_metric(name) for name in ("dice", "rogerstanimoto", "russellrao", "sokalsneath", "yule")}
