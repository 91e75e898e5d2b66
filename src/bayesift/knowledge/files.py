"""Knowledge as YAML or JSON: plain mappings, lists, texts and numbers.

Nothing that is read is run.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import yaml

from bayesift.errors import DataError
from bayesift.files import whole_file


def read_plain(path: Path) -> Any:
    """Read a YAML or (by its suffix) JSON file; a name that stands twice is refused."""
    try:
        content = path.read_text(encoding="utf-8")
        if path.suffix == ".json":
            return json.loads(content, object_pairs_hook=_once)
        return yaml.load(content, Loader=_Loader)  # noqa: S506 (a safe loader)
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"cannot be read ({_reason(error)})", file=path) from error
    except DataError as error:
        raise DataError(error.message, file=path) from error
    except json.JSONDecodeError as error:
        raise DataError(f"not JSON ({error.msg})", file=path, line=error.lineno) from error
    except yaml.MarkedYAMLError as error:
        line = None if error.problem_mark is None else error.problem_mark.line + 1
        raise DataError(f"not YAML ({error.problem})", file=path, line=line) from error
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        raise DataError(f"not YAML ({_reason(error)})", file=path) from error


def write_plain(plain: Any, path: Path) -> None:
    """Write what `read_plain` reads; the file is written whole or not at all."""
    if path.suffix == ".json":
        text = json.dumps(plain, indent=2, ensure_ascii=False) + "\n"
    else:
        # PyYAML folds the line ends of other alphabets that it does not escape.
        readable = not any(
            end in json.dumps(plain, ensure_ascii=False) for end in "\x85\u2028\u2029"
        )
        text = yaml.safe_dump(plain, allow_unicode=readable, sort_keys=False)
    with whole_file(path) as stream:
        stream.write(text.encode())


class _Loader(yaml.SafeLoader):
    """A safe loader that refuses aliases, and keys that stand twice."""

    def compose_node(self, parent: Any, index: Any) -> Any:
        if self.check_event(yaml.AliasEvent):
            raise yaml.constructor.ConstructorError(
                None, None, "no aliases, please", self.peek_event().start_mark
            )
        return super().compose_node(parent, index)

    def construct_mapping(self, node: Any, deep: bool = False) -> dict[Any, Any]:
        seen = set()
        for key, _ in node.value if isinstance(node, yaml.MappingNode) else ():
            if isinstance(key, yaml.ScalarNode):
                if key.value in seen:
                    raise yaml.constructor.ConstructorError(
                        None, None, f"{key.value!r} stands twice", key.start_mark
                    )
                seen.add(key.value)
        content: dict[Any, Any] = super().construct_mapping(node, deep=deep)
        return content


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    content = dict(pairs)
    if len(content) != len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise DataError(f"{twice!r} stands twice")
    return content


def _reason(error: BaseException) -> str:
    return getattr(error, "strerror", None) or " ".join(str(error).split())
