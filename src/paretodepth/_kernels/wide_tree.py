"""Three and more criteria: a tree whose nodes have 32 children, all of which one visit looks at.

Node 0 is the root, node i has the children 32 i + 1 to 32 i + 32, and the leaves are the nodes
from `first_leaf` on: leaf l holds the points 32 l to 32 l + 31. A node's record holds rows of 32
short integers, which the processor compares at once: the front numbers of the children, negated,
and their ranks in each criterion, all shortened to fit. Of a child that is no point these are
the largest number and the smallest ranks of the numbered points below it. So what must not be
larger than asked for is never larger in the record of a point's ancestor, and only what the
records let pass is compared in full.

A tree of points that come one after the other numbers four and more criteria. One that is built
whole finds the depths of dyads: the first level with a point that a dyad dominates.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic, overload
from numpy.typing import NDArray

from paretodepth._kernels import compiled

WIDTH = 32
"""Children of a node, and bits of what tells them apart."""
LARGEST = 32767
"""The largest short integer; its opposite is never larger than what is asked for."""
FIRST_ROWS = 5
"""Rows of a record that are always compared. Those that follow come in twos."""
N_SEARCHES = 32
"""Searches that go side by side, so that none waits for another."""
MIX = 0x077CB531
"""Its five bits from the 28th on differ, whichever of 32 powers of two it is multiplied with."""
PLACES = np.zeros(WIDTH, np.intp)
"""The power, by these five bits."""
PLACES[[(MIX << place >> 27) % WIDTH for place in range(WIDTH)]] = np.arange(WIDTH)


class WideTree(NamedTuple):
    """A wide tree of points, of which those with front number 0 are not numbered, or not yet.

    `shift` holds one integer, by how many bits the front numbers in the records are shortened.
    """

    records: NDArray[np.int16]
    points: NDArray[np.int32]
    numbers: NDArray[np.int32]
    shift: NDArray[np.intp]
    first_leaf: int


class LevelTree(NamedTuple):
    """A tree of points on levels, in which children and points come by level, the lowest first.

    Leaf l holds the points from ``starts[l]`` to ``starts[l + 1]``. The records hold the
    lowest level, shortened by `shift` bits, and the opposite of the largest code in each
    criterion, which is the number of that criterion's edges that are smaller.
    """

    records: NDArray[np.int16]
    points: NDArray[np.float64]
    levels: NDArray[np.int32]
    starts: NDArray[np.intp]
    edges: NDArray[np.float64]
    shift: int
    first_leaf: int


def not_larger(records: NDArray[np.int16], node: int, row: int, asked: np.int16) -> int:
    """Return, as bits, which of 32 children are not larger than asked for in one row of a node's record."""
    return int(np.packbits(records[node, row] <= asked, bitorder="little").view("<u4")[0])


