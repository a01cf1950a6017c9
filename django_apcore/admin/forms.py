"""Forms of the admin. They shape what a person typed; whether it may be done is for the services to say."""

from typing import TYPE_CHECKING, Any

from django import forms
from django.contrib.admin.widgets import AdminIntegerFieldWidget
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _

from apcore.acl import ACL
from apcore.errors import ACLRuleError, InvalidInputError
from django_apcore import services
from django_apcore.admin.bases import labelled
from django_apcore.conf import acl_conditions
from django_apcore.models import ACLRule, Toggle, WebhookSubscriber

if TYPE_CHECKING:
    RuleModelForm = forms.ModelForm[ACLRule]
    ToggleModelForm = forms.ModelForm[Toggle]
    WebhookModelForm = forms.ModelForm[WebhookSubscriber]
else:
    RuleModelForm = ToggleModelForm = WebhookModelForm = (
        forms.ModelForm
    )  # Django's class takes no parameter at run time


class DecisionForm(forms.Form):
    """What comes with a decision: the effect that was seen, a reason, and the confirmation."""

    seen_digest = forms.CharField(widget=forms.HiddenInput, max_length=64)
    reason = forms.CharField(
        required=False,
        max_length=5000,
        widget=forms.Textarea(attrs={"rows": 3}),
    )
    confirmed = forms.BooleanField(required=False, widget=forms.CheckboxInput(attrs={"required": True}))


class ReasonForm(forms.Form):
    """A reason that nobody has to give."""

    reason = forms.CharField(required=False, max_length=5000)


class PatternsField(forms.Field):
    """A list of patterns, one on each line."""

    widget = forms.Textarea(attrs={"rows": 3, "cols": 60, "spellcheck": "false", "class": "apcore-code"})

    def prepare_value(self, value: Any) -> Any:
        return "\n".join(map(str, value)) if isinstance(value, list) else value

    def to_python(self, value: Any) -> list[str]:
        return [line.strip() for line in str(value or "").splitlines() if line.strip()]

    def has_changed(self, initial: Any, data: Any) -> bool:
        return bool(self.to_python(self.prepare_value(initial)) != self.to_python(data))


class ConditionsField(forms.JSONField):
    """A JSON object, or an empty box where there is none."""

    def prepare_value(self, value: Any) -> Any:
        return "" if value is None else super().prepare_value(value)


class LabelledNumber(AdminIntegerFieldWidget):
    """A box in a list of rows that says what it is where there is no header."""

    def render(self, name: str, value: Any, attrs: Any = None, renderer: Any = None) -> SafeString:
        label = _("position")
        return labelled(label, super().render(name, value, {**(attrs or {}), "aria-label": label}, renderer))


class LabelledCheckbox(forms.CheckboxInput):
    """As LabelledNumber."""

    def render(self, name: str, value: Any, attrs: Any = None, renderer: Any = None) -> SafeString:
        label = _("enabled")
        return labelled(label, super().render(name, value, {**(attrs or {}), "aria-label": label}, renderer))


class CheckedRuleForm(RuleModelForm):
    """A rule is checked as the access list itself will read it, and errors appear beside the field they are about."""

    class Meta:
        model = ACLRule
        fields = ["position", "enabled"]

    def _post_clean(self) -> None:
        super()._post_clean()  # type: ignore[misc]  # Django's own hook: the instance is filled in here
        if self.errors:
            return
        try:
            ACL([self.instance.to_dict()], conditions=acl_conditions())
        except ACLRuleError as error:
            field = str(error.details.get("field", "")).partition(".")[0]
            self.add_error(field if field in self.fields else None, error.message)


class ListedRuleForm(CheckedRuleForm):
    """What can be edited in the list of rules."""

    class Meta(CheckedRuleForm.Meta):
        widgets = {"position": LabelledNumber, "enabled": LabelledCheckbox}


class ACLRuleForm(CheckedRuleForm):
    callers = PatternsField(
        label=_("Callers"),
        help_text=_("Who calls, one pattern on each line: module IDs with * for any text, @external, @system."),
    )
    targets = PatternsField(label=_("Targets"), help_text=_("What is called, one pattern on each line: store.*"))
    conditions = ConditionsField(
        label=_("Conditions"),
        required=False,
        widget=forms.Textarea(attrs={"rows": 4, "cols": 60, "spellcheck": "false", "class": "apcore-code"}),
        help_text=_('What must hold as well, as JSON: {"roles": ["support"], "identity_types": ["user"]}'),
    )

    class Meta:
        model = ACLRule
        fields = ["position", "enabled", "effect", "callers", "targets", "conditions", "description"]


class WebhookForm(WebhookModelForm):
    """The secret can be replaced; what it is, the form does not say."""

    secret = forms.CharField(
        label=_("Secret"),
        required=False,
        max_length=200,
        strip=False,
        widget=forms.PasswordInput(attrs={"autocomplete": "new-password"}),
        help_text=_("Signs what is sent; the receiver has to know it. Empty: an existing one stays."),
    )
    types = PatternsField(
        label=_("Event types"), help_text=_("One pattern on each line: apcore.approval.*, or * for all.")
    )
    modules = PatternsField(
        label=_("Modules"),
        required=False,
        help_text=_("One pattern on each line. Empty: events about all modules and about none."),
    )

    class Meta:
        model = WebhookSubscriber
        fields = ["name", "enabled", "url", "types", "min_severity", "modules"]

    def _post_clean(self) -> None:
        super()._post_clean()  # type: ignore[misc]  # Django's own hook: the instance is filled in here
        if self.errors:
            return
        try:
            services.check_webhook(self.instance, self.cleaned_data.get("secret") or None)
        except InvalidInputError as error:
            self.add_error(str(error.details["field"]), error.message)


class ToggleForm(ToggleModelForm):
    """`modules` are the IDs to choose from when a toggle is added."""

    modules: tuple[str, ...] = ()

    class Meta:
        model = Toggle
        fields = ["module_id", "enabled", "reason"]
        widgets = {"reason": forms.Textarea(attrs={"rows": 3, "cols": 60})}

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if "module_id" in self.fields:
            choices = [(module, module) for module in self.modules]
            self.fields["module_id"] = forms.ChoiceField(label=_("Module"), choices=choices)
