"""HTML as nested calls; the one place of the report that escapes.

Whatever is not `Markup` is escaped on its way in, so that no caller can forget to.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from html import escape as escape_html
from typing import TypeAlias

Child: TypeAlias = "str | int | float | Iterable[Child] | None"
Attribute: TypeAlias = "str | int | float | bool | None"

# What HTML forbids: controls except tab and line feed, lone surrogates, noncharacters.
_FORBIDDEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff]")
_VOID = frozenset({"br", "meta", "wbr"})
_BREAKS = re.compile(r"(?<=[._/@:-])(?=\w)")


class Markup(str):
    """Text that is HTML already.

    Examples
    --------
    >>> element("p", Markup("<br>"), "<br>")
    '<p><br>&lt;br&gt;</p>'
    """

    __slots__ = ()


def escape(value: object) -> Markup:
    r"""Text that HTML shows as it is, in elements and in quoted attributes; forbidden characters become U+FFFD.

    Examples
    --------
    >>> escape('<b title="x">Tom & \'Jerry\'</b>')
    '&lt;b title=&quot;x&quot;&gt;Tom &amp; &#x27;Jerry&#x27;&lt;/b&gt;'
    >>> escape("a\x00b") == "a\ufffdb"
    True
    """
    if isinstance(value, Markup):
        return value
    text = str(value).replace("\r\n", "\n").replace("\r", "\n")
    return Markup(escape_html(_FORBIDDEN.sub("\ufffd", text), quote=True))


def join(*children: Child) -> Markup:
    """Children one after the other, escaped; None adds nothing.

    Examples
    --------
    >>> join("a < b", None, [element("br"), 3])
    'a &lt; b<br>3'
    """
    return Markup("".join(_pieces(children)))


def element(name: str, /, *children: Child, **attributes: Attribute) -> Markup:
    """One element; `class_` names the class, underscores in attributes become hyphens, None leaves an attribute out.

    Examples
    --------
    >>> element("a", "1 < 2", class_="note", data_value='"', hidden=True, title=None)
    '<a class="note" data-value="&quot;" hidden>1 &lt; 2</a>'
    """
    opened = f"<{name}{''.join(map(_attribute, attributes.items()))}>"
    return Markup(opened) if name in _VOID else Markup(f"{opened}{join(children)}</{name}>")


def shortened(text: str, longest: int = 80) -> str:
    """A text that is at most about so long.

    Examples
    --------
    >>> shortened("x" * 1000, 3)
    'xxx…'
    """
    return text if len(text) <= longest else text[:longest] + "…"


def name_of(thing: str, **attributes: Attribute) -> Markup:
    """A foreign name: apart from the direction of the text around it, broken where it may be, cut if absurd.

    Examples
    --------
    >>> name_of("rec.autos")
    '<bdi>rec.<wbr>autos</bdi>'
    """
    first, *others = _BREAKS.split(shortened(thing))
    return element("bdi", first, ([element("wbr"), part] for part in others), **attributes)


def _attribute(named: tuple[str, Attribute]) -> str:
    name, value = named
    if value is None or value is False:
        return ""
    hyphenated = name.rstrip("_").replace("_", "-")
    return f" {hyphenated}" if value is True else f' {hyphenated}="{escape(value)}"'


def _pieces(children: Iterable[Child]) -> Iterable[str]:
    for child in children:
        if child is None:
            continue
        if isinstance(child, str | int | float):
            yield escape(child)
        else:
            yield from _pieces(child)
