# SPDX-License-Identifier: Apache-2.0
"""Fixtures every topic shares: one corpus and store for the run, one running service, tokens."""

import os
from pathlib import Path

import pytest

import corpus
import service as kb
from peers import whole_run  # noqa: F401, a fixture
from redis_server import RedisServer
from replicas import Replicas


def pytest_collection_modifyitems(items):
    for item in items:
        item.add_marker(pytest.mark.integration)


def pytest_report_header():
    return f"kbgate: {kb.KBGATE}"


@pytest.fixture(scope="session", autouse=True)
def clean_environment():
    """No variable of whoever runs the tests reaches kbgate or a client."""
    for name in list(os.environ):
        if name.lower().endswith("_proxy") or name.startswith(("KBGATE_TOKEN", "MCP_")):
            del os.environ[name]
    # A build with AddressSanitizer fails for leaks, but for those of libh2o.
    os.environ.setdefault("LSAN_OPTIONS", f"suppressions={kb.TOP / 'tests' / 'lsan.supp'}:print_suppressions=0")


@pytest.fixture(scope="session")
def corpus_folder(tmp_path_factory) -> Path:
    return corpus.write(tmp_path_factory.mktemp("corpus"))


@pytest.fixture(scope="session")
def store(tmp_path_factory, corpus_folder) -> Path:
    """The corpus, ingested. Tests that publish make a store of their own."""
    folder = tmp_path_factory.mktemp("store") / "store"
    kb.ingest(folder, corpus_folder)
    return folder


@pytest.fixture(scope="session")
def server(tmp_path_factory, store):
    """A running service that tests share: they leave it running and unchanged."""
    shared = kb.Service(tmp_path_factory.mktemp("service"), store).start()
    yield shared
    code = shared.stop()
    assert code == 0, f"serve ended with {code}\n{shared.log_text()}"
    # A build with sanitizers writes its findings into the log.
    assert "Sanitizer" not in shared.log_text() and "runtime error" not in shared.log_text(), shared.log_text()


@pytest.fixture
def own_server(tmp_path, store):
    """make(**options) starts a service of the test's own; see service.Service."""
    made = []

    def make(start=True, **options):
        options.setdefault("store", store)
        one = kb.Service(tmp_path / f"service{len(made)}", **options)
        made.append(one)
        return one.start() if start else one

    yield make
    for one in made:
        one.stop()
        log = one.home / "serve.log"
        assert not log.exists() or "Sanitizer" not in one.log_text(), one.log_text()


@pytest.fixture
def redis_server(tmp_path):
    """make(**options) starts a Redis of the test's own; see redis_server.RedisServer."""
    made = []

    def make(**options):
        made.append(RedisServer(tmp_path / f"redis{len(made)}", **options))
        return made[-1].start()

    yield make
    for one in made:
        one.kill()


@pytest.fixture
def replicas(tmp_path, store, redis_server):
    """make(**options) starts replicas with a Redis; see replicas.Replicas. With redis=… that one is theirs."""
    made = []

    def make(start=True, **options):
        options = {"store": store, "redis": None} | options
        options["redis"] = options["redis"] or redis_server()
        made.append(Replicas(tmp_path / f"replicas{len(made)}", **options))
        return made[-1].start() if start else made[-1]

    yield make
    for one in made:
        one.stop()


@pytest.fixture(scope="session")
def token(server) -> str:
    """Sees everything but what is embargoed."""
    return server.mint("kb:read kb:all", sub="everything")


@pytest.fixture(scope="session")
def restricted_token(server) -> str:
    """Sees what is public in handbook and faq."""
    return server.mint("kb:read", sub="restricted")
