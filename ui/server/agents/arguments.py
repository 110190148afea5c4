"""Checks the arguments of an agent's call, and says in one sentence which is wrong. Needs the package mcp."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from mcp.server.mcpserver.exceptions import ToolError
from mcp.server.mcpserver.tools.base import Tool
from pydantic import ValidationError

from decoding.parameters.parameter import quoted
from model.errors import did_you_mean

_FORMS = {  # what an argument must be, in words, if it isn't a text
    "max_new_tokens": "a whole number",
    "settings": "an object of settings by name",
    "history": 'a list of {"role": "user" or "assistant", "content": text}',
}


class CheckedTool(Tool):
    """A tool that refuses wrong arguments, which the SDK would answer with the report of a library."""

    async def run(self, arguments: dict[str, Any], context: Any, convert_result: bool = False) -> Any:
        """See `Tool.run`."""
        try:
            self.fn_metadata.validate_arguments(arguments)
        except ValidationError as error:
            raise ToolError(_refusal(error, arguments, self.fn_metadata.arg_model.model_fields)) from error
        return await super().run(arguments, context, convert_result)


def _refusal(error: ValidationError, arguments: Mapping[str, Any], known: Collection[str]) -> str:
    *_, last = error.errors(include_url=False)  # unknown arguments come last, after those that they may replace
    name = str(last["loc"][0])
    form = _FORMS.get(name, "a text")
    if name not in known:
        way_out = did_you_mean(name, known) or f"there are {', '.join(known)}."
        return f"There is no argument {quoted(name)}: {way_out}"
    if name not in arguments:
        return f"{name} is missing: give {form}."
    return f"{name} is {quoted(arguments[name])}, but must be {form}."
