"""Ceilings on memory, processes, files and processor time of one worker."""

from __future__ import annotations

import resource

MiB = 1 << 20
# Measured: jax and matplotlib on 2 cores need less than 2 GiB of addresses. Each further core brings
# a thread or two of XLA's, with their stacks and a reserve of the allocator's of 128 MiB.
BASE_ADDRESS_SPACE = 2048 * MiB
ADDRESS_SPACE_PER_CORE = 256 * MiB
MAX_FILE = 64 * MiB


def limits(cores: int, *, memory: bool = True) -> dict[str, int]:
    """The ceilings for a machine with `cores` cores, by the names of the module `resource`.

    `memory=False` leaves the address space open, as an accelerator's driver needs it.
    """
    chosen = {
        "RLIMIT_NPROC": 16 + 6 * cores,  # threads count as processes here
        "RLIMIT_NOFILE": 256,
        "RLIMIT_FSIZE": MAX_FILE,
        "RLIMIT_CPU": 900 * cores,  # seconds; the deadline is the trusted side's, this is the net below
        "RLIMIT_CORE": 0,
        "RLIMIT_MEMLOCK": 0,
        "RLIMIT_MSGQUEUE": 0,
        "RLIMIT_RTPRIO": 0,
        "RLIMIT_NICE": 0,
    }
    if memory:
        chosen["RLIMIT_AS"] = BASE_ADDRESS_SPACE + ADDRESS_SPACE_PER_CORE * cores
    return chosen


def apply(chosen: dict[str, int]) -> None:
    """Sets each limit for good, soft and hard alike; what the platform lacks is left out."""
    for name, value in chosen.items():
        number = getattr(resource, name, None)
        if number is None:
            continue
        _, hard = resource.getrlimit(number)
        ceiling = value if hard == resource.RLIM_INFINITY else min(value, hard)
        resource.setrlimit(number, (ceiling, ceiling))
