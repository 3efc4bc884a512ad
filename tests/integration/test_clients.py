# SPDX-License-Identifier: Apache-2.0
"""Real MCP clients, pinned, over HTTP and stdio, in both eras: what an agent's client does.

A client validates structuredContent against outputSchema by itself; the tests do it once more, for
all four outcomes.
"""

import json
import os
import re
from pathlib import Path

import jsonschema
import pytest

import drivers
import service as kb

pytestmark = pytest.mark.conformance

FOUND = {"query": "How far ahead do I have to book travel?", "top_k": 3}
NOTHING = {"query": "xylophone zygote quasar"}
INVALID = {"query": "travel", "top_k": 21}
SNAPSHOTS = Path(__file__).resolve().parent / "snapshots"


def check_outcome(result: dict, schema: dict, kind: str | None) -> dict:
    """One shape for every outcome; the text block is the exact JSON of structuredContent."""
    assert "raised" not in result, result
    outcome = result["structuredContent"]
    jsonschema.validate(outcome, schema)
    assert [block["type"] for block in result["content"]] == ["text"]
    assert json.loads(result["content"][0]["text"]) == outcome
    assert bool(result.get("isError")) == (kind in ("invalid_input", "retryable"))
    assert outcome.get("error", {}).get("type") == kind, outcome
    if kind is not None:
        assert outcome["results"] == []
    return outcome


def check_found(outcome: dict) -> None:
    assert outcome["index_version"].startswith("kb1-")
    assert 1 <= len(outcome["results"]) <= 3
    best = outcome["results"][0]
    assert best["doc_id"] in ("handbook/travel.md", "faq/travel.md")
    assert "fourteen days ahead" in best["text"]
    scores = [r["score"] for r in outcome["results"]]
    assert scores == sorted(scores, reverse=True) and 0 < scores[-1] and scores[0] <= 1


def check_retryable(outcome: dict) -> None:
    error = outcome["error"]
    assert error["budget"] == "tenant/minute"
    assert 0 < error["retry_after_ms"] <= 60_000


MISSING = "kb://doc/handbook/no-such-document.md"


@pytest.fixture(scope="module")
def conversation(server, token, tmp_path_factory):
    """conversation(client): all that one client asks of the shared service, said once."""
    found = server.search(token, **FOUND)["results"][0]
    steps = {
        "tools": ["tools/list"],
        "found": ["tools/call", FOUND],
        "nothing": ["tools/call", NOTHING],
        "invalid": ["tools/call", INVALID],
        "resources": ["resources/list"],
        "templates": ["resources/templates/list"],
        "index": ["resources/read", "kb://index"],
        "document": ["resources/read", f"kb://doc/{found['collection']}/{found['doc_id']}"],
        "missing": ["resources/read", MISSING],
        "prompts": ["prompts/list"],
        "prompt": ["prompts/get", "literature_summary", {"topic": "travel"}],
    }
    said = {}

    def converse(client):
        if client not in said:
            seen = drivers.run(client, server, token, list(steps.values()), tmp_path_factory.mktemp("home"))
            said[client] = seen | {"results": dict(zip(steps, seen["results"], strict=True))}
        return said[client]

    return converse


@pytest.mark.parametrize("client", drivers.SDKS, ids=str)
def test_sdk_lists_one_tool_and_gets_every_outcome(client, conversation):
    seen = conversation(client)
    assert seen["version"] == client.version
    if seen["server"] is not None or client.name != "sdk-python":  # which asks nobody when it is pinned
        assert seen["server"]["name"] == "kbgate"
    results = seen["results"]
    assert [tool["name"] for tool in results["tools"]["tools"]] == ["search_kb"]
    schema = results["tools"]["tools"][0]["outputSchema"]
    check_found(check_outcome(results["found"], schema, None))
    check_outcome(results["nothing"], schema, "empty")
    assert check_outcome(results["invalid"], schema, "invalid_input")["error"]["field"] == "top_k"


@pytest.mark.parametrize("client", drivers.SDKS, ids=str)
def test_sdk_reads_resources_and_prompts(client, conversation):
    results = conversation(client)["results"]
    assert [r["uri"] for r in results["resources"]["resources"]] == ["kb://index"]
    assert [t["uriTemplate"] for t in results["templates"]["resourceTemplates"]] == [
        "kb://doc/{collection}/{+doc_id}",
        "kb://chunk/{+chunk_id}",
    ]
    assert results["index"]["contents"][0]["uri"] == "kb://index"
    assert "fourteen days ahead" in results["document"]["contents"][0]["text"]
    # -32002 before 2026-07-28; version 2 of the TypeScript SDK translates it
    legacy = client.version == kb.LEGACY and client.name != "sdk-v2"
    assert results["missing"]["raised"]["code"] == (-32002 if legacy else -32602)
    assert [p["name"] for p in results["prompts"]["prompts"]] == ["literature_summary"]
    assert "travel" in json.dumps(results["prompt"]["messages"])


@pytest.mark.parametrize("client", drivers.SDKS, ids=str)
def test_sdk_gets_retryable_when_the_budget_is_spent(client, own_server, tmp_path):
    service = own_server(start=client.transport == "http")
    token = service.mint("kb:read", tenant="meagre")
    steps = [["tools/list"], ["tools/call", FOUND], ["tools/call", NOTHING], ["tools/call", FOUND]]
    tools, found, spent, again = drivers.run(client, service, token, steps, tmp_path)["results"]
    schema = tools["tools"][0]["outputSchema"]
    check_found(check_outcome(found, schema, None))
    check_retryable(check_outcome(spent, schema, "retryable"))
    assert again["content"] == found["content"], "a repeat is free and changes nothing"


