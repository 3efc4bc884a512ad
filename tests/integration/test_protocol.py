# SPDX-License-Identifier: Apache-2.0
"""docs/protocol.md over the wire: one test for each row that HTTP, both eras and the pipeline decide together."""

import json

import pytest

import service as kb

META = {"io.modelcontextprotocol/protocolVersion": kb.MODERN, "io.modelcontextprotocol/clientCapabilities": {}}


def modern(method, params=None, meta=META, headers=None, **changes):
    message = {"jsonrpc": "2.0", "id": 9, "method": method, "params": {**(params or {}), "_meta": meta}} | changes
    sent = {"MCP-Protocol-Version": kb.MODERN, "Mcp-Method": method} | (headers or {})
    return message, {k: v for k, v in sent.items() if v is not None}


def code(reply):
    return reply.json()["error"]["code"]


def test_paths_and_methods(server, token):
    assert server.request("POST", "/nowhere", token).status == 404
    assert server.request("POST", "/mcp/", token, [("Content-Type", "application/json")], '{"jsonrpc":"2.0","id":1,"method":"ping"}').status == 200
    for method in ("GET", "DELETE", "PUT", "PATCH"):
        reply = server.request(method, "/mcp", token)
        assert (reply.status, reply.header("Allow")) == (405, "POST")
    reply = server.request("DELETE", "/v1/search", token)
    assert reply.status == 405 and reply.header("Allow") == "GET, POST"


def test_preflight_needs_no_token_and_an_allowed_origin(server):
    asked = [("Access-Control-Request-Method", "POST"), ("Access-Control-Request-Headers", "authorization")]
    good = server.request("OPTIONS", "/mcp", None, [("Origin", "http://kb.example"), *asked])
    assert good.status == 204 and good.header("Access-Control-Allow-Origin") == "http://kb.example"
    for header in ("authorization", "content-type", "mcp-protocol-version", "mcp-method", "mcp-name"):
        assert header in good.header("Access-Control-Allow-Headers").lower()
    assert server.request("OPTIONS", "/mcp", None, [("Origin", "http://evil.example"), *asked]).status == 403


PING = '{"jsonrpc":"2.0","id":1,"method":"ping"}'


def test_content_type_and_accept(server, token):
    for media, status in (("application/json", 200), ("application/json; charset=utf-8", 200), ("Application/JSON", 200),
                          ("text/plain", 415), ("application/jsonp", 415), ("", 415)):
        assert server.post(PING, token, [("Content-Type", media)]).status == status, media
    for accept, status in (("application/json", 200), ("*/*", 200), ("application/*", 200), ("text/event-stream", 406),
                           ("text/html, application/json;q=0.1", 200), ("application/json;q=0", 406)):
        assert server.post(PING, token, [("Accept", accept)]).status == status, accept
    assert server.request("POST", "/mcp", token, [("Content-Type", "application/json")], PING).status == 200, "no Accept at all"


def test_rest_refuses_in_its_own_form(server, token):
    reply = server.request("POST", "/v1/search", token, [("Content-Type", "text/plain")], '{"query":"travel"}')
    assert reply.status == 415 and list(reply.json()) == ["error"]


@pytest.mark.parametrize("size, status", [((1 << 20) - 1, 400), (1 << 20, 400), ((1 << 20) + 1, 413)])
def test_body_limit(server, token, size, status):
    assert server.post(b" " * size, token).status == status


@pytest.mark.parametrize("body, status, error", [
    (b"", 400, -32700), (b"{", 400, -32700), (b"\xff", 400, -32700), (b'{"a":1,"a":2}', 400, -32700), (b'"\\ud800"', 400, -32700),
    (b"[]", 400, -32600), (b"[" + PING.encode() + b"]", 400, -32600), (b"{}", 400, -32600), (b"7", 400, -32600),
    (b'{"jsonrpc":"2.0","id":1,"result":{}}', 400, -32600), (b'{"jsonrpc":"1.0","id":1,"method":"ping"}', 400, -32600),
    (b'{"jsonrpc":"2.0","id":null,"method":"ping"}', 400, -32600), (b'{"jsonrpc":"2.0","id":1.5,"method":"ping"}', 400, -32600),
    (b'{"jsonrpc":"2.0","id":1,"method":"ping","params":[]}', 400, -32600),
    (b'{"jsonrpc":"2.0","id":1,"method":"nothing"}', 200, -32601),
    (b'{"jsonrpc":"2.0","id":1,"method":"server/discover"}', 200, -32601),
    (b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"other"}}', 200, -32602),
    (b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"search_kb","arguments":[]}}', 200, -32602),
    (b'{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"cursor":""}}', 200, -32602),
    (b'{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":7}}', 200, -32602),
    (b'{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"kb://nothing"}}', 200, -32002),
    (b'{"jsonrpc":"2.0","id":1,"method":"prompts/get","params":{"name":"literature_summary"}}', 200, -32602),
])
def test_legacy_rows(server, token, body, status, error):
    reply = server.post(body, token)
    assert (reply.status, code(reply)) == (status, error)
    assert "id" not in reply.json() or reply.json()["id"] == 1


