"""Write the types of the service's API for the checks of the page.

    python tools/page_types.py [out/page/api.d.ts]

Every schema of the OpenAPI description becomes an interface of the global namespace `Api`, so that
the page can name it in comments (`@returns {Promise<Api.FilterOut>}`) without an import. We write
this ourselves because openapi-typescript needs an older TypeScript than the one that checks.
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path
from typing import Any

from bayesift.service import Service, ServiceSettings, create_app

TARGET = Path("out/page/api.d.ts")
_PLAIN = {
    "string": "string",
    "integer": "number",
    "number": "number",
    "boolean": "boolean",
    "null": "null",
}


def type_of(schema: dict[str, Any]) -> str:
    """Return the TypeScript type of a JSON schema.

    Examples
    --------
    >>> type_of({"anyOf": [{"type": "integer"}, {"type": "null"}]})
    'number | null'
    >>> type_of({"type": "array", "items": {"enum": ["a", "b"]}})
    '("a" | "b")[]'
    """
    if "$ref" in schema:
        return str(schema["$ref"]).rsplit("/", 1)[1]
    if "const" in schema:
        return json.dumps(schema["const"])
    if "enum" in schema:
        return " | ".join(json.dumps(value) for value in schema["enum"])
    if "anyOf" in schema:
        return " | ".join(type_of(part) for part in schema["anyOf"])
    kind = schema.get("type")
    if kind == "array":
        if "prefixItems" in schema:
            return f"[{', '.join(type_of(part) for part in schema['prefixItems'])}]"
        item = type_of(schema.get("items", {}))
        return f"({item})[]" if " " in item else f"{item}[]"
    if kind == "object":
        values = schema.get("additionalProperties")
        return f"Record<string, {type_of(values) if isinstance(values, dict) else 'any'}>"
    return _PLAIN.get(str(kind), "any")


def interface(name: str, schema: dict[str, Any]) -> str:
    """Return the interface of a schema; what an answer always holds is not optional."""
    required = set(schema.get("required", ()))
    is_answer = not name.endswith(("In", "Change", "Query", "Example"))
    lines = [f"  interface {name} {{"]
    for field, described in schema.get("properties", {}).items():
        mark = "" if field in required or is_answer else "?"
        lines.append(f"    {field}{mark}: {type_of(described)};")
    return "\n".join([*lines, "  }"])


def main(target: Path = TARGET) -> None:
    """Write the file."""
    with tempfile.TemporaryDirectory() as folder:
        service = Service(ServiceSettings(folder=Path(folder)))
        description = create_app(service).openapi()
        service.close()
    schemas = description["components"]["schemas"]
    parts = [interface(name, schema) for name, schema in sorted(schemas.items())]
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(
        "declare namespace Api {\n" + "\n".join(parts) + "\n}\n", encoding="utf-8"
    )


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
