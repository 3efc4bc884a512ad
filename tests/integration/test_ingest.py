# SPDX-License-Identifier: Apache-2.0
"""`kbgate ingest` as its user sees it: what is published and to whom, what is left out, and what the terminal shows.

The rule behind most of it: doubt about who may read a document leaves the document out.
"""

import json
import os

import pytest

import service as kb

WHERE = ["--collection", "kb", "--doc-type", "note", "--label", "public"]


@pytest.fixture
def folder(tmp_path):
    made = tmp_path / "corpus"
    made.mkdir()
    (made / "good.md").write_text("# Good\n\nA good document about lanterns.\n")
    return made


def write(folder, files: dict):
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text if isinstance(text, str) else "".join(json.dumps(line) + "\n" for line in text))


def ingest(folder, *args, check=True):
    return kb.run("ingest", "--store", folder.parent / "store", folder, *WHERE, *args, check=check)


def published(folder) -> dict:
    """collection/doc_type[labels] -> number of documents, of the live version."""
    store = folder.parent / "store"
    name = (store / "CURRENT").read_text().strip()
    segments = json.loads((store / "generations" / name).read_text())["segments"]
    return {f"{s['collection']}/{s['doc_type']}{s['labels']}": s["documents"] for s in segments}


# Each of these was meant to keep the document to hr.
MEANT_FOR_HR = {
    "a misspelt field": {"manifest.jsonl": [{"path": "a.md", "lables": ["hr"]}]},
    "a field in capitals": {"manifest.jsonl": [{"path": "a.md", "LABELS": ["hr"]}]},
    "a path in other case": {"manifest.jsonl": [{"path": "A.md", "labels": ["hr"]}]},
    "an absolute path": {"manifest.jsonl": [{"path": "/a.md", "labels": ["hr"]}]},
    "a path of its own": {"manifest.jsonl": [{"path": "corpus/a.md", "labels": ["hr"]}]},
    "a misspelt path": {"manifest.jsonl": [{"paht": "a.md", "labels": ["hr"]}]},
    "no end": {"a.md": "---\nlabels: [hr]\n\nsecret lanterns\n"},
    "an end of four": {"a.md": "---\nlabels: [hr]\n----\nsecret lanterns\n"},
    "blank lines before": {"a.md": "\n\n---\nlabels: [hr]\n---\nsecret lanterns\n"},
    "a capital key": {"a.md": "---\nLabels: [hr]\n---\nsecret lanterns\n"},
    "a misspelt key": {"a.md": "---\nlables: [hr]\n---\nsecret lanterns\n"},
    "TOML": {"a.md": '+++\nlabels = ["hr"]\n+++\nsecret lanterns\n'},
    "plain text": {"a.txt": "---\nlabels: [hr]\n---\nsecret lanterns\n"},
    "a misspelt member": {"a.jsonl": [{"id": "a", "text": "secret lanterns", "lables": ["hr"]}]},
    "a manifest below": {"d/a.md": "secret lanterns\n", "d/manifest.jsonl": [{"path": "a.md", "labels": ["hr"]}]},
}


@pytest.mark.security
@pytest.mark.parametrize("files", MEANT_FOR_HR.values(), ids=MEANT_FOR_HR.keys())
def test_doubt_leaves_a_document_out(folder, files):
    write(folder, {"a.md": "secret lanterns\n"} if "manifest.jsonl" in files else {})
    write(folder, files)
    write(folder, {"rest/z.md": "---\ncollection: rest\nlabels: [public]\n---\nalways there\n"})
    manifest = folder / "manifest.jsonl"
    if manifest.exists():  # both others are named, so that they go in
        manifest.write_text('{"path":"good.md"}\n{"path":"rest/z.md"}\n' + manifest.read_text())
    done = ingest(folder)
    assert published(folder) == {"kb/note['public']": 1, "rest/note['public']": 1}, done.stderr
    found = kb.run("search", "--store", folder.parent / "store", "--json", "secret lanterns").stdout
    assert "secret" not in found
    assert "skipped a." in done.stderr or "skipped d/a.md: " in done.stderr
    strict = ingest(folder, "--strict", check=False)
    assert strict.returncode == 1 and "strict" in strict.stderr


def test_paths_of_a_manifest_may_be_spelt_with_dots_and_double_slashes(folder):
    write(folder, {"d/b.md": "lanterns\n", "manifest.jsonl": [
        {"path": "./good.md", "labels": ["hr"]}, {"path": "d//b.md", "labels": ["hr"]}]})
    done = ingest(folder)
    assert published(folder) == {"kb/note['hr']": 2} and done.stderr == ""