@pytest.mark.redis
@pytest.mark.parametrize("client", drivers.SDKS, ids=str)
def test_sdk_gets_the_same_from_every_replica(client, replicas, tmp_path):
    """Over stdio each session is a replica of its own."""
    both = replicas(start=client.transport == "http", n=2, budgets=kb.BUDGETS)
    token = both.mint("kb:read", tenant="meagre")  # which has one new answer a minute
    first, second = (drivers.run(client, one, token, steps, tmp_path)["results"] for one, steps in (
        (both[0], [["tools/list"], ["tools/call", FOUND]]),
        (both[1], [["tools/list"], ["tools/call", FOUND], ["tools/call", NOTHING]])))
    schema = first[0]["tools"][0]["outputSchema"]
    check_found(check_outcome(first[1], schema, None))
    assert second[1]["content"] == first[1]["content"], "a repeat is free and changes nothing"
    check_retryable(check_outcome(second[2], schema, "retryable"))


@pytest.mark.parametrize("transport", ["http", "stdio"])
@pytest.mark.parametrize("era", ["legacy", "auto", "modern"])
def test_inspector_lists_one_tool_and_gets_every_outcome(transport, era, server, token, tmp_path):
    def inspect(method, *args):
        return drivers.inspect(server, token, transport, era, method, tmp_path, *args)

    def call(arguments):
        return inspect("tools/call", "--tool-name", "search_kb", "--tool-args-json", json.dumps(arguments))

    code, tools = inspect("tools/list")
    assert code == 0 and [tool["name"] for tool in tools["tools"]] == ["search_kb"]
    schema = tools["tools"][0]["outputSchema"]
    code, found = call(FOUND)
    check_found(check_outcome(found, schema, None))
    assert code == 0
    code, nothing = call(NOTHING)
    check_outcome(nothing, schema, "empty")
    assert code == 0
    code, invalid = call(INVALID)
    check_outcome(invalid, schema, "invalid_input")
    assert code == 5, "a tool error"


def test_inspector_reads_resources_and_prompts(server, token, tmp_path):
    def inspect(method, *args):
        return drivers.inspect(server, token, "http", "modern", method, tmp_path, *args)

    code, index = inspect("resources/read", "--uri", "kb://index")
    assert code == 0 and index["contents"][0]["uri"] == "kb://index"
    code, prompt = inspect("prompts/get", "--prompt-name", "literature_summary", "--prompt-args", "topic=travel")
    assert code == 0 and prompt["messages"]


def test_inspector_finds_the_schemas_portable(server, token, tmp_path):
    code, _ = drivers.inspect(server, token, "http", "legacy", "tools/list", tmp_path, "--strict")
    assert code == 0


def test_inspector_gets_retryable_when_the_budget_is_spent(own_server, tmp_path):
    service = own_server()
    token = service.mint("kb:read", tenant="meagre")
    schema = service.rpc("tools/list", {}, token).json()["result"]["tools"][0]["outputSchema"]
    service.search(token, **FOUND)
    code, spent = drivers.inspect(
        service, token, "http", "modern", "tools/call", tmp_path,
        "--tool-name", "search_kb", "--tool-args-json", json.dumps(NOTHING),
    )
    assert code == 5
    check_retryable(check_outcome(spent, schema, "retryable"))


@pytest.mark.parametrize("transport", ["http", "stdio"])
def test_a_client_with_a_bad_token_is_turned_away(transport, server, tmp_path):
    client = drivers.Client("sdk-v1", "sdk_v1.mjs", transport, "legacy", kb.LEGACY)
    with pytest.raises(AssertionError) as refused:
        drivers.run(client, server, "not.a.token", [["tools/list"]], tmp_path)
    assert "exit 1" in str(refused.value)
    assert "search_kb" not in str(refused.value)


LISTS = {
    "tools": ("tools/list", {}),
    "resources": ("resources/list", {}),
    "templates": ("resources/templates/list", {}),
    "prompts": ("prompts/list", {}),
    "prompt": ("prompts/get", {"name": "literature_summary", "arguments": {"topic": "travel"}}),
    "index": ("resources/read", {"uri": "kb://index"}),
    "discover": ("server/discover", {}),
}


@pytest.mark.parametrize(
    ("name", "era"), [(name, era) for name in LISTS for era in ("legacy", "modern") if (name, era) != ("discover", "legacy")]
)
def test_what_clients_are_told_equals_the_reviewed_snapshot(name, era, server, restricted_token):
    """A change of any text a model reads has to be seen in review: KB_UPDATE_SNAPSHOTS=1 writes them anew."""
    method, params = LISTS[name]
    reply = server.rpc(method, params, restricted_token, modern=era == "modern")
    assert reply.status == 200, reply.body
    told = json.dumps(reply.json()["result"], indent=2, ensure_ascii=False) + "\n"
    told = re.sub(r"kb1-[a-z2-7]{26}", "kb1-(index_version)", told)  # moves with the ranking parameters
    file = SNAPSHOTS / f"{name}-{era}.json"
    if os.environ.get("KB_UPDATE_SNAPSHOTS"):
        file.parent.mkdir(exist_ok=True)
        file.write_text(told, encoding="utf-8")
    assert told == file.read_text(encoding="utf-8")
