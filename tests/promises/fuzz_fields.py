"""Mutations of model files by the schema: each part to its edges and beyond, alone and with others, well sealed.

Of models with precomputed matrices also these, most of them still finite, not negative and symmetric.
"""

import hashlib
import json
import math

import numpy as np

from paretodepth.models import model_relations as relations
from paretodepth.models.container import MAGIC, PREFIX, VERSION
from paretodepth.models.model_schema import CLASSES, PARAMETERS, SCHEMA, Part

WITHIN = 0.88
"""The share of changes that keep to what the schema says, so that about half of the files are loaded."""
EDGES = [0, 1, -1, 2, 255, 2**31 - 1, 2**31, 2**53, 2**62, -(2**62), 2**63 - 1, -(2**63)]
FLOATS = [0.0, -0.0, 1.0, -1.0, 0.5, 5e-324, 2.3e-308, 1e-9, 1e9, 1.7e308, -1.7e308, math.inf, -math.inf, math.nan]
ODD = [None, True, "", "x", "\ud800\x00", "x" * 5000, [], {}, {"dict": []}, {"tuple": []}, {"float": "nan"}, 10**30]
ODD += [{"float": "-inf"}, -1, 2**62, -(2**63), 0.5, {"object": 0}, {"array": 0}, {"date": "2020-01-01"}, [[]], [None]]
ODD += [10**400]
RISING = (relations.is_rising, relations.are_starts)
SORTED = (relations.is_sorted, relations.are_sorted)


class Opened:
    """A model file taken apart: the header, the arrays, and where each part is."""

    def __init__(self, content):
        length = PREFIX.unpack(content[: PREFIX.size])[2]
        self.text = content[PREFIX.size : PREFIX.size + length]
        self.data = content[PREFIX.size + length : -32]
        self.header = json.loads(self.text)
        self.arrays, start = [], 0
        for told in self.header["arrays"]:
            dtype = np.dtype(told["dtype"])
            size = int(np.prod(told["shape"], dtype=int))
            array = np.frombuffer(self.data, dtype, size, start).reshape(told["shape"], order=told["order"])
            self.arrays.append(array)
            start += array.nbytes
        self.places = [
            (number, name)
            for number, node in enumerate(self.header["objects"])
            for name in (SCHEMA[CLASSES[node["class"]]] if "class" in node else ("",))
        ]
        self.places += [("parameters", name) for name in PARAMETERS] * 2

    def part(self, place):
        """Return the node of a part and its row."""
        owner, name = place
        if owner == "parameters":
            return self.header["state"]["parameters"][name], Part(may_be_nan=True)
        entry = self.header["objects"][owner]
        if name == "":
            return entry["column"], Part()
        return entry["parts"][name], SCHEMA[CLASSES[entry["class"]]][name]

    def sealed(self, changes, added):
        """Return the file with other nodes in some places, and more arrays."""
        header = json.loads(self.text)
        for (owner, name), node in changes:
            if owner == "parameters":
                header["state"]["parameters"][name] = node
            elif name == "":
                header["objects"][owner]["column"] = node
            else:
                header["objects"][owner]["parts"][name] = node
        header["arrays"] += [{"dtype": a.dtype.str, "shape": list(a.shape), "order": "C"} for a in added]
        text = json.dumps(header).encode()
        whole = PREFIX.pack(MAGIC, VERSION, len(text)) + text + self.data + b"".join(a.tobytes() for a in added)
        return whole + hashlib.sha256(whole).digest()


def changed_matrices(opened, rng):
    """Return a model file of which at least one training matrix is changed, and in half of the files other parts."""
    added, changes = [], []
    (owner,) = (number for number, node in enumerate(opened.header["objects"]) if node.get("class") == "Model")
    nodes = list(opened.header["objects"][owner]["parts"]["training"])
    for place in rng.sample(range(len(nodes)), rng.randint(1, len(nodes))):
        added.append(_matrix(opened.arrays[nodes[place]["array"]], rng))
        nodes[place] = {"array": len(opened.arrays) + len(added) - 1}
    changes.append(((owner, "training"), nodes))
    if rng.random() < 0.5:
        changes = [*_changes(opened, added, rng), *changes]
    return opened.sealed(changes, added)


