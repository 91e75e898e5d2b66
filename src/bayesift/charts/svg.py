"""Markup that escapes whatever is put into it, and the base of all charts.

The colours stand in `chart.css`, as variables that a page may set otherwise (a report does in dark
mode).
"""

from __future__ import annotations

import base64
import re
import textwrap
from collections.abc import Iterable
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import NamedTuple, TypeAlias

import markupsafe
from markupsafe import Markup

from bayesift.errors import DataError
from bayesift.files import whole_file

Child: TypeAlias = "str | int | float | Iterable[Child] | None"
Attribute: TypeAlias = "str | int | float | None"

N_COLOURS = 6
_LINE = 18

# What HTML forbids: controls except tab and line feed, lone surrogates, noncharacters.
_FORBIDDEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff]")


class Key(NamedTuple):
    """One entry of a legend: the CSS class of its line, the name, and a value to show beside it."""

    style: str
    name: str
    value: str = ""


class Chart:
    """A drawing in SVG with a title, a caption (how to read it) and a legend."""

    title: str
    caption: str = ""

    @property
    def legend(self) -> tuple[Key, ...]:
        """The entries of the legend."""
        return ()

    @property
    def svg(self) -> Markup:
        """The drawing for a page that has the colours and the legend."""
        raise NotImplementedError

    def to_svg(self) -> str:
        """Return the drawing as a complete SVG file, with its title, its legend and its colours."""
        drawn = self.svg
        width, height = map(int, re.findall(r'viewBox="0 0 (\d+) (\d+)"', drawn)[0])
        lines = textwrap.wrap(clean(self.title), width // 8)[::-1]
        title = [
            tag("text", line, class_="axis", x=10, y=-10 - _LINE * i)
            for i, line in enumerate(lines)
        ]
        rows = [
            _legend_row(key, height + _LINE * i - 6) for i, key in enumerate(self.legend, 1)
        ]
        top = -(_LINE * len(lines) + 10)
        total = height + _LINE * (len(lines) + len(rows)) + 16
        opened = (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 {top} {width} {total}" '
            f'width="{1.5 * width:g}" role="img" class="chart"><style>{_style()}</style>'
        )
        return (
            f"{opened}{drawn.partition('>')[2].removesuffix('</svg>')}{join(title, rows)}</svg>\n"
            ""
        )

    def save(self, path: str | Path) -> None:
        """Write the chart as an SVG file."""
        if Path(path).suffix.lower() != ".svg":
            raise DataError(
                "charts are SVG files: choose a name that ends in .svg", file=Path(path)
            )
        with whole_file(Path(path), "w") as stream:
            stream.write(self.to_svg())

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.title!r})"

    def _repr_svg_(self) -> str:
        return self.to_svg()

    def _repr_html_(self) -> str:
        """Return an image, so that the styles of chart and notebook do not mix."""
        encoded = base64.b64encode(self.to_svg().encode()).decode()
        return f'<img src="data:image/svg+xml;base64,{encoded}">'


def clean(text: str) -> str:
    """Replace the characters that HTML forbids by U+FFFD."""
    return _FORBIDDEN.sub("\ufffd", text.replace("\r\n", "\n").replace("\r", "\n"))


def escape(value: object) -> Markup:
    """Text that markup shows as it is, in elements and in quoted attributes.

    `Markup` stays as it is.
    """
    return value if isinstance(value, Markup) else markupsafe.escape(clean(str(value)))


def shortened(text: str, longest: int = 80) -> str:
    """Cut a text to about this length."""
    return text if len(text) <= longest else text[:longest] + "…"


def join(*children: Child) -> Markup:
    """Children one after the other, escaped; None adds nothing."""
    return Markup("").join(_pieces(children))


def tag(name: str, /, *children: Child, **attributes: Attribute) -> Markup:
    """One element; underscores in attributes become hyphens, None leaves an attribute out."""
    given = (
        (key.rstrip("_").replace("_", "-"), value)
        for key, value in attributes.items()
        if value is not None
    )
    opened = "".join(f' {key}="{escape(value)}"' for key, value in given)
    return Markup(f"<{name}{opened}>{join(children)}</{name}>")  # noqa: S704  every part is escaped


def drawing(
    title: str, width: int, height: int, *children: Child, description: str = ""
) -> Markup:
    """Return the root of a chart, with its title and description for those who cannot see it."""
    described = tag("desc", description) if description else None
    box = f"0 0 {width} {height}"
    return tag(
        "svg",
        tag("title", title),
        described,
        *children,
        viewBox=box,
        role="img",
        class_="chart",
    )


def series(number: int) -> str:
    """Return the CSS class of a series; colours repeat after the sixth."""
    return f"series-{number % N_COLOURS + 1}"


def chart_css() -> str:
    """Return the style of charts, with the light palette."""
    return files("bayesift.charts").joinpath("chart.css").read_text(encoding="utf-8")


def _pieces(children: Iterable[Child]) -> Iterable[Markup]:
    for child in children:
        if child is None:
            continue
        if isinstance(child, str | int | float):
            yield escape(child)
        else:
            yield from _pieces(child)


def _legend_row(key: Key, y: int) -> Markup:
    text = shortened(f"{key.name} ({key.value})" if key.value else key.name, 60)
    line = tag("line", class_=f"key {key.style}", x1=52, y1=y - 4, x2=88, y2=y - 4)
    return join(line, tag("text", text, x=96, y=y))


@cache
def _style() -> str:
    """Return the style with its variables filled in: not every SVG viewer knows variables."""
    palette, rules = re.findall(r":root \{(.*?)\}\n(.*)", chart_css(), re.S)[0]
    colours = dict(re.findall(r"--([\w-]+): (#\w{6})", palette))
    filled = re.sub(r"var\(--([\w-]+)\)", lambda found: colours[found[1]], rules)
    return f".chart{{font-family:sans-serif;background:{colours['surface']}}}\n{filled}"
