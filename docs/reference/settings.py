"""Writes settings.md: every setting of the service, from the classes that hold them."""

import re
from dataclasses import MISSING, fields
from inspect import getdoc
from pathlib import Path
from typing import Any

import typer

from bayesift.cli.app import app
from bayesift.service import ServiceSettings
from bayesift.service.access.single_sign_on import SingleSignOn

PAGE = Path(__file__).with_suffix(".md")
_HEAD = """# Settings of the service

What `bayesift serve` takes as an option or from the environment, and what `ServiceSettings` takes
in Python besides. What differs from the default is kept in the
[audit trail](../explanation/service-guarantees.md#audit-trail) at the start, without secrets.
"""
# Options that have another name than their field.
_OPTIONS = {
    "folder": "data",
    "issuer": "oidc_issuer",
    "client_id": "oidc_client_id",
    "scope": "oidc_scope",
    "roles": "role",
}
_ENVIRONMENT = {"secret": "BAYESIFT_OIDC_SECRET"}


def settings_page() -> str:
    """Return the page as Markdown."""
    group: Any = typer.main.get_command(app)
    options = {option.name: option for option in group.commands["serve"].params}
    parts = [_HEAD]
    for title, kind in (("Service", ServiceSettings), ("Single sign-on", SingleSignOn)):
        parts += [f"## {title}\n", "| setting | default | `bayesift serve` | meaning |"]
        parts.append("|---|---|---|---|")
        meanings = _meanings(kind)
        for field in fields(kind):
            given = _given(field.name, options)
            meaning = meanings[field.name]
            parts.append(f"| `{field.name}` | {_default(field)} | {given} | {meaning} |")
        parts.append("")
    return "\n".join(parts).rstrip() + "\n"


def _meanings(kind: type) -> dict[str, str]:
    """Return what the docstring of a class says of its parameters."""
    text = (getdoc(kind) or "").partition("Parameters\n----------\n")[2]
    found = {}
    for entry in re.split(r"\n(?=\S)", text):
        names, _, meaning = entry.partition(" : ")
        for name in names.split(", "):
            found[name] = " ".join(meaning.split())
    return found


def _default(field: Any) -> str:
    if field.default is MISSING:
        return ""
    is_number = isinstance(field.default, int) and not isinstance(field.default, bool)
    return f"{field.default:,}" if is_number else f"`{field.default}`" if field.default else ""


def _given(name: str, options: dict[Any, Any]) -> str:
    option = options.get(_OPTIONS.get(name, name))
    if option is None:
        return f"`{_ENVIRONMENT[name]}`" if name in _ENVIRONMENT else ""
    shown = [max(option.opts, key=len)]
    if isinstance(option.envvar, str):
        shown.append(option.envvar)
    return ", ".join(f"`{one}`" for one in shown)


if __name__ == "__main__":
    PAGE.write_text(settings_page())