def _matrix(matrix, rng):
    """Return another symmetric matrix of dissimilarities or, one in eight times, one that is none."""
    numbers = np.random.default_rng(rng.randrange(2**32))
    n_samples = len(matrix)
    found = matrix.astype(np.float64)
    finite = [number for number in FLOATS if 0 <= number < math.inf]
    for _ in range(rng.choice([1, 1, 2, 3])):
        sample, other = rng.randrange(n_samples), rng.randrange(n_samples)
        how = rng.randrange(8)
        if how == 0:
            found[sample, other] = found[other, sample] = rng.choice(finite)
        elif how == 1:
            found[sample] = found[:, sample] = rng.choice(finite)
        elif how == 2:
            found = np.minimum(found * rng.choice([0.0, 1e-320, 1e-150, 2.0, 1e150, 1e308]), 1.7e308)
        elif how == 3:
            found[:] = rng.choice(finite)
        elif how == 4:
            order = numbers.permutation(n_samples)
            found = found[np.ix_(order, order)]
        elif how == 5:
            found = np.round(found, rng.randrange(3))
        elif how == 6:
            # Equal samples, whose dissimilarities are all tied.
            found = np.where(numbers.random(n_samples) < 0.5, found, found[sample])
            found = np.minimum(found, found.T)
        else:
            found = np.where(numbers.random(found.shape) < 0.1, rng.choice(finite), found)
            found = np.maximum(found, found.T)
    np.fill_diagonal(found, 0.0)
    if rng.random() < 1 / 8:
        return _no_matrix(found, rng)
    return found.astype(rng.choice(["<f8", "<f8", "<f8", "<f4", "<i8"]))


def _no_matrix(matrix, rng):
    """Return a matrix with numbers that are no dissimilarities, or another shape or type."""
    how = rng.randrange(6)
    n_samples, wrong = len(matrix), rng.choice([math.nan, math.nan, math.inf, -math.inf, -1.0, -5e-324])
    sample, other = rng.randrange(n_samples), rng.randrange(n_samples)
    if how == 0:
        return np.where(np.eye(n_samples), 0.0, wrong)
    if how == 1:
        matrix[sample, other] = matrix[other, sample] = wrong
    elif how == 2:
        matrix[sample] = matrix[:, sample] = wrong
    elif how == 3:
        matrix[sample, other] = 2 * matrix[other, sample] + 1
    elif how == 4:
        matrix[sample, sample] = rng.choice([wrong, 1.0])
    else:
        return _array(matrix, Part(), rng, False)
    return matrix


def changed(opened, rng):
    """Return a model file of which one, two or three parts are changed."""
    added = []
    changes = _changes(opened, added, rng)
    return opened.sealed(changes, added)


def _changes(opened, added, rng):
    """Return other nodes for one, two or three parts, each with its place; arrays that they need are added."""
    n_parts = rng.choice([1, 1, 1, 2, 2, 3])
    places = rng.sample(opened.places, n_parts)
    if n_parts > 1 and rng.random() < 0.5:
        # Of one object, whose parts must fit together.
        owner = places[0][0]
        own = [place for place in opened.places if place[0] == owner]
        places = rng.sample(own, min(n_parts, len(own)))
    changes = []
    while places:
        place = places.pop()
        node, row = opened.part(place)
        is_within = rng.random() < WITHIN
        other = _node(opened, node, row, added, rng, is_within)
        if json.dumps(other) == json.dumps(node):
            # Nothing within its range is other than it: another part is changed in its stead.
            places.append(rng.choice(opened.places))
        else:
            changes.append((place, other))
    return changes


def _node(opened, node, row, added, rng, is_within):
    """Return another node for one; arrays that it needs are added."""
    if isinstance(node, dict) and ("array" in node or "scalar" in node):
        (tag, index), *_ = node.items()
        array = _array(opened.arrays[index], row, rng, is_within)
        if array is opened.arrays[index]:
            return node
        added.append(array)
        return {tag: len(opened.arrays) + len(added) - 1}
    if isinstance(node, dict) and "object" in node:
        return node if is_within else rng.choice([*ODD, {"object": rng.randrange(len(opened.header["objects"]))}])
    if not is_within and rng.random() < 0.3:
        return rng.choice(ODD)
    if isinstance(node, list):
        return _list(opened, node, row, added, rng, is_within)
    if isinstance(node, dict) and len(node) == 1:
        ((tag, content),) = node.items()
        return {tag: _node(opened, content, row, added, rng, is_within) if isinstance(content, list) else content}
    return _scalar(node, row, rng, is_within)


