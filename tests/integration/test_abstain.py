# SPDX-License-Identifier: Apache-2.0
"""A question that the corpus is not about is `empty`, although passages share words with it."""

from urllib.parse import urlencode

ABOUT = "how many days ahead must travel be booked"
NOT_ABOUT = "how fast do comets travel beyond Neptune during a solar maximum"


def answers(server, token, query):
    """(is an error, what is said) over MCP and over REST."""
    mcp = server.call(token, query=query)
    rest = server.request("GET", "/v1/search?" + urlencode({"q": query}), token)
    return [(bool(mcp.get("isError")), mcp["structuredContent"]), (rest.status != 200, rest.json())]


def test_a_question_about_the_corpus_is_answered(server, token):
    for query in (ABOUT, "travel"):
        for failed, outcome in answers(server, token, query):
            assert not failed and outcome["results"] and "error" not in outcome


def test_a_question_about_something_else_is_empty(server, token):
    for failed, outcome in answers(server, token, NOT_ABOUT):
        assert not failed and outcome["error"]["type"] == "empty" and outcome["results"] == []


def test_half_of_a_short_question_is_enough(own_server):
    server = own_server(config="answer: {abstain_coverage: 1000}\n")
    token = server.mint("kb:read kb:all", sub="everything")
    for query in ("travel bookd", "travel-booked", "travel definition", "booked travel pls please"):
        for failed, outcome in answers(server, token, query):
            assert not failed and outcome["results"] and "error" not in outcome, query
    for failed, outcome in answers(server, token, "travel bookd stapler"):
        assert not failed and outcome["error"]["type"] == "empty" and outcome["results"] == []
