"""The available metrics, as rows of a table and as tables in Markdown."""

from __future__ import annotations

from paretodepth._checks import check_choice
from paretodepth.criteria.metrics import METRICS
from paretodepth.criteria.metrics.metric import KINDS, REQUIRED, Metric, Parameter


def catalogue() -> list[tuple[str, ...]]:
    """Return kind, name, summary, parameters and the extra to install of each metric.

    Examples
    --------
    >>> from paretodepth.criteria.catalogue import catalogue
    >>> next(row for row in catalogue() if row[1] == "jaro_winkler")[4]
    'paretodepth[text]'
    """
    return [
        (
            metric.kind,
            metric.name,
            metric.summary,
            ", ".join(map(_signature, metric.parameters)),
            f"paretodepth[{metric.extra[1]}]" if metric.extra else "",
        )
        for metric in METRICS.values()
    ]


def _signature(parameter: Parameter) -> str:
    return parameter.name if parameter.default is REQUIRED else f"{parameter.name}={parameter.default}"


def metrics_in_markdown() -> str:
    """Return the metrics as tables in Markdown, a section a kind."""
    return "\n".join(map(metrics_section, KINDS))


def metrics_section(kind: str) -> str:
    """Return the heading and the table of the metrics of a kind in Markdown, and their parameters below it."""
    check_choice(kind, "kind", list(KINDS), "metrics_section")
    metrics = [metric for metric in METRICS.values() if metric.kind == kind]
    lines = [f"### {kind.capitalize()}", "", f"Reads {KINDS[kind]}.", ""]
    lines += ["| metric | two samples are unlike by | ignores missing | from |", "|---|---|---|---|"]
    lines += [
        f"| `{metric.name}` | {metric.summary} | {'yes' if metric.ignores_missing else ''} | {_origin(metric)} |"
        for metric in metrics
    ]
    parameters = [(metric, parameter) for metric in metrics for parameter in metric.parameters]
    if parameters:
        lines += ["", "Parameters:", ""]
    lines += [f"- `{metric.name}`: `{_signature(parameter)}`, {parameter.summary}" for metric, parameter in parameters]
    return "\n".join(lines) + "\n"


def _origin(metric: Metric) -> str:
    return f'{metric.source}, `pip install "paretodepth[{metric.extra[1]}]"`' if metric.extra else metric.source
