# SPDX-License-Identifier: Apache-2.0
"""An ingest that is killed before, behind and within every write, or that runs out of disk, at every single call:
what was served before is served on, and the next ingest works.

The disk that fails is tests/fakes/fault_shim.c, preloaded; its calls are counted first, so that none is left out.
Many calls leave the same files behind (killed behind one call or before the next; an fsync changes nothing), and files
are all that the next command sees: each distinct state of the store is searched and mended once.
"""

import hashlib
import json
import os
import shutil
import signal
import subprocess
import tempfile
from pathlib import Path

import pytest

import service as kb

SHIM = Path(os.environ.get("FAULT_SHIM", Path(kb.KBGATE).resolve().parent / "tests" / "fault_shim.so"))
QUERY = "lighthouse keeper"

OLD = {
    "rules/oil.md": "# Oil\n\nThe lighthouse keeper refills the oil each evening.\n",
    "rules/fog.md": "---\nlabels: [crew]\n---\n# Fog\n\nIn fog the lighthouse keeper sounds the horn.\n",
}
NEW = {
    "rules/oil.md": "# Oil\n\nThe lighthouse keeper refills the oil at noon, twice in winter.\n",
    "rules/storm.md": "---\nlabels: [crew, night]\n---\n# Storm\n\nIn a storm the lighthouse keeper stays inside.\n",
}
OTHER = {"ships.md": "# Ships\n\nNo lighthouse keeper goes aboard.\n"}


def write(folder: Path, files: dict) -> Path:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder


def ingest(store: Path, folder: Path, collection: str, **fault) -> subprocess.CompletedProcess:
    environment = dict(os.environ)
    if fault:
        environment |= {"LD_PRELOAD": str(SHIM), "FAULT_DIR": str(store)} | fault
        # A sanitizer's runtime wants to be the first library; the shim calls nothing of it.
        options = environment.get("ASAN_OPTIONS", "")
        environment["ASAN_OPTIONS"] = f"{options}:verify_asan_link_order=0:detect_leaks=0"
    command = [kb.KBGATE, "ingest", "--store", store, folder]
    command += ["--collection", collection, "--doc-type", "rule", "--label", "public"]
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60)


def search(store: Path) -> str:
    done = subprocess.run([kb.KBGATE, "search", "--store", store, "--json", QUERY],
                          capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["results"], done.stdout
    return done.stdout


class World:
    """A store that serves the old version, what it answers, and what the new version answers."""

    def __init__(self, home: Path):
        self.home = home.resolve()
        self.store = self.home / "store"
        self.new_files = write(self.home / "new", NEW)
        self.base = self.home / "base"
        for files, collection in ((OTHER, "ships"), (OLD, "lights")):
            done = ingest(self.base, write(self.home / collection, files), collection)
            assert done.returncode == 0, done.stderr
        self.old = search(self.base)
        self.reset()
        count = self.home / "count"
        done = ingest(self.store, self.new_files, "lights", FAULT_COUNT=str(count))
        assert done.returncode == 0, done.stderr
        self.calls = int(count.read_text())
        self.new = search(self.store)
        self.mended = set()  # states that are known to serve the right version and to be mended by the next ingest

    def reset(self) -> None:
        shutil.rmtree(self.store, ignore_errors=True)
        shutil.copytree(self.base, self.store)

    def state(self) -> str:
        whole = hashlib.sha256()
        for path in sorted(self.store.rglob("*")):
            data = path.read_bytes() if path.is_file() else b""
            whole.update(f"{path.relative_to(self.store)}\0{path.is_dir()}\0{len(data)}\0".encode() + data)
        return whole.hexdigest()

    def check(self, switched: bool, where: str) -> None:
        """What the store serves now, and that another ingest makes the new version of it."""
        state = self.state()
        if state in self.mended:
            return
        assert search(self.store) == (self.new if switched else self.old), where
        again = ingest(self.store, self.new_files, "lights")
        assert again.returncode == 0, f"{where}: {again.stderr}"
        assert search(self.store) == self.new, where
        assert not [name for name in self.files() if name.endswith(".new")], f"{where}: {self.files()}"
        self.mended.add(state)

    def current(self) -> str:
        return (self.store / "CURRENT").read_text()

    def files(self) -> list:
        return sorted(str(p.relative_to(self.store)) for p in self.store.rglob("*") if p.is_file())


@pytest.fixture(scope="module")
def world() -> World:
    assert SHIM.exists(), f"no {SHIM}: build the target fault_shim"
    # In memory where that is possible: a thousand fsyncs of a real disk take minutes and show nothing more, since
    # it is the process that dies here and not the kernel.
    memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    with tempfile.TemporaryDirectory(prefix="kbgate-crash-", dir=memory) as home:
        yield World(Path(home))


def test_the_versions_differ_and_the_calls_are_seen(world):
    assert world.old != world.new
    versions = [json.loads(text)["index_version"] for text in (world.old, world.new)]
    assert versions[0] != versions[1]
    # Two segments, the generation file and CURRENT: each is created, written, synced; and the renames.
    assert world.calls > 30


@pytest.mark.timeout(600)
@pytest.mark.parametrize("mode", ["before", "after", "torn"])
def test_killed_at_every_call(world, mode):
    outcomes = []
    for n in range(1, world.calls + 1):
        world.reset()
        before = world.current()
        done = ingest(world.store, world.new_files, "lights", FAULT_AT=str(n), FAULT_MODE=mode)
        assert done.returncode == -signal.SIGKILL, f"call {n}: {done.returncode} {done.stderr}"
        switched = world.current() != before
        outcomes.append(switched)
        world.check(switched, f"call {n}")
    # Once switched, always switched; and both sides of the switch were tried.
    assert outcomes == sorted(outcomes)
    assert not outcomes[0]
    assert outcomes[-1]


@pytest.mark.timeout(600)
def test_disk_full_from_every_call_on(world):
    refused = 0
    for n in range(1, world.calls + 1):
        world.reset()
        before = world.current()
        done = ingest(world.store, world.new_files, "lights", FAULT_AT=str(n), FAULT_MODE="full")
        switched = world.current() != before
        if done.returncode != 0:
            refused += 1
            assert done.returncode == 1, f"call {n}: {done.returncode}"
            assert "space" in done.stderr.lower() or "full" in done.stderr.lower(), f"call {n}: {done.stderr}"
        else:
            assert switched, f"call {n}: reported as published"
        world.check(switched, f"call {n}")
    assert refused > 30


def test_a_first_ingest_that_is_killed_can_be_repeated(world):
    mended = set()
    for n in range(1, world.calls + 1):
        shutil.rmtree(world.store, ignore_errors=True)
        done = ingest(world.store, world.new_files, "lights", FAULT_AT=str(n), FAULT_MODE="before")
        assert done.returncode in (0, -signal.SIGKILL), f"call {n}: {done.stderr}"
        state = world.state()
        if state in mended:
            continue
        mended.add(state)
        again = ingest(world.store, world.new_files, "lights")
        assert again.returncode == 0, f"call {n}: {again.stderr}"
        served = json.loads(search(world.store))
        assert {hit["collection"] for hit in served["results"]} == {"lights"}
