"""One value of a field, as an approver reads it: nothing invisible, nothing cut off without a way to see it all."""

import json
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from django.utils.translation import gettext as _

from apcore.redaction import REDACTED_VALUE

Style = Literal["text", "word", "code", "later", "reference", "hidden"]

LONG = 140
LINES = 8
"""Values with more characters or lines than this are folded."""
_LEAD = 24
_DECEIVING = {
    *range(0x202A, 0x202F),  # bidirectional embedding and override
    *range(0x2066, 0x206A),  # bidirectional isolates
    *(0x061C, 0x200B, 0x200E, 0x200F, 0x2028, 0x2029, 0x2060, 0xFEFF),  # marks, zero-width and line separators
}


@dataclass(frozen=True, slots=True)
class Shown:
    """`text` is all of the value, `excerpt` one line of it when the whole is folded; `style` says what sort it is."""

    text: str
    style: Style = "text"
    excerpt: str = ""


def shown(value: Any) -> Shown:
    """Present any JSON value, among them the markers that effects use for what is not known yet."""
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, Mapping):
        return _marker(value) or _code(value)
    if isinstance(value, list):
        return _code(value)
    return _scalar(value)


def shown_pair(before: Any, after: Any) -> tuple[Shown, Shown]:
    """Present an old and a new value; excerpts of long texts begin shortly before the first difference."""
    old, new = shown(before), shown(after)
    if old.style == new.style == "hidden":
        return old, Shown(_("another value, also hidden"), "hidden")
    if old.style != new.style or not (old.excerpt or new.excerpt):
        return old, new
    start = max(0, _common_length(old.text, new.text) - _LEAD)
    return _folded(old, start), _folded(new, start)


def visible(text: str) -> str:
    """Write out characters that would not show, or would make the text read differently from what it is."""
    spelled = "".join(map(_visible_character, text))
    lead, trail = len(spelled) - len(spelled.lstrip(" ")), len(spelled) - len(spelled.rstrip(" "))
    if lead == len(spelled):
        return "␣" * lead
    return "␣" * lead + spelled.strip(" ") + "␣" * trail


def _visible_character(character: str) -> str:
    code = ord(character)
    if code in _DECEIVING or (unicodedata.category(character) == "Cc" and character not in "\n\t"):
        return f"⟨U+{code:04X}⟩"
    return character


def _text(value: str) -> Shown:
    if value == "":
        return Shown(_("empty text"), "word")
    if value == REDACTED_VALUE:
        return Shown(value, "hidden")
    return _folded(Shown(visible(value)))


def _scalar(value: Any) -> Shown:
    words = {None: _("nothing (null)"), True: _("yes"), False: _("no")}
    if value is None or isinstance(value, bool):
        return Shown(words[value], "word")
    return Shown(str(value))


def _code(value: Any) -> Shown:
    if not value:
        return Shown(_("empty list") if isinstance(value, list) else _("empty object"), "word")
    line = visible(json.dumps(value, ensure_ascii=False, default=str))
    if len(line) <= LONG:
        return Shown(line, "code")
    return _folded(Shown(visible(json.dumps(value, indent=2, ensure_ascii=False, default=str)), "code"))


def _marker(value: Mapping[str, Any]) -> Shown | None:
    if len(value) != 1:
        return None
    [(name, content)] = value.items()
    match name:
        case "$known_after_apply":
            return Shown(_later(content), "later")
        case "$ref":
            return Shown(_("the new {row}").format(row=visible(str(content).removeprefix("new:"))), "reference")
        case "$redacted":
            return Shown(REDACTED_VALUE, "hidden")
        case "$unchecked":
            return Shown(_("not checked: it differs at every measurement"), "later")
        case "$binary":
            return Shown(_binary(content), "word")
        case "$float" | "$json":
            return Shown(str(content) if content is not None else _("null, as JSON"), "word")
        case "$object":
            return _code(content)
    return None


def _binary(content: Any) -> str:
    size, digest = (content.get("bytes"), content.get("sha256")) if isinstance(content, Mapping) else (content, "")
    return _("{size} bytes, SHA-256 {digest}").format(size=size, digest=visible(str(digest)))


def _later(content: Any) -> str:
    known = {
        "id": _("assigned by the database"),
        "now": _("the time of execution"),
        "uuid": _("a new unique ID"),
    }
    if content in known:
        return known[content]
    return _("known after it ran ({what})").format(what=visible(str(content)))


def _folded(value: Shown, start: int = 0) -> Shown:
    if len(value.text) <= LONG and value.text.count("\n") < LINES:
        return value
    line = " ".join(value.text[start : start + 2 * LONG].split())
    cut = len(line) > LONG or start + 2 * LONG < len(value.text)
    return Shown(value.text, value.style, ("…" if start else "") + line[:LONG] + ("…" if cut else ""))


def _common_length(first: str, second: str) -> int:
    pairs = enumerate(zip(first, second, strict=False))
    return next((at for at, (a, b) in pairs if a != b), min(len(first), len(second)))