def test_foreign_keys_are_nobodys_business(folder):
    write(folder, {
        "a.md": "---\nlayout: post\ntags: [hr]\nlevels: [1]\n---\ntext\n",
        "r.jsonl": [{"id": "1", "text": "text", "page": 3, "tables": 2}],
    })
    done = ingest(folder)
    assert published(folder) == {"kb/note['public']": 3} and done.stderr == ""


# A file name, and how it is shown.
NAMES = {
    b"rtl\xe2\x80\xaegpj.md": r"rtl\u202egpj.md",
    b"zero\xe2\x80\x8b.md": r"zero\u200b.md",
    b"esc\x1b]0;owned\x07.md": r"esc\x1b]0;owned\x07.md",
    b"new\nskipped good.md.md": r"new\x0askipped good.md.md",
    b"csi\xc2\x9b31m.md": r"csi\u009b31m.md",
    b"tag\xf3\xa0\x81\x81.md": r"tag\U000e0041.md",
    b"bad\xff.md": r"bad\xff.md",
}


@pytest.mark.security
def test_names_that_deceive_are_left_out_and_shown_escaped(folder):
    for name in NAMES:
        (folder.parent / "corpus").joinpath(os.fsdecode(name)).write_text("lanterns\n")
    done = ingest(folder)
    lines = done.stderr.splitlines()
    assert len(lines) == len(NAMES) and done.stderr.isascii() and done.stderr.replace("\n", "").isprintable(), lines
    for shown in NAMES.values():
        assert [line for line in lines if line.startswith(f"skipped {shown}: ")], (shown, lines)
    assert published(folder) == {"kb/note['public']": 1}


@pytest.mark.security
def test_errors_show_names_escaped(folder):
    done = kb.run("ingest", "--store", folder.parent / "store", "missing\x1b[2J\u202e\n.md", check=False)
    assert done.returncode == 1 and r"missing\x1b[2J\u202e\x0a.md" in done.stderr
    done = kb.run("ingest", "--\x1b[2J", check=False)
    assert done.returncode == 2 and "\x1b" not in done.stderr
    named = folder / "m\x1b.jsonl"
    named.write_text("{\n")
    done = ingest(folder, "--manifest", named, check=False)
    assert r"skipped m\x1b.jsonl:1: " in done.stderr and "\x1b" not in done.stderr


def test_the_json_report_lists_what_was_skipped(folder):
    write(folder, {"a\u202e.md": "x", "r.jsonl": [{"text": "no id"}, [1]]})
    (folder / "quote\".png").write_text("x")
    done = ingest(folder, "--json", "--quiet")
    assert done.stderr == "" and done.stdout.isascii()
    report = json.loads(done.stdout)
    assert report["skipped"] == 4 and report["documents"] == 1
    items = {(item["path"], item["line"]) for item in report["skipped_items"]}
    assert items == {("a\u202e.md", 0), ("r.jsonl", 1), ("r.jsonl", 2), ('quote".png', 0)}
    assert all(item["reason"] for item in report["skipped_items"])
    assert json.loads(ingest(folder, "--json").stdout)["skipped_items"] == report["skipped_items"]


@pytest.mark.parametrize("lines, listed", [(999, 999), (1000, 1000), (1001, 1000)])
def test_the_json_report_lists_a_thousand(folder, lines, listed):
    (folder / "r.jsonl").write_text("[]\n" * lines)
    report = json.loads(ingest(folder, "--json", "--quiet").stdout)
    assert report["skipped"] == lines and len(report["skipped_items"]) == listed


def test_a_mistake_in_a_value_names_the_line_of_the_manifest(folder):
    write(folder, {"a.md": "x", "b.md": "x", "c.md": "x", "manifest.jsonl": [
        {"path": "good.md"}, {"path": "a.md", "published": "soon"}, {"path": "b.md", "id": "\u200b"},
        {"path": "c.md", "source_url": "javascript:alert(1)"}]})
    shown = ingest(folder).stderr
    assert "skipped manifest.jsonl:2: published: " in shown
    assert "skipped manifest.jsonl:3: id: " in shown
    assert "skipped manifest.jsonl:4: source_url: " in shown
    assert published(folder) == {"kb/note['public']": 1}


