"""Access rules in the admin: ordered, validated as the access list reads them, audited."""

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from django_apcore.models import ACLRule, AuditEntry, PolicyRevision
from tests.django_apcore.admin.factories import person

pytestmark = pytest.mark.django_db
RULES = "/admin/django_apcore/aclrule/"
GOOD = {
    "position": "5",
    "enabled": "on",
    "effect": "allow",
    "callers": "@external\n\n  store.reports.*  ",
    "targets": "store.*",
    "conditions": '{"roles": ["support"]}',
    "description": "Support may do it",
}


def errors(response: Any) -> dict[str, list[str]]:
    assert response.status_code == 200
    found: dict[str, list[str]] = response.context["adminform"].form.errors
    return found


def revision() -> int:
    return PolicyRevision.objects.filter(name="acl").values_list("revision", flat=True).first() or 0


def test_a_rule_is_published(admin_client: Client, admin_user: User) -> None:
    before = revision()

    assert admin_client.post(f"{RULES}add/", GOOD).status_code == 302

    rule = ACLRule.objects.get()
    assert (rule.callers, rule.targets) == (["@external", "store.reports.*"], ["store.*"])
    assert rule.conditions == {"roles": ["support"]}
    assert revision() == before + 1
    assert AuditEntry.objects.get(kind="acl.rule_saved").actor_id == str(admin_user.pk)


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("callers", "@nobody", "unknown special pattern"),
        ("callers", "store . x", "a pattern is text without spaces"),
        ("callers", "", "required"),
        ("targets", "@external", "unknown special pattern"),
        ("conditions", '{"rolls": ["support"]}', "rolls"),
        ("conditions", '{"roles": "support"}', "roles"),
        ("conditions", "[1]", "must be an object"),
        ("conditions", "{", "valid JSON"),
        ("effect", "maybe", "valid choice"),
        ("position", "first", "whole number"),
    ],
)
def test_what_is_wrong_is_said_beside_its_field(admin_client: Client, field: str, value: str, message: str) -> None:
    found = errors(admin_client.post(f"{RULES}add/", {**GOOD, field: value}))

    assert message in str(found[field])
    assert not ACLRule.objects.exists()


def test_a_rule_without_conditions_has_an_empty_box(admin_client: Client) -> None:
    admin_client.post(f"{RULES}add/", {**GOOD, "conditions": ""})
    rule = ACLRule.objects.get()

    html = admin_client.get(f"{RULES}{rule.pk}/change/").content.decode()

    assert rule.conditions is None
    assert "null</textarea>" not in html
    assert "@external\nstore.reports.*</textarea>" in html


def test_a_new_rule_goes_to_the_end(admin_client: Client) -> None:
    ACLRule.objects.create(position=7, callers=["*"], targets=["*"], effect="deny")

    assert admin_client.get(f"{RULES}add/").context["adminform"].form.initial["position"] == 8


def test_rules_are_reordered_and_switched_in_the_list(admin_client: Client) -> None:
    first = ACLRule.objects.create(position=1, callers=["*"], targets=["a.*"], effect="deny")
    second = ACLRule.objects.create(position=2, callers=["*"], targets=["b.*"], effect="allow")
    before = revision()
    form = {
        "form-TOTAL_FORMS": "2",
        "form-INITIAL_FORMS": "2",
        "form-0-id": str(first.pk),
        "form-0-position": "3",
        "form-0-enabled": "on",
        "form-1-id": str(second.pk),
        "form-1-position": "2",
        "_save": "Save",
    }

    assert admin_client.post(RULES, form).status_code == 302

    assert list(ACLRule.objects.values_list("pk", "enabled")) == [(second.pk, False), (first.pk, True)]
    assert revision() == before + 2
    assert AuditEntry.objects.filter(kind="acl.rule_saved").count() == 2


def test_deleting_is_published_one_by_one_and_in_bulk(admin_client: Client) -> None:
    rules = [
        ACLRule.objects.create(position=position, callers=["*"], targets=["*"], effect="deny") for position in range(3)
    ]

    admin_client.post(f"{RULES}{rules[0].pk}/delete/", {"post": "yes"})
    chosen = [rule.pk for rule in rules[1:]]
    admin_client.post(RULES, {"action": "delete_selected", "_selected_action": chosen, "post": "yes"})

    assert not ACLRule.objects.exists()
    assert AuditEntry.objects.filter(kind="acl.rule_deleted").count() == 3


def test_the_list_says_what_holds_where_no_rule_matches(admin_client: Client, settings: Any) -> None:
    assert "Where none matches: <strong>deny</strong>" in admin_client.get(RULES).content.decode()

    settings.APCORE = {"ACL_FILE": "/etc/acl.yaml"}

    assert "These rules are not in force." in admin_client.get(RULES).content.decode()


def test_names_and_patterns_are_escaped(admin_client: Client) -> None:
    script = "<script>alert(1)</script>"
    ACLRule.objects.create(
        callers=[script], targets=[script], effect="deny", description=script, conditions={script: 1}
    )

    assert "<script>alert" not in admin_client.get(RULES).content.decode()


def test_viewing_is_not_changing(client: Client) -> None:
    rule = ACLRule.objects.create(callers=["*"], targets=["*"], effect="deny")
    client.force_login(person("vera", "view_aclrule"))

    assert client.get(f"{RULES}{rule.pk}/change/").status_code == 200
    assert client.post(f"{RULES}{rule.pk}/change/", GOOD).status_code == 403
    assert client.post(f"{RULES}add/", GOOD).status_code == 403


def test_boxes_in_the_list_say_what_they_are_where_there_is_no_header(admin_client: Client) -> None:
    ACLRule.objects.create(position=1, effect="allow", callers=["*"], targets=["*"])
    page = admin_client.get(RULES).content.decode()
    assert '<span class="apcore-label">position</span> <input type="number" name="form-0-position"' in page
    assert '<span class="apcore-label">enabled</span> <input type="checkbox" name="form-0-enabled"' in page
