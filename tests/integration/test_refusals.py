# SPDX-License-Identifier: Apache-2.0
"""What does not start says which file, key and fix; what cannot be ingested says where and why."""

import re

import pytest

import corpus
import service as kb


def serve_fails(server) -> str:
    done = kb.run("serve", "--config", server.config, check=False)
    assert done.returncode == 1 and done.stdout == ""
    return done.stderr


def edit(path, old, new):
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


# file, what is replaced, by what, what the message must hold
BROKEN = [
    ("kbgate.yaml", "threads: 2", "treads: 2", ["kbgate.yaml:", "treads"]),
    ("kbgate.yaml", "threads: 2", "threads: many", ["kbgate.yaml:", "threads"]),
    ("kbgate.yaml", "threads: 2", "threads: 2\nthreads: 3", ["kbgate.yaml:", "threads"]),
    ("kbgate.yaml", "threads: 2", "threads: 2\nanswer: {rrf_k: 0}", ["kbgate.yaml:", "rrf_k"]),
    ("kbgate.yaml", "threads: 2", "threads: 2\nanswer: {nothing: 1}", ["kbgate.yaml:", "nothing", "candidate_depth"]),
    ("kbgate.yaml", "    meagre: {", "    maegre: {", ["kbgate.yaml", "maegre", "policy.yaml"]),
    ("kbgate.yaml", "policy_file: policy.yaml", "policy_file: absent.yaml", ["absent.yaml"]),
    ("kbgate.yaml", "fence_key_file: fence.key\n", "", ["fence_key_file"]),
    ("kbgate.yaml", "audit_key_file: audit.key\n", "", ["audit_key_file"]),
    ("kbgate.yaml", 'public_url: "http://kb.example/mcp"\n', "", ["public_url"]),
    ("kbgate.yaml", 'public_url: "http://kb.example/mcp"', 'public_url: "http://elsewhere.example/mcp"', ["audience", "elsewhere.example"]),
    ("kbgate.yaml", 'listen: "127.0.0.1:0"\nadmin', 'listen: "0.0.0.0:0"\nadmin', ["development", "loopback"]),
    ("kbgate.yaml", 'listen: "127.0.0.1:0"\nadmin', 'listen: "nowhere"\nadmin', ["listen"]),
    ("policy.yaml", "jwks_file: jwks.json", "jwks_file: absent.json", ["absent.json"]),
    ("policy.yaml", '    audiences: ["http://kb.example/mcp"]\n', "", ["policy.yaml:", "audiences"]),
    ("policy.yaml", "grants:", "grantz:", ["policy.yaml:", "grantz"]),
    ("policy.yaml", "labels: [public]}", "label: [public]}", ["policy.yaml:", "label"]),
    ("policy.yaml", 'doc_types: ["*"], labels: [public]}', "doc_types: *, labels: [public]}", ["policy.yaml:", '"*"']),
    ("policy.yaml", "tenants: [acme, globex, meagre]", "tenants: [acme, globx]", ["policy.yaml:", "globx"]),
]


@pytest.mark.parametrize("file, old, new, words", BROKEN, ids=lambda v: v if isinstance(v, str) else None)
def test_a_broken_setting_stops_the_start_and_is_named(own_server, file, old, new, words):
    server = own_server(start=False)
    edit(server.home / file, old, new)
    message = serve_fails(server)
    for word in words:
        assert word in message, message
    checked = kb.run("check", "--config", server.config, check=False)
    assert checked.returncode == 1 and checked.stderr.splitlines()[-1].replace("check:", "") == message.splitlines()[-1].replace("serve:", "")


def test_no_issuer_no_start(own_server):
    server = own_server(start=False)
    policy = server.home / "policy.yaml"
    text = policy.read_text()
    policy.write_text(re.sub(r"issuers:\n(?:  .*\n)+", "issuers: {}\n", text))
    assert "issuer" in serve_fails(server)


def test_no_usable_key_no_start(own_server):
    server = own_server(start=False)
    (server.home / "jwks.json").write_text('{"keys":[{"kty":"oct","k":"c2VjcmV0"}]}')
    message = serve_fails(server)
    assert "jwks.json" in message and "secret" not in message and "c2VjcmV0" not in message


def test_no_store_no_start_and_the_command_that_makes_one(own_server, tmp_path):
    server = own_server(start=False, store=tmp_path / "nothing")
    assert "kbgate ingest --store" in serve_fails(server)


