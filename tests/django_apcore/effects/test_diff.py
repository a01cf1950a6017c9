"""What was approved compared with what would happen now."""

from typing import Any

from apcore.modules import UNSET, Change
from django_apcore.effects import Difference, compare_changes


def change(target: str, before: Any = UNSET, after: Any = UNSET, action: str = "update", **extras: Any) -> Change:
    return Change(action, target, "…", before, after, **extras)


def verdicts(differences: list[Difference]) -> dict[str, str]:
    return {each.target: each.verdict for each in differences}


def test_every_target_has_a_verdict() -> None:
    was = [change("m:1", {"a": 1}, {"a": 2}), change("m:2", {"a": 1}, {"a": 2}), change("m:3", {"a": 1}, {"a": 2})]
    now = [change("m:3", {"a": 9}, {"a": 2}), change("m:1", {"a": 1}, {"a": 2}), change("m:4", {"a": 1}, {"a": 2})]
    found = compare_changes(was, now)
    assert verdicts(found) == {"m:1": "same", "m:2": "removed", "m:3": "different", "m:4": "added"}


def test_a_difference_shows_both_sides_of_its_fields() -> None:
    [found] = compare_changes([change("m:1", {"a": 1, "b": 1}, {"a": 2, "b": 2})], [change("m:1", {"a": 5}, {"a": 6})])
    a, b = found.fields()
    assert (a.name, a.was_before, a.was_after, a.now_before, a.now_after) == ("a", 1, 2, 5, 6)
    assert (b.name, b.was_before, b.was_after, b.now_before, b.now_after) == ("b", 1, 2, UNSET, UNSET)


def test_fields_that_agree_are_left_out() -> None:
    [found] = compare_changes(
        [change("m:1", {"a": 1}, {"a": 2, "b": 1})], [change("m:1", {"a": 1}, {"a": 2, "b": True})]
    )
    assert [each.name for each in found.fields()] == ["b"]
    [same] = compare_changes([change("m:1", {"a": 1})], [change("m:1", {"a": 1})])
    assert same.fields() == []


def test_an_update_that_became_a_delete_is_different() -> None:
    [found] = compare_changes([change("m:1", {"a": 1}, {"a": 2})], [change("m:1", {"a": 1}, action="delete")])
    assert found.verdict == "different"


def test_new_rows_are_paired_by_content_whatever_their_numbers() -> None:
    was = [change("new:m#1", after={"a": "x"}, action="insert"), change("new:m#2", after={"a": "y"}, action="insert")]
    now = [change(f"new:m#{n}", after={"a": a}, action="insert") for n, a in enumerate("wxz", start=1)]
    found = compare_changes(was, now)
    assert [each.verdict for each in found] == ["same", "different", "added"]
    assert found[0].now is now[1]


def test_the_same_target_several_times() -> None:
    mail = change("mail:a@x", after={"subject": "s"}, action="send")
    other = change("mail:a@x", after={"subject": "t"}, action="send")
    assert [each.verdict for each in compare_changes([mail, mail], [mail, other])] == ["same", "different"]
    assert [each.verdict for each in compare_changes([mail], [mail, mail])] == ["same", "added"]


def test_databases_are_kept_apart() -> None:
    found = compare_changes([change("m:1", {"a": 1})], [change("m:1", {"a": 1}, **{"x-alias": "other"})])
    assert [each.verdict for each in found] == ["removed", "added"]


def test_snapshots_that_are_no_objects() -> None:
    [found] = compare_changes([change("x", "old", "new")], [change("x", "old", "newer")])
    [field] = found.fields()
    assert (field.name, field.was_after, field.now_after) == ("", "new", "newer")
