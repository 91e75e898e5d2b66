"""How the reference reads our docstrings: `name : description`, with types in the signature."""

from __future__ import annotations

from typing import Any

import griffe


class DescribedParameters(griffe.Extension):
    """Takes what numpydoc calls a type for the first line of the description."""

    def on_object(self, *, obj: griffe.Object, loader: Any, **_: Any) -> None:
        """Rewrite the sections of one docstring."""
        if obj.docstring is None:
            return
        sections = obj.docstring.parse("numpy", warnings=False)
        for section in sections:
            if isinstance(
                section, griffe.DocstringSectionParameters | griffe.DocstringSectionAttributes
            ):
                for element in section.value:
                    _describe(element, obj)
        obj.docstring.__dict__["parsed"] = sections


def _describe(element: Any, obj: griffe.Object) -> None:
    first = "" if element.annotation is None else str(element.annotation)
    element.description = " ".join(part for part in (first, element.description) if part)
    element.annotation = _annotation(element.name, obj)


def _annotation(name: str, obj: griffe.Object) -> Any:
    """Return the type as the signature has it."""
    function: Any = obj.members.get("__init__") if obj.is_class else obj
    try:
        return function.parameters[name].annotation
    except (AttributeError, KeyError):
        member = obj.members.get(name) if obj.is_class else None
        return getattr(member, "annotation", None)