@intrinsic
def compare_at_once(typing_context: Any, records: Any, node: Any, row: Any, asked: Any) -> Any:
    """Do what `not_larger` does in three instructions; a loop over the children takes twice the time of a search."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        row_type = ir.VectorType(ir.IntType(16), WIDTH)
        places_type = ir.VectorType(ir.IntType(32), WIDTH)
        array = context.make_array(signature.args[0])(context, builder, arguments[0])
        n_rows = builder.extract_value(array.shape, 1)
        start = builder.mul(builder.add(builder.mul(arguments[1], n_rows), arguments[2]), ir.IntType(64)(WIDTH))
        children = builder.load(builder.bitcast(builder.gep(array.data, [start]), row_type.as_pointer()), align=2)
        unset = ir.Constant(row_type, ir.Undefined)
        first = builder.insert_element(unset, arguments[3], ir.IntType(32)(0))
        asked_of_all = builder.shuffle_vector(first, unset, ir.Constant(places_type, [0] * WIDTH))
        bits = builder.bitcast(builder.icmp_signed("<=", children, asked_of_all), ir.IntType(WIDTH))
        return builder.zext(bits, ir.IntType(64))

    return types.int64(records, types.int64, types.int64, types.int16), generate


@overload(not_larger)
def overload_not_larger(records: Any, node: Any, row: Any, asked: Any) -> Callable[..., Any]:
    """Have compiled loops take the instructions in place of the function."""

    def not_larger_at_once(records: Any, node: Any, row: Any, asked: Any) -> Any:
        return compare_at_once(records, node, row, asked)  # type: ignore[call-arg]

    return not_larger_at_once


@compiled
def passing(records: NDArray[np.int16], node: int, asked: NDArray[np.int16]) -> int:
    """Return, as bits, which children of a node are nowhere larger than asked for."""
    bits = not_larger(records, node, 0, asked[0])
    for row in range(1, FIRST_ROWS):
        bits &= not_larger(records, node, row, asked[row])
    row = FIRST_ROWS
    while bits != 0 and row < records.shape[1]:
        bits &= not_larger(records, node, row, asked[row]) & not_larger(records, node, row + 1, asked[row + 1])
        row += 2
    return bits


@compiled
def exceeds(points: NDArray[np.int32], row: int, other_row: int) -> bool:
    """Tell whether a point is larger than another one in some criterion."""
    is_larger = False
    for criterion in range(points.shape[1]):
        is_larger |= points[row, criterion] > points[other_row, criterion]
    return is_larger


@compiled
def ask_wide(
    tree: WideTree,
    positions: NDArray[np.intp],
    asked: NDArray[np.int16],
    stack: NDArray[np.intp],
    found: NDArray[np.int32],
) -> None:
    """Find, for the points at some positions, the largest front number among the points that are nowhere larger.

    What is asked for and the nodes still to be visited find room in `asked` and `stack`.
    """
    records, points, numbers, shifts, first_leaf = tree
    shift = shifts[0]
    witness = positions[0]
    for position in positions:
        for row in range(1, records.shape[1]):
            asked[row] = records[first_leaf + position // WIDTH, row, position % WIDTH]
        # Neighbors in the tree are often dominated by the same point.
        best = np.int32(0) if exceeds(points, witness, position) else numbers[witness]
        asked[0] = -((best + 1) >> shift)
        stack[0] = 0
        height = 1
        while height > 0:
            height -= 1
            node = stack[height]
            # What was found since may have ruled the node out.
            if node > 0 and records[(node - 1) // WIDTH, 0, (node - 1) % WIDTH] > asked[0]:
                continue
            bits = passing(records, node, asked)
            deepest = np.int16(1)
            while bits != 0:
                lowest = bits & -bits
                bits ^= lowest
                child = PLACES[((lowest * MIX) >> 27) & (WIDTH - 1)]
                if node < first_leaf:
                    # The deepest child is visited first: what it holds may rule out the others.
                    stack[height] = WIDTH * node + 1 + child
                    if records[node, 0, child] < deepest:
                        deepest = records[node, 0, child]
                    else:
                        stack[height], stack[height - 1] = stack[height - 1], stack[height]
                    height += 1
                else:
                    point = WIDTH * (node - first_leaf) + child
                    if numbers[point] > best and not exceeds(points, point, position):
                        best = numbers[point]
                        witness = point
            asked[0] = -((best + 1) >> shift)
        found[position] = best


@compiled
def settle_wide(
    tree: WideTree,
    positions: NDArray[np.intp],
    found: NDArray[np.int32],
    columns: NDArray[np.int32],
    settled: NDArray[np.int32],
    dominating: NDArray[np.int32],
    max_depth: int,
) -> None:
    """Set the front numbers up to `max_depth` of a block of points in lexicographic order, those before them being set.

    `found` holds the largest front number among the dominating points before the block; what is
    missing are dominances within the block. The block's points, a row a criterion, its front
    numbers and those of the points that dominate one find room in the last three.
    """
    points, numbers = tree.points, tree.numbers
    largest = np.int32(0)
    for dyad in range(positions.shape[0]):
        for criterion in range(points.shape[1]):
            columns[criterion, dyad] = points[positions[dyad], criterion]
    for dyad in range(positions.shape[0]):
        # Without branches and two criteria at a time, so that the processor compares with several dyads at once.
        for earlier in range(dyad):
            dominating[earlier] = settled[earlier]
        for criterion in range(0, columns.shape[0], 2):
            first, second = columns[criterion, dyad], columns[criterion + 1, dyad]
            for earlier in range(dyad):
                is_larger = (columns[criterion, earlier] > first) | (columns[criterion + 1, earlier] > second)
                dominating[earlier] = np.int32(0) if is_larger else dominating[earlier]
        best = found[positions[dyad]]
        for earlier in range(dyad):
            best = max(best, dominating[earlier])
        settled[dyad] = best + 1
        if settled[dyad] <= max_depth:
            largest = max(largest, settled[dyad])
    shorten(tree, largest)
    for dyad in range(positions.shape[0]):
        if settled[dyad] <= max_depth:
            numbers[positions[dyad]] = settled[dyad]
            enter(tree, positions[dyad])


@compiled
def shorten(tree: WideTree, largest: np.int32) -> None:
    """Shorten the front numbers in the records until one more than the largest fits."""
    while (largest + 1) >> tree.shift[0] > LARGEST:
        tree.shift[0] += 1
        for node in range(tree.records.shape[0]):
            for child in range(WIDTH):
                # Negated, because to shift a negative number rounds it the other way.
                tree.records[node, 0, child] = -(-tree.records[node, 0, child] >> 1)


@compiled
def enter(tree: WideTree, position: int) -> None:
    """Enter a point's front number into its leaf's record, and the point into the records above."""
    records = tree.records
    short = np.int16(-(tree.numbers[position] >> tree.shift[0]))
    leaf, place = tree.first_leaf + position // WIDTH, position % WIDTH
    records[leaf, 0, place] = short
    node = leaf
    while node > 0:
        node, child = (node - 1) // WIDTH, (node - 1) % WIDTH
        for row in range(tree.points.shape[1] + 1):
            records[node, row, child] = min(records[node, row, child], records[leaf, row, place])


@compiled
def encode(
    dyads: NDArray[np.float64], edges: NDArray[np.float64], places: NDArray[np.intp], codes: NDArray[np.int16]
) -> None:
    """Write, for each criterion, how many of its edges, one less than a power of two, are smaller than each dyad.

    Searches find room in `places`.
    """
    for criterion in range(dyads.shape[1]):
        for start in range(0, dyads.shape[0], places.shape[0]):
            n_searches = min(places.shape[0], dyads.shape[0] - start)
            for search in range(n_searches):
                places[search] = 0
            step = (edges.shape[1] + 1) >> 1
            while step > 0:
                for search in range(n_searches):
                    is_smaller = edges[criterion, places[search] + step - 1] < dyads[start + search, criterion]
                    places[search] += step * is_smaller
                step >>= 1
            for search in range(n_searches):
                codes[start + search, criterion] = places[search]


@compiled
def is_dominated(points: NDArray[np.float64], point: int, dyads: NDArray[np.float64], dyad: int) -> bool:
    """Tell whether a dyad dominates a point."""
    # All criteria are compared: without branches that is faster than to stop at the first larger one.
    is_larger = is_smaller = False
    for criterion in range(points.shape[1]):
        is_larger |= dyads[dyad, criterion] > points[point, criterion]
        is_smaller |= dyads[dyad, criterion] < points[point, criterion]
    return is_smaller and not is_larger


@compiled
def find_levels(
    tree: LevelTree,
    dyads: NDArray[np.float64],
    codes: NDArray[np.int16],
    asked: NDArray[np.int16],
    left: NDArray[np.int64],
    found: NDArray[np.int32],
) -> None:
    """Find the lowest level among the points that each dyad dominates; `found` holds what it is if there is none.

    What is asked for, and the children still to be visited on each height, find room in `asked` and `left`.
    """
    records, points, levels, starts, _, shift, first_leaf = tree
    witness = 0
    for dyad in range(dyads.shape[0]):
        for criterion in range(dyads.shape[1]):
            asked[criterion + 1] = -codes[dyad, criterion]
        best = found[dyad]
        # Dyads near each other often dominate the same point.
        if levels[witness] < best and is_dominated(points, witness, dyads, dyad):
            best = levels[witness]
        asked[0] = (best - 1) >> shift
        node = height = 0
        bits = passing(records, node, asked)
        while bits != 0 or height > 0:
            if bits == 0:
                height -= 1
                node = (node - 1) // WIDTH
                bits = left[height]
                continue
            lowest = bits & -bits
            bits ^= lowest
            child = PLACES[((lowest * MIX) >> 27) & (WIDTH - 1)]
            if records[node, 0, child] > asked[0]:
                # What was found since has ruled out this child, and those that follow are on no lower level.
                bits = 0
            elif node < first_leaf:
                left[height] = bits
                height += 1
                node = WIDTH * node + 1 + child
                bits = passing(records, node, asked)
            else:
                point = starts[node - first_leaf] + child
                if levels[point] >= best:
                    bits = 0
                elif is_dominated(points, point, dyads, dyad):
                    best, witness = levels[point], point
                    asked[0] = (best - 1) >> shift
                    bits = 0
        found[dyad] = best


@compiled
def find_dominated(
    columns: NDArray[np.float64], dyads: NDArray[np.float64], is_reached: NDArray[np.int8], found: NDArray[np.intp]
) -> None:
    """Find the first point, these being given by criterion, that each dyad dominates, or their number.

    As many points as `is_reached` has room for are compared at once.
    """
    n_criteria, n_points = columns.shape
    for dyad in range(dyads.shape[0]):
        found[dyad] = n_points
        for start in range(0, n_points, is_reached.shape[0]):
            stop = min(start + is_reached.shape[0], n_points)
            for place in range(stop - start):
                is_reached[place] = 1
            for criterion in range(n_criteria):
                value = dyads[dyad, criterion]
                # Of a slice the processor compares several at once.
                values = columns[criterion, start:stop]
                for place in range(values.shape[0]):
                    is_reached[place] &= values[place] >= value
            n_reached = 0
            for place in range(stop - start):
                n_reached += is_reached[place]
            if n_reached > 0:
                for point in range(stop - 1, start - 1, -1):
                    # No dyad dominates its equal.
                    is_larger = False
                    for criterion in range(n_criteria):
                        is_larger |= columns[criterion, point] > dyads[dyad, criterion]
                    if is_larger and is_reached[point - start]:
                        found[dyad] = point
                if found[dyad] < n_points:
                    break
