"""A page as a browser's parser sees it."""

from html.parser import HTMLParser

from bayesift.report.pages import _environment

VOID = {"br", "meta", "wbr"}


class Reader(HTMLParser):
    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.open, self.tags, self.attributes, self.texts, self.unbalanced = [], [], [], [], []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += [(tag, name, value) for name, value in attrs]
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.unbalanced.append(tag)

    def handle_data(self, data):
        if "style" not in self.open and "script" not in self.open:
            self.texts.append(data)

    @property
    def text(self):
        return "".join(self.texts)

    def values(self, name):
        return [value for _, found, value in self.attributes if found == name]


def macro(name, /, *arguments, **named):
    """What a macro of the templates makes of its arguments."""
    return getattr(_environment().get_template("macros.html").module, name)(*arguments, **named)


def read(page):
    reader = Reader()
    reader.feed(page)
    reader.close()
    assert not reader.unbalanced
    assert not reader.open
    return reader
