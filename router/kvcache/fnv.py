"""The FNV-1a hash: 64 bits for block keys, 32 bits to spread sources over workers."""

OFFSET_64 = 0xCBF29CE484222325
PRIME_64 = 0x100000001B3
MASK_64 = 0xFFFFFFFFFFFFFFFF
OFFSET_32 = 0x811C9DC5
PRIME_32 = 0x01000193
MASK_32 = 0xFFFFFFFF


def fnv1a_64(content: bytes) -> int:
    """The 64-bit hash, unsigned."""
    value, prime, mask = OFFSET_64, PRIME_64, MASK_64
    for byte in content:
        value = ((value ^ byte) * prime) & mask
    return value


def fnv1a_32(content: bytes) -> int:
    """The 32-bit hash, unsigned."""
    value = OFFSET_32
    for byte in content:
        value = ((value ^ byte) * PRIME_32) & MASK_32
    return value


def shard_of(source: str, workers: int) -> int:
    """The worker, from 0, that handles all messages of `source`, so that they stay in order."""
    return fnv1a_32(source.encode()) % workers
