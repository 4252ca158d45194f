"""The words of an explanation: sentences made of phrases, and tables."""

from __future__ import annotations

import html
from collections.abc import Callable, Iterable, Sequence

from paretodepth.scoring.phrases import Phrase
from paretodepth.scoring.value_words import beside_text, value_text

MAX_LETTERS = 180
"""Of a sentence, two lines of a terminal; what matters least is left out beyond."""
NAME_LETTERS = 30
"""Of a name in a sentence."""
TEXT_LETTERS = 24
"""Of a text that is quoted."""
N_LISTED = 3
"""Criteria that are listed; of more, the rest is counted."""
LEADING = ("value", "text", "along")
"""Kinds of phrases that tell what a sample has, before what is odd about it."""
FEW = 0.1
"""A share of samples that are called few."""
DISPENSABLE = ("nearest", "ordinary", "unusual", "match")
"""Kinds of phrases that are left out of a long sentence, in this order."""


def sentence(phrases: Sequence[Phrase], names: Sequence[str], others: str, label: Callable[[int], str] = str) -> str:
    """Return phrases as one sentence.

    Parameters
    ----------
    phrases : list of Phrase
    names : list of str
        The criteria's names.
    others : str
        What the training samples are to this one: "nominal", "other" ones of the same file, or those "fitted" of it.
    label : callable
        What a training sample is called, of its number.
    """
    short = [shortened(name) for name in names]
    said = list(phrases)
    text = _joined(said, short, others, label)
    for kind in DISPENSABLE:
        if len(text) > MAX_LETTERS:
            said = [phrase for phrase in said if phrase.kind != kind] or said
            text = _joined(said, short, others, label)
    while len(said) > 1 and (len(text) > MAX_LETTERS or _is_idle(said[-1])):
        said.pop()
        text = _joined(said, short, others, label)
    return text


def _is_idle(phrase: Phrase) -> bool:
    """Tell whether a phrase says no more than that a value is as usual, or nothing but the value."""
    return phrase.kind == "value" and phrase.numbers[0].kind != "category" and not phrase.numbers[0].direction


def _is_usual(phrase: Phrase) -> bool:
    """Tell whether a phrase says that a value is within what is usual."""
    return _is_idle(phrase) and bool(phrase.numbers[0].has_range)


def _joined(phrases: Sequence[Phrase], names: Sequence[str], others: str, label: Callable[[int], str]) -> str:
    """Return a sentence that says all phrases in their order."""
    parts: list[str] = []
    said: list[str] = []
    lead: list[Phrase] = []
    for phrase in phrases:
        kind = phrase.kind
        if kind in LEADING:
            if lead and lead[-1].criteria != phrase.criteria:
                parts.append(_lead_text(lead, names, others))
                lead = []
            lead.append(phrase)
            continue
        if kind == "match":
            parts[-1] += f", though {_counted(phrase.numbers[0], 'matches', 'match')} exactly"
        elif kind == "nearest":
            named = f"in {_names(phrase, names)}: {', '.join(map(label, phrase.numbers))}"
            parts.append(named if "nearest" in said else f"nearest {named}")
        else:
            text = _text(phrase, names, others, said, is_named=_is_named(lead, names))
            if lead:
                text = f"{_lead_text(lead, names, others)}{', but ' if _is_usual(lead[-1]) else ': '}{text}"
                lead = []
            parts.append(text)
        said.append(kind)
    text = "; ".join([*parts, _lead_text(lead, names, others)] if lead else parts)
    return f"{text}." if _starts_with_name(phrases[0]) else f"{text[0].upper()}{text[1:]}."


def _lead_text(phrases: Sequence[Phrase], names: Sequence[str], others: str) -> str:
    """Return what a sample has in a criterion."""
    return enumerated([_value_words(phrase, names, others) for phrase in phrases])


def _value_words(phrase: Phrase, names: Sequence[str], others: str) -> str:
    if phrase.kind == "value":
        return value_text(phrase.numbers[0], others)
    name = names[phrase.criteria[0]]
    if phrase.kind == "along":
        return f"{name} is farthest from its nearest at point {phrase.numbers[0]:,} of {phrase.numbers[1]:,}"
    own, nearest = phrase.numbers
    if own == nearest:
        return f"{name} {shortened(own, TEXT_LETTERS)!r}"
    return f"{name} {shortened(own, TEXT_LETTERS)!r} is nearest to {shortened(nearest, TEXT_LETTERS)!r}"


