import pytest
from hypothesis import given
from hypothesis import strategies as st

from apcore.errors import InvalidInputError, ModuleError
from apcore.modules import ModuleAnnotations
from apcore.tasks import NEVER_AGAIN, RetryPolicy

SAFE = ModuleAnnotations(idempotent=True)


@given(st.integers(1, 5000))
def test_the_delay_grows_up_to_its_cap(attempts: int) -> None:
    policy = RetryPolicy(first_delay=1, factor=3, longest_delay=50)

    assert policy.delay(attempts) == min(50, 3 ** (attempts - 1))


@pytest.mark.parametrize(
    ("annotations", "retryable", "allowed"),
    [
        (SAFE, True, True),
        (SAFE, None, True),
        (SAFE, False, False),
        (ModuleAnnotations(readonly=True), True, True),
        (ModuleAnnotations(), True, False),
    ],
)
def test_only_what_is_safe_and_not_final_is_repeated(annotations, retryable, allowed):
    assert RetryPolicy().allows(ModuleError(retryable=retryable), annotations, 1) is allowed


def test_attempts_are_counted():
    error = ModuleError(retryable=True)

    assert [RetryPolicy(max_attempts=2).allows(error, SAFE, attempts) for attempts in (1, 2)] == [True, False]
    assert not NEVER_AGAIN.allows(error, SAFE, 1)


@pytest.mark.parametrize("options", [{"max_attempts": 0}, {"first_delay": -1}, {"factor": 0.5}, {"longest_delay": -1}])
def test_a_policy_that_makes_no_sense_is_refused(options):
    with pytest.raises(InvalidInputError):
        RetryPolicy(**options)