@pytest.mark.security
def test_no_address_that_runs_something(folder):
    write(folder, {
        "a.md": "---\nsource_url: javascript:alert(1)\n---\nlanterns\n",
        "r.jsonl": [{"id": "1", "text": "lanterns", "source_url": "data:text/html,x"},
                    {"id": "2", "text": "lanterns", "source_url": "mailto:keeper@example.org"}],
    })
    shown = ingest(folder).stderr
    assert "skipped a.md: source_url: " in shown and "skipped r.jsonl:1: source_url: " in shown
    found = kb.run("search", "--store", folder.parent / "store", "--json", "lanterns").stdout
    assert "mailto:keeper@example.org" in found and "javascript" not in found and "data:" not in found


@pytest.mark.security
def test_hidden_html_is_not_published(folder):
    hidden = ['style="DISPLAY:NONE"', 'style="display :none"', 'style="visibility:hidden"', 'style="font-size:0"',
              'aria-hidden="true"', "HIDDEN"]
    (folder / "h.html").write_text("<p>lanterns shown" + "".join(f"<p {how}>lanterns secret" for how in hidden))
    (folder / "m.md").write_text("lanterns shown\n\n" + "\n\n".join(f"lanterns <b {how}>secret</b>" for how in hidden))
    ingest(folder)
    found = kb.run("search", "--store", folder.parent / "store", "--json", "lanterns").stdout
    assert found.count("shown") == 2 and "secret" not in found


def test_an_untitled_record_has_its_id_as_title(folder):
    write(folder, {"r.jsonl": [{"id": "rec/7", "text": "harpoon"}, {"id": "8", "body": "harpoon text", "title": " "},
                               {"id": "9", "text": "harpoon of nine", "title": "Nine"}]})
    ingest(folder)
    found = json.loads(kb.run("search", "--store", folder.parent / "store", "--json", "harpoon").stdout)
    assert {hit["doc_id"]: hit["title"] for hit in found["results"]} == {"rec/7": "rec/7", "8": "8", "9": "Nine"}


def test_a_collection_that_a_broken_manifest_shrinks_is_named(folder):
    write(folder, {"b.md": "x", "c.md": "x"})
    assert "warning" not in ingest(folder).stderr
    write(folder, {"manifest.jsonl": '{"path": "good.md"}\n{broken\n'})
    done = ingest(folder, "--quiet")
    assert done.stderr.splitlines() == [
        "warning: the manifest has a mistake, and collection kb goes from 3 documents to 1"]
    assert published(folder) == {"kb/note['public']": 1}


def test_too_many_partitions_are_warned_of_and_then_refused(folder):
    def lines(n):
        return [{"id": str(i), "text": "x", "labels": [f"l{i}"]} for i in range(n)]
    write(folder, {"r.jsonl": lines(200)})
    (folder / "good.md").unlink()
    assert "warning" not in ingest(folder).stderr
    write(folder, {"r.jsonl": lines(201)})
    assert "warning: the store has 201 partitions" in ingest(folder).stderr
    before = published(folder)
    write(folder, {"r.jsonl": lines(1001)})
    done = ingest(folder, check=False)
    assert done.returncode == 1 and "1001 partitions" in done.stderr
    assert published(folder) == before and len(before) == 201


def test_help_names_every_field_and_what_exit_0_means():
    text = kb.run("ingest", "--help").stdout
    manifest = next(line for line in text.splitlines() if "--manifest" in line)
    for name in ("path", "id", "collection", "doc_type", "labels", "published", "title", "source_url"):
        assert name in manifest, name
    matter = " ".join(text.split()).split("front matter (")[1].split(")")[0]
    for name in ("title", "published", "date", "collection", "doc_type", "labels", "source_url"):
        assert name in matter, name
    assert "Exit code 0" in text and "skipped" in text and "--strict" in text


def test_the_store_is_the_same_on_any_number_of_processors(folder):
    for number in range(12):
        write(folder, {f"n{number}.jsonl": [{"id": f"{number}-{i}", "text": f"lantern {i} and wick {i * number}",
                                             "doc_type": f"type{number}"} for i in range(40)]})
    allowed, stores = os.sched_getaffinity(0), []
    try:
        for processors in ({min(allowed)}, allowed):
            os.sched_setaffinity(0, processors)
            store = folder.parent / f"store{len(stores)}"
            kb.run("ingest", "--store", store, folder, *WHERE)
            stores.append({str(path.relative_to(store)): path.read_bytes() for path in store.rglob("*") if path.is_file()})
    finally:
        os.sched_setaffinity(0, allowed)
    assert stores[0] == stores[1]
    assert sum(name.endswith(".idx") for name in stores[0]) == 13
