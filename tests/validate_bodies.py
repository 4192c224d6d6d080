#!/usr/bin/env python3
"""Request bodies against the types of OpenAI's own Python package.

    SCRITORIO_TEST_BODIES=FOLDER cargo test
    python3 tests/validate_bodies.py FOLDER

Every `responses.*.json` and `chat.*.json` in FOLDER must be what the package's types say of a request, with no field and no type beyond
them. Ends with 0 when all are valid or the package is not installed, with 1 when one is not, with 2 when there is nothing to check.
"""

import importlib
import importlib.util
import json
import pathlib
import pkgutil
import sys
import typing

MODULES = ("openai.types.responses", "openai.types.chat", "openai.types.shared_params")


def validators():
    """Returns for each API what checks a body of it, with and without a stream."""
    # The types say `Iterable` where JSON has an array. Pydantic would look into such a one only when somebody walks through it.
    typing.Iterable = typing.List
    from pydantic import ConfigDict, TypeAdapter
    from typing_extensions import is_typeddict

    exact = ConfigDict(extra="forbid", strict=True, arbitrary_types_allowed=True)
    for package in map(importlib.import_module, MODULES):
        for found in pkgutil.walk_packages(package.__path__, package.__name__ + "."):
            for kind in vars(importlib.import_module(found.name)).values():
                if is_typeddict(kind):
                    kind.__pydantic_config__ = exact
    chat = importlib.import_module("openai.types.chat.completion_create_params")
    responses = importlib.import_module("openai.types.responses.response_create_params")
    return {
        ("chat", True): TypeAdapter(chat.CompletionCreateParamsStreaming),
        ("chat", False): TypeAdapter(chat.CompletionCreateParamsNonStreaming),
        ("responses", True): TypeAdapter(responses.ResponseCreateParamsStreaming),
        ("responses", False): TypeAdapter(responses.ResponseCreateParamsNonStreaming),
    }


def in_short(errors):
    """Tells what is wrong. What may be one of many kinds is wrong as each of them: those with another `type` or `role` are left out."""

    def place(one):
        return [part for part in one["loc"] if not (isinstance(part, str) and ("[" in part or part[0].isupper()))]

    def kind(one):
        return tuple(part for part in one["loc"] if part not in place(one))

    others = {kind(one) for one in errors if place(one)[-1] in ("type", "role") and one["type"] in ("literal_error", "missing")}
    near = [one for one in errors if kind(one) not in others] or errors
    return list(dict.fromkeys(f"{'.'.join(map(str, place(one)))}: {one['msg']}" for one in near))[:8]


def main(folder):
    files = sorted(pathlib.Path(folder).glob("*.json"))
    if not files:
        print(f"no body in {folder}: was SCRITORIO_TEST_BODIES set for the tests?", file=sys.stderr)
        return 2
    if importlib.util.find_spec("openai") is None:
        print("skipped: Python's openai is not installed")
        return 0
    checks = validators()
    from pydantic import ValidationError

    wrong = 0
    for file in files:
        body = json.loads(file.read_text(encoding="utf-8"))
        api = file.name.split(".")[0]
        try:
            checks[api, body.get("stream") is True].validate_python(body)
        except ValidationError as error:
            wrong += 1
            print(file)
            for line in in_short(error.errors(include_url=False, include_input=False)):
                print(f"    {line}")
    print(f"{len(files) - wrong} valid, {wrong} not")
    return 1 if wrong else 0


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    sys.exit(main(sys.argv[1]))
