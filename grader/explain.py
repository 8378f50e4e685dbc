"""Exceptions of Python and JAX in the lesson's words."""

from __future__ import annotations

import re
from collections.abc import Sequence

MAX_TEXT = 300
_PAGE = "See 'JAX Errors' in JAX's documentation, "

# By the name of the exception's type or of one of its bases: what it means and what to think about.
_MEANINGS = {
    "TracerBoolConversionError": (
        "a Python `if`, `while`, `and` or `bool()` asked for the value of a traced array. Under"
        " jit, grad and vmap only shapes and dtypes are known: choose with jnp.where or lax.cond,"
        " or keep the value a plain Python argument. " + _PAGE + "TracerBoolConversionError."
    ),
    "TracerArrayConversionError": (
        "a NumPy function was given a traced array. Inside transformed code use jax.numpy. "
        + _PAGE
        + "TracerArrayConversionError."
    ),
    "TracerIntegerConversionError": (
        "a traced array was used as a Python integer (an index, a range, a shape). "
        + _PAGE
        + "TracerIntegerConversionError."
    ),
    "NonConcreteBooleanIndexError": (
        "indexing by a traced boolean mask makes a shape that depends on values. Keep the shape and"
        " choose with jnp.where. " + _PAGE + "NonConcreteBooleanIndexError."
    ),
    "UnexpectedTracerError": (
        "a traced value was kept from one call and used in another (stored in a global, a list or"
        " an object). A pure function hands everything back by return. "
        + _PAGE
        + "UnexpectedTracerError."
    ),
    "ConcretizationTypeError": (
        "Python needed the value of a traced array (float(), int(), .item(), a shape). Under jit,"
        " grad and vmap only shapes and dtypes are known. " + _PAGE + "ConcretizationTypeError."
    ),
    "KeyReuseError": (
        "a PRNG key was used twice. A key is used up by one draw: split it first. "
        + _PAGE
        + "KeyReuseError."
    ),
}


def explain(
    type_name: str, text: str, bases: Sequence[str], call: str, in_students_code: bool
) -> str:
    """One sentence for the student about an exception that `call` raised."""
    first = text.strip().splitlines()[0][:MAX_TEXT].rstrip(".") if text.strip() else ""
    where = f"{call} raised" if call else "It raised"
    if type_name == "NotImplementedError":
        return f"{first or call + ' is not written yet'}."
    for name in (type_name, *bases):
        if name in _MEANINGS:
            return f"{where} {type_name}: {_MEANINGS[name]}"
    missing = re.fullmatch(r"module '\w+' has no attribute '(\w+)'", first)
    if missing and not in_students_code:
        return f"There is no {missing[1]} in the module: keep the name that the stub gave it."
    if type_name in ("SyntaxError", "IndentationError", "TabError"):
        return f"The file is not valid Python: {first}."
    if type_name == "SystemExit":
        return f"{where} SystemExit: the code left Python by exit() instead of returning a value."
    if type_name == "ProtocolError":
        return f"The result of {call} cannot be sent back: {first}."
    if type_name == "TypeError" and "argument" in first:
        return f"{where} TypeError: {first}. Compare the arguments with the stub's signature."
    return f"{where} {type_name}: {first}" if first else f"{where} {type_name}."