def test_notifications_are_accepted_without_a_body(server, token):
    for method in ("notifications/initialized", "notifications/cancelled", "anything"):
        reply = server.post({"jsonrpc": "2.0", "method": method}, token)
        assert (reply.status, reply.body) == (202, b"")


@pytest.mark.parametrize("asked, given", [("2025-06-18", "2025-06-18"), ("2025-11-25", "2025-11-25"), ("2025-03-26", "2025-11-25"),
                                          ("2024-11-05", "2025-11-25"), ("2026-07-28", "2025-11-25"), ("2099-01-01", "2025-11-25")])
def test_initialize_negotiates(server, token, asked, given):
    result = server.post({"jsonrpc": "2.0", "id": "i", "method": "initialize", "params": {
        "protocolVersion": asked, "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}}, token).json()["result"]
    assert result["protocolVersion"] == given
    assert result["capabilities"] == {"tools": {}, "resources": {}, "prompts": {}}
    assert result["serverInfo"]["name"] == "kbgate"


@pytest.mark.parametrize("name, call, status, error", [
    ("no capabilities", modern("ping", meta={"io.modelcontextprotocol/protocolVersion": kb.MODERN}), 400, -32602),
    ("no version header", modern("tools/list", headers={"MCP-Protocol-Version": None}), 400, -32020),
    ("another version header", modern("tools/list", headers={"MCP-Protocol-Version": kb.LEGACY}), 400, -32020),
    ("an unknown version", modern("tools/list", meta={**META, "io.modelcontextprotocol/protocolVersion": "2027-01-01"},
                                  headers={"MCP-Protocol-Version": "2027-01-01"}), 400, -32022),
    ("no method header", modern("tools/list", headers={"Mcp-Method": None}), 400, -32020),
    ("another method header", modern("tools/list", headers={"Mcp-Method": "tools/call"}), 400, -32020),
    ("no name header", modern("tools/call", {"name": "search_kb", "arguments": {"query": "x"}}), 400, -32020),
    ("another name header", modern("tools/call", {"name": "search_kb"}, headers={"Mcp-Name": "other"}), 400, -32020),
    ("a removed method", modern("ping"), 404, -32601),
    ("an unknown resource", modern("resources/read", {"uri": "kb://no"}, headers={"Mcp-Name": "kb://no"}), 200, -32602),
])
def test_modern_rows(server, token, name, call, status, error):
    message, headers = call
    reply = server.post(message, token, list(headers.items()))
    assert (reply.status, code(reply)) == (status, error), name


def test_modern_results_say_they_are_complete_and_private(server, token):
    for method in ("tools/list", "resources/list", "resources/templates/list", "prompts/list"):
        result = server.rpc(method, {}, token, modern=True).json()["result"]
        assert result["resultType"] == "complete" and result["ttlMs"] >= 0 and result["cacheScope"] == "private"
        legacy = server.rpc(method, {}, token).json()["result"]
        assert not {"resultType", "ttlMs", "cacheScope", "_meta"} & set(legacy)
    assert server.rpc("server/discover", {}, token, modern=True).json()["result"]["supportedVersions"] == [kb.MODERN]


def test_resources_resolve_what_results_cite(server, token):
    for hit in server.search(token, "travel leave 休暇 printer", top_k=20)["results"]:
        for uri in (f"kb://chunk/{hit['chunk_id']}", f"kb://doc/{hit['collection']}/{hit['doc_id']}"):
            content = server.rpc("resources/read", {"uri": uri}, token).json()["result"]["contents"][0]
            assert content["uri"] == uri and hit["text"] in content["text"]


def test_session_headers_are_ignored(server, token):
    reply = server.post(PING, token, [("Mcp-Session-Id", "abc"), ("Last-Event-ID", "7")])
    assert reply.status == 200 and reply.header("Mcp-Session-Id") is None


def test_published_schema_uses_plain_keywords_only(server, token):
    allowed = {"type", "properties", "required", "additionalProperties", "description", "enum", "items", "minimum", "maximum"}

    def keywords(schema):
        yield from schema
        for child in schema.get("properties", {}).values():
            yield from keywords(child)
        if "items" in schema:
            yield from keywords(schema["items"])

    tool = server.rpc("tools/list", {}, token).json()["result"]["tools"][0]
    for schema in (tool["inputSchema"], tool["outputSchema"]):
        assert schema["type"] == "object" and set(keywords(schema)) <= allowed


def test_output_schema_can_be_left_out(own_server):
    quiet = own_server(config="publish_output_schema: false\n")
    assert "outputSchema" not in quiet.rpc("tools/list", {}, quiet.mint("kb:read")).json()["result"]["tools"][0]


def test_error_comes_first_in_the_text_a_model_sees(server, token):
    reply = server.rpc("tools/call", {"name": "search_kb", "arguments": {}}, token)
    text = reply.json()["result"]["content"][0]["text"]
    assert text.startswith('{"error":{"type":"invalid_input"')
    assert list(json.loads(text)["error"]) == ["type", "message", "field"]