def test_a_taken_port_is_named(own_server, server):
    second = own_server(start=False)
    edit(second.config, 'listen: "127.0.0.1:0"\nadmin', f'listen: "{server.host}"\nadmin')
    # SO_REUSEPORT would let both bind: the service must notice all the same, or the two would share clients.
    message = serve_fails(second)
    assert server.host in message


BAD_FILES = {
    "latin1.md": "Grüße aus dem Büro".encode("latin-1"),
    "empty.md": b"",
    "binary.txt": b"text\0more",
    "picture.png": b"\x89PNG",
    "lines.jsonl": b'{"id":"a","text":"the first good record"}\n{broken\n{"id":"b","text":"the second good record"}\n[1]\n',
}


def test_bad_files_are_skipped_with_file_line_and_reason(tmp_path):
    folder = tmp_path / "corpus"
    folder.mkdir()
    for name, data in BAD_FILES.items():
        (folder / name).write_bytes(data)
    (folder / "good.md").write_text("# Good\n\nA good document about lanterns.\n")
    unreadable = folder / "loop.md"
    unreadable.symlink_to("loop.md")
    where = ["--collection", "kb", "--doc-type", "note", "--label", "public"]
    report = kb.ingest(tmp_path / "store", folder, *where)
    for words in (["latin1.md", "UTF-8"], ["empty.md", "empty"], ["binary.txt", "binary"], ["picture.png"],
                  ["lines.jsonl:2"], ["lines.jsonl:4"]):
        line = [line for line in report.splitlines() if all(word in line for word in words)]
        assert line, (words, report)
    found = kb.run("search", "--store", tmp_path / "store", "--json", "lanterns").stdout
    assert "good.md" in found
    assert "good record" in kb.run("search", "--store", tmp_path / "store", "--json", "second good record").stdout

    done = kb.run("ingest", "--store", tmp_path / "strict", "--strict", folder, *where, check=False)
    assert done.returncode == 1 and "latin1.md" in done.stderr
    assert not (tmp_path / "strict" / "CURRENT").exists()


def test_usage_errors_exit_2_and_help_exits_0():
    for args in ([], ["nothing"], ["ingest"], ["serve"], ["serve", "--config"], ["search", "x"], ["search", "--store", "a", "--top-k", "21", "x"],
                 ["token", "--config", "x"], ["version", "--what"]):
        assert kb.run(*args, check=False).returncode == 2, args
    for command in ("serve", "stdio", "ingest", "search", "token", "check", "version"):
        done = kb.run(command, "--help")
        assert done.stdout.startswith(f"Usage: kbgate {command}") and "Exit codes: 0 done, 1 failed, 2 usage" in done.stdout


def test_a_misspelt_option_does_not_echo_its_value():
    for option in ("--tokn=c4n4ry", "--json=c4n4ry"):
        done = kb.run("search", option, "x", check=False)
        assert done.returncode == 2 and "c4n4ry" not in done.stderr + done.stdout
        assert option.split("=")[0] in done.stderr


def test_search_reaches_the_same_outcome_from_three_places(server, token, store):
    asked = ["--top-k", "3", "--json", "parental leave weeks"]
    as_owner = kb.run("search", "--store", store, *asked).stdout
    in_process = kb.run("search", "--config", server.config, "--token", token, *asked).stdout
    over_http = kb.run("search", "--url", server.url, "--token", token, *asked).stdout
    ids = [re.findall(r'"chunk_id":"([^"]*)"', out.replace(": ", ":")) for out in (as_owner, in_process, over_http)]
    assert ids[0] and ids[0] == ids[1] == ids[2]
    refused = kb.run("search", "--url", server.url, "--token", "bad", *asked, check=False)
    assert refused.returncode == 1 and "401" in refused.stderr


def test_check_explains_a_token(server, restricted_token):
    out = kb.run("check", "--config", server.config, "--token", restricted_token).stdout
    assert "token: ok" in out and "partition: collection=handbook" in out and "contracts" not in out.split("filter:")[1]
    partitions = [line for line in out.splitlines() if line.startswith("partition:")]
    assert partitions and all(line.endswith("opened_by=public") for line in partitions), out
    refused = kb.run("check", "--config", server.config, "--token", "bad", check=False)
    assert refused.returncode == 1 and "malformed" in refused.stdout
