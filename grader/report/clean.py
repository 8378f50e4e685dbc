"""Text that came from a student's process, made safe to show."""

from __future__ import annotations

import re
import unicodedata

MAX_LINE = 400
_ANSI = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-Z\\-_])")
# Overrides and isolates of the text's direction, which can make a line read as another.
_BIDIRECTIONAL = dict.fromkeys([*range(0x202A, 0x202F), *range(0x2066, 0x206A)])


def clean(text: str, lines: int | None = None) -> str:
    """`text` without control characters, direction overrides and overlong lines.

    `lines` caps their number. Right-to-left letters stay: only what overrides their order goes.
    """
    text = _ANSI.sub("", text).translate(_BIDIRECTIONAL).expandtabs(4)
    kept = [_printable(line)[:MAX_LINE] for line in text.splitlines()]
    if lines is not None and len(kept) > lines:
        kept = [*kept[:lines], f"... ({len(kept) - lines} more lines)"]
    return "\n".join(kept)


def _printable(line: str) -> str:
    return "".join(c for c in line if unicodedata.category(c) not in ("Cc", "Cs", "Co", "Cn"))