def _is_named(phrases: Sequence[Phrase], names: Sequence[str]) -> bool:
    """Tell whether what was said of a criterion names it: a column does that has its name."""
    if not phrases or phrases[0].kind != "value":
        return bool(phrases)
    column, name = shortened(phrases[0].numbers[0].name), names[phrases[0].criteria[0]]
    return len(phrases) == 1 and (column == name or name.startswith(f"{column} ("))


def _starts_with_name(phrase: Phrase) -> bool:
    """Tell whether the words of a phrase start with a name, which stays as it is."""
    return phrase.kind in ("unusual", *LEADING) or (phrase.kind == "ordinary" and len(phrase.criteria) == 1)


def _text(phrase: Phrase, names: Sequence[str], others: str, said: Sequence[str], *, is_named: bool) -> str:
    """Return one phrase in words; `said` are the kinds of those before it, which may have named its criterion."""
    kind, numbers = phrase.kind, phrase.numbers
    if kind in ("typical", "uncalled", "called"):
        verdict = {
            "typical": "ordinary",
            "uncalled": "not strange enough to be called",
            "called": "beyond the threshold",
        }[kind]
        return f"{verdict} (p = {shown(numbers[0])})"
    if kind == "unusual":
        too = " too" if said and said[0] not in ("uncalled", "called") else ""
        return f"{_names(phrase, names)} {'is' if len(phrase.criteria) == 1 else 'are'} unusual{too}"
    if kind == "together":
        return f"the {numbers[0].n_samples} nearest in {names[phrase.criteria[0]]} {beside_text(numbers[0])}"
    if kind == "ordinary":
        return _ordinary(phrase, names)
    if kind == "least":
        return f"least ordinary: {value_text(numbers[0], others)}"
    where = "" if is_named else _where(phrase, names)
    if kind == "local":
        return f"farther from its {numbers[0]} nearest{where} than these are from theirs"
    *counts, n_samples, of = numbers
    adjective = "as odd" if len(phrase.criteria) < len(names) or len(names) == 1 else "as strange"
    if kind == "far":
        adjective = "as far"
    nearest = ""
    if counts:
        whose = "its" if n_samples < 2 else "their"
        nearest = f" from {whose} nearest" if counts[0] == 1 else f" from {whose} {counts[0]} nearest"
    if not n_samples:
        return f"no {others} sample is {adjective}{nearest}{where}"
    whom = "others" if others == "other" else f"{others} samples"
    only = "only " if n_samples <= FEW * of else ""
    return f"{only}{n_samples:,} of {of:,} {whom} {'is' if n_samples == 1 else 'are'} {adjective}{nearest}{where}"


def _where(phrase: Phrase, names: Sequence[str]) -> str:
    """Return in which criteria, all of which are not named one by one."""
    if len(phrase.criteria) == 1:
        return f" in {_names(phrase, names)}"
    which = "all criteria" if len(phrase.criteria) == len(names) > 2 else _names(phrase, names)
    return f" in {which} together"


def _ordinary(phrase: Phrase, names: Sequence[str]) -> str:
    """Return which criteria are ordinary: the name of one, the number of several."""
    n_ordinary, n_criteria = len(phrase.criteria), len(names)
    if n_ordinary == 1:
        return f"{_names(phrase, names)} is ordinary"
    if n_ordinary == n_criteria:
        return "each criterion alone is ordinary"
    return f"{n_ordinary} other criteria are ordinary"


def _names(phrase: Phrase, names: Sequence[str]) -> str:
    """Return the names of a phrase's criteria."""
    words = [names[criterion] for criterion in phrase.criteria]
    if len(words) > N_LISTED:
        words = [*words[: N_LISTED - 1], f"{len(words) - N_LISTED + 1} more"]
    return enumerated(words)


def _counted(n_samples: int, one: str, many: str) -> str:
    return f"{n_samples:,} {one if n_samples == 1 else many}"


def shortened(text: str, n_letters: int = NAME_LETTERS) -> str:
    """Return a text that is cut if it is long."""
    return text if len(text) <= n_letters else f"{text[: n_letters - 1]}…"


def shown(p_value: float) -> str:
    """Return a p-value with the digits that matter."""
    return f"{p_value:.2g}"


def enumerated(words: Sequence[str]) -> str:
    """Return 'a', 'a and b' or 'a, b and c'."""
    return " and ".join([", ".join(words[:-1]), words[-1]]) if len(words) > 1 else words[0]


def html_table(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table for notebooks, its text escaped."""
    lines = [_html_row("th", headings), *(_html_row("td", row) for row in rows)]
    return f"<table>{''.join(lines)}</table>"


def _html_row(tag: str, cells: Sequence[str]) -> str:
    return f"<tr>{''.join(f'<{tag}>{html.escape(cell)}</{tag}>' for cell in cells)}</tr>"
