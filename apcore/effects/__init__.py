"""What a call would change, as data with a digest."""

from apcore.effects.digest import change_digest, effect_digest, is_settled
from apcore.effects.record import NO_EFFECT, EffectRecord, Provenance

__all__ = ["NO_EFFECT", "EffectRecord", "Provenance", "change_digest", "effect_digest", "is_settled"]
