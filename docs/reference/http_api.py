"""Writes http-api.md: every route of the service with its parameters, body and answer."""

import tempfile
from pathlib import Path
from typing import Any

from bayesift.service import Service, ServiceSettings, create_app

PAGE = Path(__file__).with_name("http-api.md")
_HEAD = """# HTTP API

Every route of the service, made from its OpenAPI description, which a running service answers at
`/openapi.json`. Bodies and answers are JSON unless another type is named; errors are
`application/problem+json` with one sentence in `detail`. [Roles](roles.md) says what each needs.
"""
_JSON = "application/json"


def http_page() -> str:
    """Return the page as Markdown."""
    with tempfile.TemporaryDirectory() as folder:
        service = Service(ServiceSettings(folder=Path(folder)))
        description = create_app(service).openapi()
        service.close()
    schemas = description["components"]["schemas"]
    parts = [_HEAD]
    by_tag: dict[str, list[str]] = {}
    for path, methods in description["paths"].items():
        for method, operation in methods.items():
            tag = operation.get("tags", ["other"])[0]
            by_tag.setdefault(tag, []).append(_route(path, method, operation, schemas))
    for tag, routes in by_tag.items():
        parts += [f"## {tag.capitalize()}\n", *routes]
    return "\n".join(parts)


def _route(path: str, method: str, operation: dict[str, Any], schemas: dict[str, Any]) -> str:
    lines = [f"### `{method.upper()} {path}`\n", operation.get("description", "") + "\n"]
    for parameter in operation.get("parameters", ()):
        if parameter["in"] != "query":
            continue
        needed = "" if parameter.get("required") else ", optional"
        told = parameter.get("description", "")
        shown = f"- query `{parameter['name']}`: {_type(parameter['schema'])}{needed}"
        lines.append(f"{shown}. {told}".rstrip(" ."))
    content = operation.get("requestBody", {}).get("content", {})
    lines += _bodies("body", content, schemas)
    for status, answer in operation["responses"].items():
        if status.startswith("2"):
            lines += _bodies("answer", answer.get("content", {}), schemas)
    return "\n".join(lines) + "\n"


def _bodies(kind: str, content: dict[str, Any], schemas: dict[str, Any]) -> list[str]:
    lines = []
    for media_type, body in content.items():
        if media_type != _JSON:
            lines.append(f"- {kind}: `{media_type}`")
            continue
        schema = body.get("schema", {})
        lines.append(f"- {kind}: {_type(schema)}")
        name = _name(schema) or _name(schema.get("items", {}))
        for field, described in schemas.get(name, {}).get("properties", {}).items():
            required = kind == "answer" or field in schemas[name].get("required", ())
            lines.append(
                f"    - `{field}`: {_type(described)}{'' if required else ', optional'}"
            )
    return lines


def _name(schema: dict[str, Any]) -> str:
    return str(schema.get("$ref", "")).rsplit("/", 1)[-1]


def _type(schema: dict[str, Any]) -> str:
    """Return a type in words."""
    if "$ref" in schema:
        return _name(schema)
    if "enum" in schema:
        return " or ".join(f"`{value}`" for value in schema["enum"])
    if "const" in schema:
        return f"`{schema['const']}`"
    if "anyOf" in schema:
        return " or ".join(_type(part) for part in schema["anyOf"])
    if schema.get("type") == "array":
        return f"list of {_type(schema.get('items', {}))}"
    return str(schema.get("type", "anything"))


if __name__ == "__main__":
    PAGE.write_text(http_page())