def _list(opened, nodes, row, added, rng, is_within):
    """Return a list with one entry changed, or one left out, doubled or moved."""
    nodes = list(nodes)
    if not nodes:
        return nodes if is_within else [rng.choice(ODD)]
    place = rng.randrange(len(nodes))
    how = 0 if is_within else rng.randrange(5)
    if how == 0:
        nodes[place] = _node(opened, nodes[place], row, added, rng, is_within)
    elif how == 1:
        del nodes[place]
    elif how == 2:
        nodes.insert(place, nodes[rng.randrange(len(nodes))])
    elif how == 3:
        nodes.reverse()
    else:
        nodes *= rng.choice([0, 2, 100])
    return nodes


def _scalar(value, row, rng, is_within):
    """Return another number or text, within the range of a row or beyond."""
    if not is_within:
        return rng.choice([*ODD, *EDGES])
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        high = row.high if isinstance(row.high, int | float) else value
        return rng.choice([edge for edge in [*EDGES, value] if row.low <= edge <= high] or [value])
    if isinstance(value, float):
        return _encoded(rng.choice([number for number in [*FLOATS, value] if _is_within(number, row)]))
    return value


def _encoded(number):
    return number if math.isfinite(number) else {"float": str(number)}


def _is_within(number, row):
    high = row.high if isinstance(row.high, int | float) else math.inf
    if math.isnan(number):
        return row.may_be_nan
    return row.low <= number <= high and not (row.is_finite and math.isinf(number))


def _array(array, row, rng, is_within):
    """Return an array with a few values changed, or of another shape or type."""
    if is_within:
        return _array_within(array, row, rng)
    how = rng.randrange(6)
    if how == 0:
        shape = [max(0, length + rng.choice([-1, 0, 1])) for length in array.shape]
        return np.resize(array, shape) if array.size else np.zeros(shape, array.dtype)
    if how == 1:
        return array.astype(rng.choice(["<f8", "<i8", "<f4", "|u1", "|b1", "<u8", "<M8[us]"]), casting="unsafe")
    if how == 2:
        return array.reshape(rng.choice([(-1,), (1, *array.shape), (*array.shape, 1)]))
    if how == 3:
        return array[:0]
    if how == 4 and array.ndim:
        return np.ascontiguousarray(array[::-1])
    return _with_edges(array, rng)


def _with_edges(array, rng):
    """Return an array with one, two or three of its values far away; of integers so that their sum stays right."""
    found = array.copy().reshape(-1)
    n_places = min(len(found), rng.choice([1, 2, 3, 3]))
    if not n_places:
        return array
    first = rng.randrange(len(found) - n_places + 1)
    for place in range(first, first + n_places):
        if found.dtype.kind == "f":
            found[place] = rng.choice(FLOATS)
        else:
            found[place] = np.array(rng.choice(EDGES) % 2**64, np.uint64).astype(found.dtype)
    if found.dtype.kind in "iu" and n_places == 3:
        # The sum wraps back to what it was, as that of differences does: an overflow that hides itself.
        total = int(array.reshape(-1)[first : first + 3].sum(dtype=object)) - int(found[first]) - int(found[first + 1])
        found[first + 2] = np.array(total % 2**64, np.uint64).astype(found.dtype)
    return found.reshape(array.shape)


def _array_within(array, row, rng):
    """Return an array with a few values changed that keep to the range and the order of a row."""
    if row.relation in RISING and array.ndim == 1 and len(array) > 2:
        inner = sorted(rng.sample(range(int(array[0]) + 1, int(array[-1])), k=len(array) - 2))
        return np.array([array[0], *inner, array[-1]], array.dtype)
    if array.dtype.kind != "f" or not array.size:
        return array
    found = array.copy().reshape(-1)
    for _ in range(rng.choice([1, 2, 3, len(found)])):
        choices = [number for number in FLOATS if _is_within(number, row)]
        # Mostly numbers such as are there: the farthest make every sum infinite.
        near = float(found[rng.randrange(len(found))]) * rng.choice([1, 1, 0.5, 2])
        found[rng.randrange(len(found))] = near if rng.random() < 0.8 else rng.choice(choices)
    found = found.reshape(array.shape)
    return np.sort(found, axis=0) if row.relation in SORTED else found
