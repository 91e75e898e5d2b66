"""Writes http-api.md: every route of the service with its parameters, body and answer."""

import tempfile
from pathlib import Path

from bayesift.service import Service, ServiceSettings, create_app
from bayesift.service.api_page import Body, Route, described_routes

PAGE = Path(__file__).with_name("http-api.md")
_HEAD = """# HTTP API

Every route of the service, made from its OpenAPI description, which a running service answers at
`/openapi.json`, and as a page at `/docs`. Bodies and answers are JSON unless another type is named;
errors are `application/problem+json` with one sentence in `detail`. [Roles](roles.md) says what
each needs.
"""


def http_page() -> str:
    """Return the page as Markdown."""
    with tempfile.TemporaryDirectory() as folder:
        service = Service(ServiceSettings(folder=Path(folder)))
        description = create_app(service).openapi()
        service.close()
    parts = [_HEAD]
    by_tag: dict[str, list[str]] = {}
    for route in described_routes(description):
        by_tag.setdefault(route.tag, []).append(_section(route))
    for tag, routes in by_tag.items():
        parts += [f"## {tag.capitalize()}\n", *routes]
    return "\n".join(parts)


def _section(route: Route) -> str:
    lines = [f"### `{route.request}`\n", route.text + "\n"]
    for query in route.queries:
        needed = "" if query.is_required else ", optional"
        shown = f"- query `{query.name}`: {query.kind}{needed}"
        lines.append(f"{shown}. {query.text}".rstrip(" ."))
    for body in route.bodies:
        lines += _body(body)
    return "\n".join(lines) + "\n"


def _body(body: Body) -> list[str]:
    lines = [f"- {body.role}: {body.kind}"]
    for field in body.fields:
        optional = "" if field.is_required else ", optional"
        lines.append(f"    - `{field.name}`: {field.kind}{optional}")
    return lines


if __name__ == "__main__":
    PAGE.write_text(http_page())
