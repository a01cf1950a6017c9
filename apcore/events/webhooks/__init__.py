"""Events over HTTP: signed, sent to public addresses only, tried again, and given up with an event."""

from apcore.events.webhooks.addresses import Destination, ForbiddenAddressError, is_public, resolved
from apcore.events.webhooks.sending import (
    DeliveryError,
    Send,
    WebhookRequest,
    send_webhook,
    signed_body,
    signed_request,
)
from apcore.events.webhooks.signature import EVENT_ID_HEADER, SIGNATURE_HEADER, is_authentic, sign
from apcore.events.webhooks.subscriber import Backoff, WebhookSubscriber, dead_letter, is_dead_letter_about

__all__ = [
    "EVENT_ID_HEADER",
    "SIGNATURE_HEADER",
    "Backoff",
    "DeliveryError",
    "Destination",
    "ForbiddenAddressError",
    "Send",
    "WebhookRequest",
    "WebhookSubscriber",
    "dead_letter",
    "is_authentic",
    "is_dead_letter_about",
    "is_public",
    "resolved",
    "send_webhook",
    "sign",
    "signed_body",
    "signed_request",
]
