from typing import Any

from apcore.errors import ModuleError


class NotInStoreError(ModuleError):
    """The inputs name something that the store does not have."""

    code = "STORE_NOT_FOUND"
    http_status = 404
    retryable = False

    def __init__(self, kind: str, key: Any) -> None:
        super().__init__(f"There is no {kind} {key!r}", details={"kind": kind, "key": key}, user_fixable=True)


class NotPossibleError(ModuleError):
    """The inputs are well formed, but the store's rules forbid what they ask for."""

    code = "STORE_NOT_POSSIBLE"
    http_status = 409
    retryable = False


class PaymentGatewayError(ModuleError):
    """The payment provider did not confirm; asking again is safe, since the idempotency key is the same."""

    code = "STORE_PAYMENT_GATEWAY"
    http_status = 502
    retryable = True
