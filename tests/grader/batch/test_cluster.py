"""Grading on Dask: the same verdicts, also when a machine is lost."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from grader.batch import cluster, tasks
from grader.batch.cluster import DaskExecutor
from grader.batch.engine import grade_all, prove
from grader.batch.executors import ExecutorError
from grader.batch.tasks import Lost, Task, Unfit, Verdict, canary
from grader.batch.worker import Settings
from grader.exercises import ROOT
from tests.grader.batch import fake

distributed = pytest.importorskip("distributed")
pytestmark = pytest.mark.filterwarnings("ignore")


def task(source: str, exercise: str = "dropout") -> Task:
    return Task(content=source, exercise=exercise, modules={exercise: source.encode()}, problems={})


def settings(**changed: str) -> Settings:
    tasks.rules.cache_clear()
    known = {"rules": tasks.rules(), "grader": "tests.grader.batch.fake:Grader"} | changed
    return Settings(run=os.urandom(4).hex(), sandbox="off", **known)  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def dask_cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """Two worker processes that see this repository."""
    folder = tmp_path_factory.mktemp("dask")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", str(ROOT))
        patch.setenv("TMPDIR", str(folder))
        patch.setenv(fake.LOG, str(folder / "log"))
        with distributed.LocalCluster(
            n_workers=2,
            threads_per_worker=1,
            dashboard_address=None,
            local_directory=str(folder),
        ) as running:
            yield running


@pytest.fixture
def executor(dask_cluster: Any) -> Iterator[DaskExecutor]:
    executor = DaskExecutor(dask_cluster.scheduler_address, None, settings())
    yield executor
    executor.close()


def test_verdicts_are_those_of_this_machine(executor: DaskExecutor) -> None:
    assert executor.workers == 2
    assert executor.timing == 1  # both workers are on one machine

    assert prove(executor, ["dropout"])["backend"] == "cpu"
    words = ["right", "wrong", "half", "ungraded"]
    found = {one.content: one for one in grade_all(executor, map(task, words), iter([]))}

    for word in words:
        assert found[word].result == fake.result("dropout", word)


def test_a_submission_that_kills_its_process_spares_the_dask_worker(
    executor: DaskExecutor, dask_cluster: Any
) -> None:
    before = set(dask_cluster.scheduler_info["workers"])
    executor.submit(task("crash"))
    answer = executor.next()

    assert isinstance(answer, Lost)
    assert answer.reason == "its process ended (exit status 9)"
    assert set(dask_cluster.scheduler_info["workers"]) == before


def test_a_lost_machine_costs_no_verdict(executor: DaskExecutor) -> None:
    executor.submit(canary("dropout"))
    assert isinstance(executor.next(), Verdict)
    sources = [f"sleep 0.2 half {number}" for number in range(12)]
    found = []
    for verdict in grade_all(executor, map(task, sources), iter([])):
        found.append(verdict.content)
        assert verdict.graded
        if len(found) == 3:
            pids = executor._client.run(os.getpid)
            os.kill(next(iter(pids.values())), signal.SIGKILL)

    assert sorted(found) == sorted(sources)


def test_a_machine_with_other_tests_is_unfit(dask_cluster: Any) -> None:
    executor = DaskExecutor(dask_cluster.scheduler_address, None, settings(rules="others"))
    try:
        executor.submit(canary("dropout"))
        answer = executor.next()

        assert isinstance(answer, Unfit)
        assert executor.excludes(answer)  # the other one is left
        executor.submit(canary("dropout"))
        assert not executor.excludes(executor.next())  # type: ignore[arg-type]
    finally:
        executor.close()


def test_no_scheduler_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster, "CONNECT_SECONDS", 1)

    with pytest.raises(ExecutorError, match="there is no scheduler at tcp://"):
        DaskExecutor("tcp://127.0.0.1:1", None, settings())


@pytest.mark.parametrize("address", ["nonsense", "tcp://", "ftp://x:1"])
def test_no_address(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster, "CONNECT_SECONDS", 1)

    with pytest.raises(ExecutorError, match="check the address"):
        DaskExecutor(address, None, settings())


def test_a_scheduler_without_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster, "WORKER_SECONDS", 0.2)
    with distributed.LocalCluster(n_workers=0, dashboard_address=None) as idle:
        with pytest.raises(ExecutorError, match="has no workers"):
            DaskExecutor(idle.scheduler_address, None, settings())


def test_slurm_needs_its_package() -> None:
    with pytest.raises(ExecutorError, match="pip install dask-jobqueue"):
        DaskExecutor("slurm", 2, settings())


def test_files_on_the_machine_go_with_the_batch(executor: DaskExecutor, tmp_path: Path) -> None:
    executor.submit(canary("dropout"))
    executor.next()
    temp = next(iter(executor._client.run(os.environ.get, "TMPDIR").values()))
    folder = Path(temp) / f"jaxlings-batch-{os.getuid()}"
    run = executor._run
    assert list(folder.glob(f"{run}-*"))
    executor.close()

    assert not list(folder.glob(f"{run}-*"))


@pytest.mark.slow
def test_a_scheduler_that_goes_away() -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", str(ROOT))
        running = distributed.LocalCluster(
            n_workers=1, threads_per_worker=1, dashboard_address=None
        )
    executor = DaskExecutor(running.scheduler_address, None, settings())
    try:
        executor.submit(canary("dropout"))
        executor.next()
        executor.submit(task("sleep 60"))
        running.close()

        with pytest.raises(ExecutorError, match="the scheduler is gone"):
            executor.next()
    finally:
        executor.close()
