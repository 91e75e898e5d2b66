"""Text of HTML."""

from __future__ import annotations

import html
import re

# A tag ends at its first ">" outside of a quoted value and holds no "<", so that "a < b" and "<3"
# stay, and no text is read twice however many tags are left open.
_BODY = r"""(?:[^<>=]|=\s*+"[^"<]*+"|=\s*+'[^'<]*+'|=)*+>"""
_INLINE = (
    "a|abbr|acronym|b|bdi|bdo|big|cite|code|data|del|dfn|em|font|i|ins|kbd|mark|nobr|q|rp|rt|ruby|s"
    "|samp|small|span"
)
_INLINE += "|strike|strong|sub|sup|time|tt|u|var|wbr"
_UNSEEN = re.compile(
    r"<!--(?:-?>|.*?(?:--!?>|\Z))"
    rf"|<(script|style)(?=[\s/>]){_BODY}.*?(?:</\1(?=[\s/>])[^>]*+(?:>|\Z)|\Z)"
    rf"|</?(?:{_INLINE})(?=[\s/>]){_BODY}",
    re.DOTALL | re.IGNORECASE,
)
_BREAK = re.compile(rf"</?[a-z]{_BODY}|<[!?][^<>]*+>", re.IGNORECASE)


def strip_html(text: str) -> str:
    """Return the text of HTML, entities as characters.

    Tags become spaces, those within a line of text nothing.

    Comments, scripts and styles are left out, to the end of the text if they are not closed, as
    browsers do.

    Examples
    --------
    >>> strip_html("<h1>Corn &amp; wheat</h1><p>pri<b>ces</b> &lt; 3<script>x = '<p>'</script>")
    ' Corn & wheat  prices < 3'
    """
    if "<" in text:
        text = _BREAK.sub(" ", _UNSEEN.sub("", text))
    return html.unescape(text) if "&" in text else text
