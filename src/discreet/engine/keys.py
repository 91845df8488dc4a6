"""Keys and identities of a learner: from the operating system, or derived from a seed.

Keys of public coins and of people's digests are drawn per block. None of them is used for noise.
With a seed, all of them are the same in every run: for simulations.
"""

import os
from hashlib import blake2b

from discreet.engine.codec import fingerprint
from discreet.engine.settings import Settings

KEY_BYTES = 16


def learner_identity(kind: str, settings: Settings) -> str:
    """Return the name that a new learner shares with its copies only (or with its seed's runs)."""
    if settings.seed is None:
        return os.urandom(8).hex()
    return f"simulated {fingerprint(kind, settings.hash)[:16]}"


def coin_key(settings: Settings, index: int) -> bytes:
    """Return the key of the public coins of the block that ends with release `index`."""
    return _key("coins", settings, index)


def people_key(settings: Settings, index: int) -> bytes:
    """Return the secret key of the digests of people in the block that ends with `index`."""
    return _key("people", settings, index)


def _key(purpose: str, settings: Settings, index: int) -> bytes:
    if settings.seed is None:
        return os.urandom(KEY_BYTES)
    derived = blake2b(f"discreet {purpose} {settings.seed} {index}".encode(), digest_size=KEY_BYTES)
    return derived.digest()
