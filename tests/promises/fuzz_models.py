"""Mutations of model files: each array and each setting, to its edges and beyond, alone and with others.

Of models with precomputed matrices also these, most of them still finite, not negative and symmetric.
"""

import io
import json
import math
import zipfile

import numpy as np

EDGES = [0, 1, -1, 2, 255, 2**31 - 1, 2**31, 2**53, 2**62, -(2**62), 2**63 - 1, -(2**63)]
FLOATS = [0.0, -0.0, 1.0, -1.0, 0.5, 5e-324, 2.3e-308, 1e-9, 1e9, 1.7e308, -1.7e308, math.inf, -math.inf, math.nan]
ODD = [None, True, "", "x", "\ud800\x00", "x" * 5000, [], {}, {"dict": []}, {"tuple": []}, {"float": "nan"}, 10**30]
ODD += [{"float": "-inf"}, {"date": "2020-01-01"}, [[]], [None], 10**400, 0.5, "eval", *EDGES]
TYPES = ["<f8", "<i8", "<f4", "|u1", "|b1", "<u8", "<M8[us]"]
WITHIN = 0.7
"""The share of changed arrays whose values stay near those that there were, so that many files are loaded."""


def unpacked(content):
    """Return the settings and the arrays of a model file."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        names = archive.namelist()
        arrays = {name.removesuffix(".npy"): np.load(io.BytesIO(archive.read(name))) for name in names[1:]}
        return json.loads(archive.read(names[0])), arrays


def packed(settings, arrays, compression=zipfile.ZIP_STORED):
    """Return the model file of settings, or their text, and arrays, or their bytes."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", compression) as archive:
        archive.writestr("settings.json", settings if isinstance(settings, bytes) else json.dumps(settings))
        for name, array in arrays.items():
            archive.writestr(f"{name}.npy", array if isinstance(array, bytes) else bytes_of(array))
    return buffer.getvalue()


def bytes_of(array):
    """Return an array as NumPy writes it."""
    buffer = io.BytesIO()
    np.save(buffer, array)
    return buffer.getvalue()


def places(node, found):
    """Collect every place of a JSON document: the container and the key."""
    keys = node if isinstance(node, dict) else range(len(node)) if isinstance(node, list) else ()
    for key in keys:
        found.append((node, key))
        places(node[key], found)
    return found


def changed(content, rng):
    """Return a model file of which one, two or three arrays or settings are changed."""
    settings, arrays = unpacked(content)
    for _ in range(rng.choice([1, 1, 1, 2, 2, 3])):
        if rng.random() < 0.3:
            container, key = rng.choice(places(settings, []))
            other, other_key = rng.choice(places(settings, []))
            container[key] = json.loads(json.dumps(rng.choice([*ODD, other[other_key], other[other_key]])))
        else:
            name = rng.choice(list(arrays))
            arrays[name] = changed_array(arrays[name], rng)
    if rng.random() < 0.05:
        arrays.pop(rng.choice(list(arrays)))
    return packed(settings, arrays)


def changed_array(array, rng):
    """Return an array with a few values changed, mostly near to those that there were, or of another shape or type."""
    if rng.random() < WITHIN:
        return near(array, rng)
    how = rng.randrange(7)
    if how == 0:
        shape = [max(0, length + rng.choice([-1, 0, 1])) for length in array.shape]
        return np.resize(array, shape) if array.size else np.zeros(shape, array.dtype)
    if how == 1:
        return array.astype(rng.choice(TYPES), casting="unsafe")
    if how == 2:
        return array.reshape(rng.choice([(-1,), (1, *array.shape), (*array.shape, 1)]))
    if how == 3:
        return array[:0]
    if how == 4:
        return np.ascontiguousarray(array[::-1])
    return with_edges(array, rng)


def near(array, rng):
    """Return an array with a few values copied, halved or doubled; what was in order is still in order."""
    found = array.copy().reshape(-1)
    for _ in range(rng.choice([1, 2, 3, len(found)]) if len(found) else 0):
        value = found[rng.randrange(len(found))]
        factor = rng.choice([1, 1, 0.5, 2]) if array.dtype.kind == "f" else 1
        found[rng.randrange(len(found))] = value * factor if array.dtype.kind == "f" else value
    found = found.reshape(array.shape)
    is_rising = array.ndim > 0 and array.dtype.kind in "fiu" and len(array) > 1
    for axis in range(array.ndim if is_rising else 0):
        along = np.moveaxis(array, axis, 0)
        if (along[1:] >= along[:-1]).all():
            found.sort(axis=axis)
    return found


def with_edges(array, rng):
    """Return an array with one, two or three of its values far away; of integers so that their sum stays right."""
    found = array.copy().reshape(-1)
    n_places = min(len(found), rng.choice([1, 2, 3, 3]))
    if not n_places or array.dtype.kind not in "fiu":
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


def changed_matrices(content, rng):
    """Return a model file of which at least one training matrix is changed, and in half of the files other parts."""
    settings, arrays = unpacked(changed(content, rng) if rng.random() < 0.5 else content)
    names = [name for name, array in arrays.items() if name.startswith("columns/") and array.ndim == 2]
    for name in rng.sample(names, rng.randint(1, len(names))) if names else ():
        if arrays[name].shape[0] == arrays[name].shape[1]:
            arrays[name] = changed_matrix(arrays[name], rng)
    return packed(settings, arrays)


def changed_matrix(matrix, rng):
    """Return another symmetric matrix of dissimilarities or, one in eight times, one that is none."""
    numbers = np.random.default_rng(rng.randrange(2**32))
    n_samples = len(matrix)
    found = np.nan_to_num(matrix.astype(np.float64))
    finite = [number for number in FLOATS if 0 <= number < math.inf]
    for _ in range(rng.choice([1, 1, 2, 3])):
        sample, other = rng.randrange(n_samples), rng.randrange(n_samples)
        how = rng.randrange(6)
        if how == 0:
            found[sample, other] = found[other, sample] = rng.choice(finite)
        elif how == 1:
            found[sample] = found[:, sample] = rng.choice(finite)
        elif how == 2:
            found = np.minimum(found * rng.choice([0.0, 1e-320, 1e-150, 2.0, 1e150, 1e308]), 1.7e308)
        elif how == 3:
            found[:] = rng.choice(finite)
        elif how == 4:
            found = np.round(found, rng.randrange(3))
        else:
            # Equal samples, whose dissimilarities are all tied.
            found = np.where(numbers.random(n_samples) < 0.5, found, found[sample])
            found = np.minimum(found, found.T)
    np.fill_diagonal(found, 0.0)
    if rng.random() < 1 / 8:
        return no_matrix(found, rng)
    return found.astype(rng.choice(["<f8", "<f8", "<f8", "<f4"]))


def no_matrix(matrix, rng):
    """Return a matrix with numbers that are no dissimilarities, or another shape or type."""
    n_samples, wrong = len(matrix), rng.choice([math.nan, math.nan, math.inf, -math.inf, -1.0, -5e-324])
    sample, other = rng.randrange(n_samples), rng.randrange(n_samples)
    how = rng.randrange(6)
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
        return changed_array(matrix, rng)
    return matrix
