"""HTML forms as a browser sees them: which fields are sent, which buttons there are."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from html.parser import HTMLParser

Attributes = Mapping[str, str | None]


@dataclass(slots=True)
class Button:
    text: str
    name: str = ""
    value: str = ""
    action: str = ""


@dataclass(slots=True)
class Form:
    action: str = ""
    method: str = "get"
    fields: dict[str, str] = field(default_factory=dict)
    checkboxes: dict[str, str] = field(default_factory=dict)
    buttons: list[Button] = field(default_factory=list)

    def button(self, word: str) -> Button | None:
        """The submit button whose text has `word` in it."""
        return next((button for button in self.buttons if word.lower() in button.text.lower()), None)

    def data(self, button: Button, answers: Mapping[str, str], *, tick: bool = False) -> dict[str, str]:
        """What a browser sends when `button` is clicked after typing `answers` and, if told to, ticking every box."""
        sent = self.fields | (self.checkboxes if tick else {}) | dict(answers)
        return sent | ({button.name: button.value} if button.name else {})


class Page(HTMLParser):
    """The forms, and the text, of one HTML page."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.forms: list[Form] = []
        self._words: list[str] = []
        self._silent = 0
        self._textarea: str | None = None
        self._select: str | None = None
        self._button: Button | None = None
        self.feed(html)

    @property
    def text(self) -> str:
        return " ".join(" ".join(self._words).split())

    def has_button(self, word: str) -> bool:
        return any(form.button(word) for form in self.forms)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = dict(attrs)
        if tag in {"script", "style"}:
            self._silent += 1
        elif tag == "form":
            self.forms.append(Form(attributes.get("action") or "", (attributes.get("method") or "get").lower()))
        elif self.forms and "disabled" not in attributes:
            self._control(tag, attributes)

    def handle_endtag(self, tag: str) -> None:
        if tag in {"script", "style"}:
            self._silent -= 1
        elif tag == "textarea":
            self._textarea = None
        elif tag == "select":
            self._select = None
        elif tag == "button":
            self._button = None

    def handle_data(self, data: str) -> None:
        if self._silent:
            return
        self._words.append(data)
        if self._button is not None:
            self._button.text += data
        if self._textarea is not None:
            # A browser drops the newline that follows the tag.
            form = self.forms[-1]
            form.fields[self._textarea] += data if form.fields[self._textarea] else data.removeprefix("\n")

    def _control(self, tag: str, attributes: Attributes) -> None:
        form, name = self.forms[-1], attributes.get("name") or ""
        if tag == "input":
            self._input(form, name, attributes)
        elif tag == "button" and (attributes.get("type") or "submit") == "submit":
            self._button = Button("", name, attributes.get("value") or "", attributes.get("formaction") or "")
            form.buttons.append(self._button)
        elif tag == "textarea":
            self._textarea = name
            form.fields[name] = ""
        elif tag == "select":
            self._select = name
        elif tag == "option" and self._select and "selected" in attributes:
            form.fields[self._select] = attributes.get("value") or ""

    def _input(self, form: Form, name: str, attributes: Attributes) -> None:
        kind, value = (attributes.get("type") or "text").lower(), attributes.get("value") or ""
        if kind == "submit":
            form.buttons.append(Button(value, name, value, attributes.get("formaction") or ""))
        elif kind in {"checkbox", "radio"} and "checked" not in attributes:
            if kind == "checkbox":
                form.checkboxes[name] = value or "on"
        elif name and kind not in {"button", "reset", "image", "file"}:
            form.fields[name] = value or ("on" if kind in {"checkbox", "radio"} else "")
