"""What a save costs under `watch`, beside a cold `grade` of the same exercise.

    python benchmarks/watch.py [-x EXERCISE]... [-n SAVES]
    python benchmarks/watch.py --endure 1000 [-x EXERCISE]

It works on the students' kit, as students do, with the solutions as their work and a cache that
holds nothing but the digits. Printed are elapsed seconds of the first grading, of one in a new
process with what the cache holds by then, and from a save to its verdict (the median), and the
ratios. With `--endure` modules that are right, wrong, unfinished and ending their process are saved
in turn; printed are the memory and the processes of the watch before and after.
"""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from grader.cache import cache_folder
from grader.exercises import ROOT, names
from grader.release import release

BROKEN = (b"def half(:\n", b"import os\nos._exit(3)\n", b"raise ValueError('no')\n", b"")


class Watching:
    """`python -m grader watch` on a folder of its own."""

    def __init__(self, kit: Path, environment: dict[str, str]) -> None:
        self._folder = kit / "exercises"
        self._process = subprocess.Popen(
            [sys.executable, "-m", "grader", "watch", str(self._folder)],
            cwd=kit,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            text=True,
        )
        self._until("Watching")

    def save(self, name: str, source: bytes) -> float:
        """Seconds from saving a module to the verdict on it."""
        begun = time.monotonic()
        (self._folder / f"{name}.py").write_bytes(source)
        self._until(" | ")
        return time.monotonic() - begun

    def memory(self) -> tuple[float, int]:
        """MiB that the watch and its processes hold, each page once, and how many they are."""
        pids = _descendants(self._process.pid)
        return sum(_proportional_mib(pid) for pid in pids), len(pids)

    def close(self) -> None:
        self._process.terminate()
        self._process.wait()

    def _until(self, text: str) -> None:
        assert self._process.stdout
        for line in self._process.stdout:
            if text in line:
                return
        raise SystemExit("the watch ended")


def _descendants(pid: int) -> list[int]:
    tasks = Path(f"/proc/{pid}/task").glob("*/children")
    started = [int(child) for path in tasks for child in path.read_text().split()]
    return [pid, *(found for child in started for found in _descendants(child))]


def _proportional_mib(pid: int) -> float:
    rollup = Path(f"/proc/{pid}/smaps_rollup").read_text()
    return next(int(line.split()[1]) for line in rollup.splitlines() if "Pss:" in line) / 1024


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("-x", dest="only", action="append", help="only this exercise (repeatable)")
    parser.add_argument("-n", type=int, default=5, help="how many saves of each")
    parser.add_argument("--endure", type=int, metavar="SAVES", help="watch for so many saves")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="jaxlings-bench-") as folder:
        (kit, _), cache = release(Path(folder)), Path(folder) / "cache"
        cache.mkdir()
        shutil.copy(cache_folder() / "mnist_5k.npy", cache)
        environment = {**os.environ, "PYTHONPATH": str(kit), "JAXLINGS_CACHE": str(cache)}
        if chosen.endure:
            endure(kit, environment, (chosen.only or ["generic_mlp"])[0], chosen.endure)
            return
        print(f"{'':<20}{'cold':>9}{'again':>9}{'save':>9}{'to cold':>9}{'to again':>9}")
        for name in chosen.only or names():
            compare(kit, environment, name, chosen.n)


def compare(kit: Path, environment: dict[str, str], name: str, saves: int) -> None:
    """Prints a line on one exercise."""
    source = (ROOT / "solutions" / f"{name}.py").read_bytes()
    (kit / "exercises" / f"{name}.py").write_bytes(source)

    def grade() -> float:
        begun = time.monotonic()
        command = [sys.executable, "-m", "grader", "grade", "-x", name]
        subprocess.run(command, cwd=kit, env=environment, check=True, capture_output=True)
        return time.monotonic() - begun

    cold, again = grade(), grade()
    watching = Watching(kit, environment)
    edits = [watching.save(name, source + b"\n# save %d\n" % number) for number in range(saves)]
    watching.close()
    save = statistics.median(edits)
    ratios = f"{save / cold:>9.2f}{save / again:>9.2f}"
    print(f"{name:<20}{cold:>8.1f}s{again:>8.1f}s{save:>8.1f}s{ratios}", flush=True)


def endure(kit: Path, environment: dict[str, str], name: str, saves: int) -> None:
    """Prints what many saves leave behind."""
    right = (ROOT / "solutions" / f"{name}.py").read_bytes()
    stub = (ROOT / "exercises" / f"{name}.py").read_bytes()
    sources = [stub, *BROKEN, stub, *BROKEN, right]
    watching = Watching(kit, environment)
    for number in range(saves):
        watching.save(name, sources[number % len(sources)] + b"\n# save %d\n" % number)
        if number + 1 in (len(sources), 10 * len(sources), saves):
            memory, processes = watching.memory()
            print(f"after {number + 1} saves: {memory:.0f} MiB, {processes} processes", flush=True)
    watching.close()


if __name__ == "__main__":
    main()
