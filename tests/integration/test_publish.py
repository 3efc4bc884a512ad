# SPDX-License-Identifier: Apache-2.0
"""Publishing under load: every answer belongs wholly to the version it names; a damaged store is never served."""

import re
import shutil
import threading
import time

import pytest

import corpus
import service as kb

N_CLIENTS = 50  # calls in flight while versions are published


def edition(n: int) -> list:
    """A corpus in which every passage names its edition."""
    return [
        corpus.Document(f"doc{i}.md", f"# Guide {i}\n\nThe travel desk answers. EDITION-{n} of part {i}.\n", "handbook", "policy", ["public"])
        for i in range(20)
    ]


def publish(store, folder, n):
    shutil.rmtree(folder, ignore_errors=True)
    kb.ingest(store, corpus.write(folder, edition(n)))


def test_each_answer_belongs_to_the_version_it_names(tmp_path, own_server):
    store, folder = tmp_path / "store", tmp_path / "source"
    publish(store, folder, 0)
    server = own_server(store=store, config="cache_bytes: 0\n")
    token = server.mint("kb:read")
    seen, errors, stop = {}, [], threading.Event()
    lock = threading.Lock()

    def client(n):
        i = 0
        while not stop.is_set():
            i += 1
            outcome = server.search(token, f"travel desk guide {n} {i}", top_k=20)
            editions = set(re.findall(r"EDITION-(\d+)", str(outcome["results"])))
            with lock:
                if len(editions) != 1:
                    errors.append(outcome)
                seen.setdefault(outcome["index_version"], set()).update(editions)

    threads = [threading.Thread(target=client, args=(n,)) for n in range(N_CLIENTS)]
    for thread in threads:
        thread.start()
    late = []
    for n in range(1, 6):
        publish(store, folder, n)
        end = time.monotonic() + 2
        while time.monotonic() < end:
            if f"EDITION-{n}" in str(server.search(token, "travel desk", top_k=1)["results"]):
                break
            time.sleep(0.02)
        else:
            late.append(n)
    stop.set()
    for thread in threads:
        thread.join()
    assert not errors and not late
    assert len(seen) == 6 and all(len(editions) == 1 for editions in seen.values())


def test_the_same_content_published_again_is_the_same_version(tmp_path, own_server):
    store, folder = tmp_path / "store", tmp_path / "source"
    publish(store, folder, 1)
    server = own_server(store=store)
    token = server.mint("kb:read")
    version = server.search(token, "travel")["index_version"]
    publish(store, folder, 2)
    server.restart()
    assert server.search(token, "travel")["index_version"] != version
    publish(store, folder, 1)
    server.restart()
    assert server.search(token, "travel")["index_version"] == version


def flip(path, offset):
    data = bytearray(path.read_bytes())
    data[offset] ^= 1
    path.write_bytes(data)


@pytest.mark.parametrize("ending", ["seg", "idx"])
def test_a_flipped_byte_is_found_named_and_never_served(tmp_path, own_server, ending):
    store, folder = tmp_path / "store", tmp_path / "source"
    publish(store, folder, 0)
    segment = next((store / "segments").glob(f"*.{ending}"))
    flip(segment, segment.stat().st_size * 2 // 3)
    server = own_server(start=False, store=store)
    done = kb.run("serve", "--config", server.config, check=False)
    assert done.returncode == 1 and segment.name in done.stderr
    done = kb.run("search", "--store", store, "travel", check=False)
    assert done.returncode == 1 and segment.name in done.stderr and not done.stdout


def test_a_store_of_another_version_is_refused_and_kept(tmp_path, own_server):
    store, folder = tmp_path / "store", tmp_path / "source"
    publish(store, folder, 0)
    manifest = store / "generations" / (store / "CURRENT").read_text().strip()
    manifest.write_text(manifest.read_text().replace('"format":3', '"format":2'))
    before = {path: path.read_bytes() for path in store.rglob("*") if path.is_file()}
    server = own_server(start=False, store=store)
    for command in (("serve", "--config", server.config), ("search", "--store", store, "travel"),
                    ("ingest", "--store", store, folder, "--collection", "notes", "--doc-type", "note",
                     "--label", "public")):
        done = kb.run(*command, check=False)
        assert done.returncode == 1 and not done.stdout
        assert "run kbgate ingest again" in done.stderr and str(store) in done.stderr
    assert {path: path.read_bytes() for path in store.rglob("*") if path.is_file()} == before


def test_a_damaged_new_version_leaves_the_old_one_serving(tmp_path, own_server):
    store, folder = tmp_path / "store", tmp_path / "source"
    publish(store, folder, 0)
    server = own_server(store=store)
    token = server.mint("kb:read")
    version = server.search(token, "travel")["index_version"]
    other = tmp_path / "other"
    shutil.copytree(store, other)
    publish(other, folder, 1)
    fresh = next(p for p in (other / "segments").glob("*.idx") if not (store / "segments" / p.name).exists())
    flip(fresh, fresh.stat().st_size // 2)
    for name in (other / "segments").iterdir():
        shutil.copy(name, store / "segments" / name.name)
    for name in (other / "generations").iterdir():
        shutil.copy(name, store / "generations" / name.name)
    (store / "CURRENT.new").write_text((other / "CURRENT").read_text())
    (store / "CURRENT.new").rename(store / "CURRENT")
    end = time.monotonic() + 5
    while "store_refresh_failed" not in server.log_text() and time.monotonic() < end:
        time.sleep(0.05)
    assert "store_refresh_failed" in server.log_text() and fresh.name in server.log_text()
    assert server.search(token, "travel desk")["index_version"] == version
