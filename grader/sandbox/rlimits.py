"""Ceilings on memory, processes, files and processor time of one worker."""

from __future__ import annotations

import resource

MiB = 1 << 20
# Measured on the lesson's training, gradients of 128 examples and a plot: 1.8 GiB of addresses and
# 15 threads on one core, 2.3 GiB and 84 threads on 16, 3.5 GiB and 244 threads on 64.
BASE_ADDRESS_SPACE = 3072 * MiB
ADDRESS_SPACE_PER_CORE = 96 * MiB
MAX_FILE = 64 * MiB


def limits(cores: int, *, own_user: bool) -> dict[str, int]:
    """The ceilings for a machine with `cores` cores, by the names of the module `resource`.

    `own_user` says that the worker's processes are counted apart from others of the same user, as
    they are in a user namespace. Otherwise only memory bounds the number of its threads.
    """
    chosen = {
        "RLIMIT_AS": BASE_ADDRESS_SPACE + ADDRESS_SPACE_PER_CORE * cores,
        "RLIMIT_NOFILE": 256,
        "RLIMIT_FSIZE": MAX_FILE,
        "RLIMIT_CPU": 900
        * cores,  # seconds; the deadline is the trusted side's, this is the net below
        "RLIMIT_CORE": 0,
        "RLIMIT_MEMLOCK": 0,
        "RLIMIT_MSGQUEUE": 0,
        "RLIMIT_RTPRIO": 0,
        "RLIMIT_NICE": 0,
    }
    if own_user:
        chosen["RLIMIT_NPROC"] = 32 + 8 * cores  # threads count as processes here
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
