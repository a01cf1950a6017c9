"""The demo's reading of HTML forms: what a browser would send."""

from project.demo.forms import Page

HTML = """
<script>document.write("<form><button>Approve</button></form>")</script>
<form action="/logout/" method="post"><input type="hidden" name="csrf" value="a"><button>Log out</button></form>
<form method="post">
  <input type="hidden" name="csrf" value="b">
  <input name="title" value="A &amp; B"><input name="off" value="x" disabled><input type="file" name="upload">
  <input type="checkbox" name="confirmed"><input type="checkbox" name="kept" checked>
  <input type="radio" name="size" value="s" checked><input type="radio" name="size" value="l">
  <select name="genre"><option value="1">Rock</option><option value="2" selected>Jazz</option></select>
  <textarea name="reason">
two
lines</textarea>
  <button type="button" name="no" value="1">Approve all later</button>
  <button name="verdict" value="approve" formaction="/approve/">Approve <b>now</b></button>
  <input type="submit" name="verdict" value="Reject">
</form>
"""
EVERYTHING = {"csrf": "b", "title": "A & B", "kept": "on", "size": "s", "genre": "2", "reason": "two\nlines"}


def test_a_script_is_neither_a_form_nor_text() -> None:
    page = Page(HTML)
    assert len(page.forms) == 2
    assert "document.write" not in page.text


def test_a_click_sends_the_fields_and_its_own_button() -> None:
    form = Page(HTML).forms[1]
    button = form.button("Approve")
    assert button is not None
    assert (button.text, button.action) == ("Approve now", "/approve/")
    assert form.data(button, {}) == EVERYTHING | {"verdict": "approve"}


def test_boxes_are_ticked_when_told_and_answers_replace_what_stood_there() -> None:
    form = Page(HTML).forms[1]
    button = form.button("reject")
    assert button is not None
    sent = form.data(button, {"reason": "No"}, tick=True)
    assert sent == EVERYTHING | {"reason": "No", "confirmed": "on", "verdict": "Reject"}


def test_a_disabled_button_cannot_be_clicked() -> None:
    assert Page("<form><button disabled>Approve</button></form>").forms[0].button("Approve") is None
    assert not Page("<form></form>").has_button("Approve")
