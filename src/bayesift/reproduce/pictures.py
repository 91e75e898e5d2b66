"""Drawings as files of their own: with their colours and their legend inside."""

from __future__ import annotations

from bayesift.report.axes import HEIGHT, WIDTH
from bayesift.report.curves import Plot
from bayesift.report.html import element, join

_COLOURS = ("#0b6bb0", "#b8480a", "#0a7a55", "#a23b78", "#86650a", "#5b5f66")
_DASHES = ("none", "7 3", "2 2", "9 3 2 3", "5 2", "1 3")
_STYLE = "".join(
    (
        "svg{font:12.5px sans-serif;background:#fff}",
        ".grid{stroke:#d8dde3}.axis{font-weight:600}.small{font-size:10.5px}.faint{fill:#57606a;font-size:11px}",
        ".series{fill:none;stroke-width:1.75}.ring{fill:#fff;stroke-width:1.75}.bar{fill:#0b6bb0}.on-bar{fill:#fff}",
        *(
            f".series-{place}{{stroke:{colour};stroke-dasharray:{dash}}}"
            for place, (colour, dash) in enumerate(zip(_COLOURS, _DASHES, strict=True), 1)
        ),
        ".ring{stroke-dasharray:none}",
    )
)
_LINE = 18


def standalone_svg(plot: Plot) -> str:
    """A drawing as an SVG file.

    Examples
    --------
    >>> from bayesift.report.curves import LinePlot
    >>> text = standalone_svg(LinePlot("Growth", "x", "y", {"plain": [(0, 1.0), (1, 2.0)]}))
    >>> text.startswith("<svg xmlns="), ">plain<" in text
    (True, True)
    """
    keys = []
    for place, name in enumerate(plot.names, 1):
        y = HEIGHT + _LINE * place - 6
        line = element("line", class_=f"series series-{place}", x1=52, y1=y - 4, x2=88, y2=y - 4)
        keys.append(join(line, element("text", name, x=96, y=y)))
    height = HEIGHT + _LINE * len(keys) + 6
    opened = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{1.5 * WIDTH:g}" role="img">'
    )
    inside = plot.svg.partition(">")[2].removesuffix("</svg>")
    return f"{opened}<style>{_STYLE}</style>{inside}{join(keys)}</svg>\n"
