# SPDX-License-Identifier: Apache-2.0
"""Every rule on search_kb's arguments, over MCP and over /v1/search, on the running service."""

import json
from urllib.parse import urlencode

import pytest

OK = None

# arguments, the field an invalid_input must name (OK: none)
ROWS = [
    ({}, "query"),
    ({"query": ""}, "query"),
    ({"query": "   \t\n\u3000"}, "query"),
    ({"query": "?!… — «»"}, "query"),
    ({"query": "a\u0000b"}, "query"),
    ({"query": "a\u0007b"}, "query"),
    ({"query": None}, "query"),
    ({"query": 7}, "query"),
    ({"query": ["travel"]}, "query"),
    ({"query": "a"}, OK),
    ({"query": "x" * 2000}, OK),
    ({"query": "x" * 2001}, "query"),
    ({"query": " " + "x" * 2000 + " "}, OK),
    ({"query": "語" * 2000}, OK),
    ({"query": "語" * 2001}, "query"),
    ({"query": "\U0001f600"}, "query"),
    ({"query": "7"}, OK),
    ({"query": 'C++ "unclosed OR NEAR( * ^ -leave'}, OK),
    ({"query": "travel", "top_k": 0}, "top_k"),
    ({"query": "travel", "top_k": 1}, OK),
    ({"query": "travel", "top_k": 20}, OK),
    ({"query": "travel", "top_k": 21}, "top_k"),
    ({"query": "travel", "top_k": -5}, "top_k"),
    ({"query": "travel", "top_k": 2.5}, "top_k"),
    ({"query": "travel", "top_k": "5"}, OK),
    ({"query": "travel", "top_k": "x"}, "top_k"),
    ({"query": "travel", "top_k": "0x5"}, "top_k"),
    ({"query": "travel", "top_k": " 5"}, "top_k"),
    ({"query": "travel", "top_k": "21"}, "top_k"),
    ({"query": "travel", "top_k": True}, "top_k"),
    ({"query": "travel", "top_k": 2**62}, "top_k"),
    ({"query": "travel", "top_k": None}, OK),
    ({"query": "travel", "collection": "handbook"}, OK),
    ({"query": "travel", "collection": None}, OK),
    ({"query": "travel", "collection": ""}, "collection"),
    ({"query": "travel", "collection": "Handbook"}, "collection"),
    ({"query": "travel", "collection": "nowhere"}, "collection"),
    ({"query": "travel", "collection": "*"}, "collection"),
    ({"query": "travel", "collection": ["handbook"]}, "collection"),
    ({"query": "travel", "collection": '["handbook"]'}, "collection"),
    ({"query": "travel", "doc_type": "policy"}, OK),
    ({"query": "travel", "doc_type": "nothing"}, "doc_type"),
    ({"query": "travel", "published_from": "2024-01-01"}, OK),
    ({"query": "travel", "published_from": "2024-02-29"}, OK),
    ({"query": "travel", "published_from": "2023-02-29"}, "published_from"),
    ({"query": "travel", "published_from": "2024-1-1"}, "published_from"),
    ({"query": "travel", "published_from": "yesterday"}, "published_from"),
    ({"query": "travel", "published_to": "2024-13-01"}, "published_to"),
    ({"query": "travel", "published_to": 20240101}, "published_to"),
    ({"query": "travel", "published_from": "2024-03-01", "published_to": "2024-03-01"}, OK),
    ({"query": "travel", "published_from": "2024-03-02", "published_to": "2024-03-01"}, "published_from"),
    ({"query": "travel", "limit": 5}, "limit"),
    ({"query": "travel", "Query": "x"}, "Query"),
]


def check(outcome: dict, field) -> None:
    assert outcome["index_version"].startswith("kb1-")
    if field is OK:
        assert outcome.get("error", {}).get("type", "empty") == "empty", outcome
        return
    assert list(outcome) == ["error", "index_version", "results"]
    assert outcome["error"]["type"] == "invalid_input"
    assert outcome["error"]["message"]
    assert outcome["results"] == []


@pytest.mark.parametrize("arguments, field", ROWS, ids=lambda value: json.dumps(value)[:60])
def test_mcp(server, token, arguments, field):
    reply = server.rpc("tools/call", {"name": "search_kb", "arguments": arguments}, token)
    assert reply.status == 200
    result = reply.json()["result"]
    check(result["structuredContent"], field)
    assert result["isError"] is (field is not OK)
    assert json.loads(result["content"][0]["text"]) == result["structuredContent"]
    if field in ("query", "top_k", "collection", "doc_type", "published_from", "published_to"):
        assert result["structuredContent"]["error"]["field"] == field


@pytest.mark.parametrize("arguments, field", ROWS, ids=lambda value: json.dumps(value)[:60])
def test_rest_post(server, token, arguments, field):
    reply = server.request(
        "POST", "/v1/search", token, [("Content-Type", "application/json")], json.dumps(arguments)
    )
    assert reply.status == (200 if field is OK else 400), reply.body
    check(reply.json(), field)


@pytest.mark.parametrize(
    "arguments, field",
    [row for row in ROWS if all(isinstance(value, str) and "\0" not in value for value in row[0].values())],
    ids=lambda value: json.dumps(value)[:60],
)
def test_rest_get(server, token, arguments, field):
    pairs = {("q" if name == "query" else name): value for name, value in arguments.items()}
    reply = server.request("GET", "/v1/search?" + urlencode(pairs), token)
    assert reply.status == (200 if field is OK else 400), reply.body
    check(reply.json(), field)


def test_a_value_is_never_echoed(server, token):
    for arguments in ({"query": "x", "collection": "c4n4ry"}, {"query": "x", "top_k": "c4n4ry"},
                      {"query": "x", "published_to": "c4n4ry"}, {"query": "c4n4ry\u0000"}):
        reply = server.rpc("tools/call", {"name": "search_kb", "arguments": arguments}, token)
        assert b"c4n4ry" not in reply.body


def test_equal_requests_have_equal_bytes(server, token):
    plain = server.rpc("tools/call", {"name": "search_kb", "arguments": {"query": "travel desk", "top_k": 6}}, token)
    odd = server.rpc(
        "tools/call",
        {"name": "search_kb", "arguments": {"top_k": "6", "query": " travel\u00a0\n desk ", "doc_type": None}},
        token,
    )
    assert plain.body == odd.body


def test_dates_leave_out_the_undated(server, token):
    def found(**dates):
        return {r["doc_id"] for r in server.search(token, "passwords laptop travel receipts leave", top_k=20, **dates)["results"]}

    everything = found()
    assert "handbook/security.txt" in everything
    assert "handbook/security.txt" not in found(published_from="0001-01-01")
    assert "handbook/security.txt" not in found(published_to="9999-12-31")
    assert "handbook/travel.md" in found(published_from="2024-03-01", published_to="2024-03-01")
    assert "handbook/travel.md" not in found(published_from="2024-03-02")
    assert "handbook/travel.md" not in found(published_to="2024-02-29")


def test_cjk_queries_of_one_two_and_three_characters(server, token):
    for query in ("休", "休暇", "有給休", "有給休暇 HR"):
        assert server.search(token, query)["results"][0]["doc_id"] == "faq/休暇.md", query
