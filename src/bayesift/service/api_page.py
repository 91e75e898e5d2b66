"""The page `/docs` of a running service: its routes, from the OpenAPI description.

It is one page of plain HTML that loads nothing but our style, so that it works without internet.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from html import escape
from typing import Any, NamedTuple

_JSON = "application/json"
_HEAD = """<!doctype html>
<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>HTTP API · bayesift</title><link rel="stylesheet" href="/static/style.css">
<main class="api"><h1>HTTP API</h1>
<p>JSON in and out, <code>Authorization: Bearer TOKEN</code>; errors are
<code>application/problem+json</code> with one sentence in <code>detail</code>. Programs find the
same in <a href="/openapi.json">openapi.json</a>.</p>
"""


class Field(NamedTuple):
    """A parameter or a field of a body, with its type in words."""

    name: str
    kind: str
    is_required: bool
    text: str = ""


class Body(NamedTuple):
    """What is sent (`body`) or answered (`answer`)."""

    role: str
    kind: str
    fields: list[Field]


class Route(NamedTuple):
    """A route as the description has it."""

    tag: str
    request: str
    text: str
    queries: list[Field]
    bodies: list[Body]


def described_routes(description: Mapping[str, Any]) -> Iterator[Route]:
    """Yield the routes of an OpenAPI description."""
    schemas = description["components"]["schemas"]
    for path, methods in description["paths"].items():
        for method, operation in methods.items():
            queries = [
                Field(
                    one["name"],
                    type_in_words(one["schema"]),
                    one.get("required", False),
                    one.get("description", ""),
                )
                for one in operation.get("parameters", ())
                if one["in"] == "query"
            ]
            content = operation.get("requestBody", {}).get("content", {})
            bodies = list(_bodies("body", content, schemas))
            for status, answer in operation["responses"].items():
                if status.startswith("2"):
                    bodies += _bodies("answer", answer.get("content", {}), schemas)
            yield Route(
                operation.get("tags", ["other"])[0],
                f"{method.upper()} {path}",
                operation.get("description", ""),
                queries,
                bodies,
            )


def _bodies(
    role: str, content: Mapping[str, Any], schemas: Mapping[str, Any]
) -> Iterator[Body]:
    for media_type, body in content.items():
        if media_type != _JSON:
            yield Body(role, f"`{media_type}`", [])
            continue
        schema = body.get("schema", {})
        found = schemas.get(_name(schema) or _name(schema.get("items", {})), {})
        fields = []
        for name, described in found.get("properties", {}).items():
            is_required = role == "answer" or name in found.get("required", ())
            fields.append(Field(name, type_in_words(described), is_required))
        yield Body(role, type_in_words(schema), fields)


def _name(schema: Mapping[str, Any]) -> str:
    return str(schema.get("$ref", "")).rsplit("/", 1)[-1]


def type_in_words(schema: Mapping[str, Any]) -> str:
    """Return the type of a JSON schema in words.

    Examples
    --------
    >>> type_in_words({"type": "array", "items": {"enum": ["a", "b"]}})
    'list of `a` or `b`'
    """
    if "$ref" in schema:
        return _name(schema)
    if "enum" in schema:
        return " or ".join(f"`{value}`" for value in schema["enum"])
    if "const" in schema:
        return f"`{schema['const']}`"
    if "anyOf" in schema:
        return " or ".join(type_in_words(part) for part in schema["anyOf"])
    if schema.get("type") == "array":
        return f"list of {type_in_words(schema.get('items', {}))}"
    return str(schema.get("type", "anything"))


def api_page(description: Mapping[str, Any]) -> str:
    """Return the page as HTML."""
    by_tag: dict[str, list[Route]] = {}
    for route in described_routes(description):
        by_tag.setdefault(route.tag, []).append(route)
    parts = [_HEAD]
    for tag, routes in by_tag.items():
        parts.append(f"<h2>{escape(tag.capitalize())}</h2>\n")
        parts += map(_section, routes)
    return "".join([*parts, "</main></html>\n"])


def _section(route: Route) -> str:
    items = [f"<li>query {_item(field)}</li>\n" for field in route.queries]
    for body in route.bodies:
        items.append(
            f"<li>{body.role}: {_marked(body.kind)}{_list(map(_item, body.fields))}</li>\n"
        )
    text = "".join(f"<p>{_marked(part)}</p>\n" for part in route.text.split("\n\n"))
    return f"<h3><code>{escape(route.request)}</code></h3>\n{text}<ul>\n{''.join(items)}</ul>\n"


def _item(field: Field) -> str:
    optional = "" if field.is_required else ", optional"
    text = f". {field.text}" if field.text else ""
    return f"<code>{escape(field.name)}</code>: {_marked(field.kind + optional + text)}"


def _list(items: Iterable[str]) -> str:
    inside = "".join(f"<li>{item}</li>" for item in items)
    return f"<ul>{inside}</ul>" if inside else ""


def _marked(text: str) -> str:
    """Return text as HTML, with what is in backticks as code."""
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", escape(text))
