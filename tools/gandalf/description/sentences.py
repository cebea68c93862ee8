# SPDX-License-Identifier: Apache-2.0
"""What is wrong with a field of a description (description.py), said in its own words."""

import difflib
import re
from typing import Any

from pydantic import BaseModel


def article(value: object) -> str:
    """Return what a value of a description is called."""
    match value:
        case bool():
            return "true or false"
        case str():
            return f'"{value}"'
        case dict():
            return "a table"
        case list():
            return "a list"
        case _:
            return str(value)


_EXPECTED = {
    "int_type": "a whole number",
    "string_type": "text in quotation marks",
    "bool_type": "true or false",
    "list_type": "a list in square brackets",
    **dict.fromkeys(("model_type", "model_attributes_type", "dict_type"), "a table"),
}


def _more(pattern: str) -> str:
    """Return how many characters may follow the first, by the pattern of a name."""
    found = re.search(r"\{0,(\d+)\}", pattern)
    assert found is not None
    return found[1]


def sentence(error: Any, model: type[BaseModel], inner: type[BaseModel]) -> str:
    """Turn one of Pydantic's errors into a sentence in the words of the description.

    model: of the table that it is about. inner: of a table in that.
    """
    names = [part for part in error["loc"] if isinstance(part, str)]
    is_item = isinstance(error["loc"][-1], int)
    name = f"{names[-1]}[{error['loc'][-1]}]" if is_item else names[-1]
    value, context, kind = error["input"], error.get("ctx", {}), error["type"]
    if kind == "missing":
        return f"The field `{name}` is missing; docs/system-description.md explains it."
    if kind == "extra_forbidden":
        known = list(model.model_fields if len(names) == 1 else inner.model_fields)
        near = difflib.get_close_matches(name, known, 1)
        hint = f"did you mean `{near[0]}`?" if near else f"known are {', '.join(known)}."
        return f"There is no field `{name}` here; {hint}"
    if kind == "literal_error":
        choices = context["expected"].replace("'", '"')
        return f"`{name}` must be {choices}, not {article(value)}."
    if kind in ("greater_than_equal", "less_than_equal"):
        limit = f"at least {context['ge']}" if "ge" in context else f"at most {context['le']}"
        return f"`{name}` must be {limit}, not {value}."
    if kind == "string_pattern_mismatch":
        return (
            f"`{name}` must be a small letter and up to {_more(context['pattern'])} more of a-z, "
            f'0-9, "-" and "_", '
            f"not {article(value)}."
        )
    if kind in _EXPECTED:
        return f"`{name}` must be {_EXPECTED[kind]}, not {article(value)}."
    reason = str(context["error"]) if "error" in context else error["msg"]
    return f"`{name}` {reason}; it is {article(value)}."
