/* SPDX-License-Identifier: Apache-2.0 */
/* One row here for each row of the decision table in docs/protocol.md, named as there, in both
 * eras, with the exact bytes of the answer: clients branch on the status and the code together. */
#include "service/mcp/message.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

#define JSONRPC "{\"jsonrpc\":\"2.0\","
#define META_KEYS(version)                                                                         \
    "\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":\"" version                            \
    "\",\"io.modelcontextprotocol/clientCapabilities\":{}}"
#define META META_KEYS("2026-07-28")
#define MODERN(method, params)                                                                     \
    JSONRPC "\"id\":1,\"method\":\"" method "\",\"params\":{" META params "}}"
#define LEGACY(method, params) JSONRPC "\"id\":1,\"method\":\"" method "\",\"params\":{" params "}}"
#define LEGACY_BARE(method) JSONRPC "\"id\":1,\"method\":\"" method "\"}"

#define ERROR(id, code, message)                                                                   \
    JSONRPC id "\"error\":{\"code\":" code ",\"message\":\"" message "\"}}"
#define ERROR_DATA(id, code, message, data)                                                        \
    JSONRPC id "\"error\":{\"code\":" code ",\"message\":\"" message "\",\"data\":" data "}}"
#define ID1 "\"id\":1,"

#define NOT_JSON                                                                                   \
    ERROR("", "-32700",                                                                            \
          "the message is not valid JSON: UTF-8, no name twice in an object, no lone surrogate, "  \
          "integers of at most 64 bits")
#define BATCH ERROR("", "-32600", "batches are not served")
#define RESPONSE ERROR("", "-32600", "responses are not expected")
#define NO_MESSAGE(id) ERROR(id, "-32600", "not a JSON-RPC 2.0 message")
#define TOO_BIG ERROR("", "-32600", "the message is too long, too deep or has too many members")
#define VERSION(id, requested)                                                                     \
    ERROR_DATA(id, "-32022",                                                                       \
               "unsupported protocol version; served are 2026-07-28 and, after initialize, "       \
               "2025-11-25 and 2025-06-18",                                                        \
               "{\"supported\":[\"2026-07-28\"],\"requested\":\"" requested "\"}")
#define NO_METHOD ERROR(ID1, "-32601", "method not found")
#define META_MISSING                                                                               \
    ERROR(ID1, "-32602",                                                                           \
          "params._meta must have io.modelcontextprotocol/protocolVersion (string) and "           \
          "io.modelcontextprotocol/clientCapabilities (object)")
#define VERSION_DIFFERS                                                                            \
    ERROR(ID1, "-32020", "the header MCP-Protocol-Version must equal the version in params._meta")
#define METHOD_DIFFERS ERROR(ID1, "-32020", "the header Mcp-Method must equal the method")
#define NAME_DIFFERS                                                                               \
    ERROR(ID1, "-32020", "the header Mcp-Name must equal params.name or params.uri")
#define CURSOR ERROR(ID1, "-32602", "unknown cursor: the list has one page")
#define NAME_TYPE ERROR(ID1, "-32602", "name must be a string")
#define ARGUMENTS_TYPE ERROR(ID1, "-32602", "arguments must be an object")
#define TOOL_UNKNOWN ERROR(ID1, "-32602", "unknown tool: the one tool is search_kb")
#define URI_TYPE ERROR(ID1, "-32602", "uri must be a string")
#define PROMPT_UNKNOWN ERROR(ID1, "-32602", "unknown prompt: the one prompt is literature_summary")
#define TOPIC ERROR(ID1, "-32602", "arguments.topic must be a text of 1 to 2,000 characters")

/* The headers of a modern client; NULL where a row leaves one out. */
#define H(version, method, name) version, method, name
#define NO_HEADERS H(NULL, NULL, NULL)
#define V H("2025-11-25", NULL, NULL)
#define M(method) H("2026-07-28", method, NULL)
#define MN(method, name) H("2026-07-28", method, name)

struct row {
    const char *name;
    const char *version, *method, *header_name;
    const char *body;
    int status;
    const char *answer; /* of an error; NULL: the request goes on, or is an accepted notification */
};

static struct mcp_headers headers_of(const struct row *r)
{
    return (struct mcp_headers){.protocol_version = slice_of(r->version),
                                .method = slice_of(r->method),
                                .name = slice_of(r->header_name)};
}

static enum mcp_verdict expected_verdict(const struct row *r)
{
    return r->answer ? MCP_ANSWERED : r->status == 202 ? MCP_ACCEPTED : MCP_GO_ON;
}

static void check_row(const struct row *r, enum mcp_transport transport)
{
    struct arena arena = {0};
    struct dynbuf out;
    struct mcp_call call;
    struct mcp_headers headers = headers_of(r);
    int status = -1;
    dynbuf_init(&out, 1 << 16);
    enum mcp_verdict verdict =
        mcp_parse(slice_of(r->body), transport, &headers, &arena, &call, &status, &out);
    cr_expect_eq(verdict, expected_verdict(r), "%s: verdict %d", r->name, (int)verdict);
    cr_expect_eq(status, r->status, "%s: status %d", r->name, status);
    cr_expect(slice_eq(dynbuf_get(&out), slice_of(r->answer)), "%s: %.*s", r->name, (int)out.n,
              out.p);
    mcp_call_done(&call);
    dynbuf_done(&out);
    arena_done(&arena);
}

#define CHECK_ROWS(rows, transport)                                                                \
    for (size_t i = 0; i < sizeof(rows) / sizeof((rows)[0]); i++) {                                \
        check_row(&(rows)[i], transport);                                                          \
    }

static const struct row SHAPE[] = {
    {"11 empty", NO_HEADERS, "", 400, NOT_JSON},
    {"11 blanks", NO_HEADERS, " \n ", 400, NOT_JSON},
    {"11 cut", NO_HEADERS, "{\"jsonrpc\":", 400, NOT_JSON},
    {"11 two values", NO_HEADERS, LEGACY_BARE("ping") LEGACY_BARE("ping"), 400, NOT_JSON},
    {"11 Latin-1", NO_HEADERS, "{\"a\":\"\xE9\"}", 400, NOT_JSON},
    {"11 overlong", NO_HEADERS, "{\"a\":\"\xC0\xAF\"}", 400, NOT_JSON},
    {"11 byte order mark", NO_HEADERS, "\xEF\xBB\xBF{}", 400, NOT_JSON},
    {"11 lone surrogate", NO_HEADERS, LEGACY("ping", "\"a\":\"\\ud800\""), 400, NOT_JSON},
    {"11 low surrogate", NO_HEADERS, LEGACY("ping", "\"a\":\"\\udc00\""), 400, NOT_JSON},
    {"11 duplicate key", NO_HEADERS, LEGACY("ping", "\"a\":1,\"a\":2"), 400, NOT_JSON},
    {"11 comment", NO_HEADERS, "/**/{}", 400, NOT_JSON},
    {"11 not a number", NO_HEADERS, "NaN", 400, NOT_JSON},
    {"11a empty", NO_HEADERS, "[]", 400, BATCH},
    {"11a one", NO_HEADERS, "[" LEGACY_BARE("ping") "]", 400, BATCH},
    {"11a modern", M("ping"), "[" MODERN("ping", "") "," MODERN("ping", "") "]", 400, BATCH},
    {"12 result", NO_HEADERS, JSONRPC "\"id\":1,\"result\":{}}", 400, RESPONSE},
    {"12 error", NO_HEADERS, JSONRPC "\"id\":1,\"error\":{}}", 400, RESPONSE},
    {"12 modern header", M(NULL), JSONRPC "\"id\":1,\"result\":{}}", 400, RESPONSE},
    {"12a string", NO_HEADERS, "\"x\"", 400, NO_MESSAGE("")},
    {"12a null", NO_HEADERS, "null", 400, NO_MESSAGE("")},
    {"12a number", NO_HEADERS, "1", 400, NO_MESSAGE("")},
    {"12a empty object", NO_HEADERS, "{}", 400, NO_MESSAGE("")},
    {"12a no jsonrpc", NO_HEADERS, "{\"id\":1,\"method\":\"ping\"}", 400, NO_MESSAGE(ID1)},
    {"12a jsonrpc 1.0", NO_HEADERS, "{\"jsonrpc\":\"1.0\",\"id\":1,\"method\":\"ping\"}", 400,
     NO_MESSAGE(ID1)},
    {"12a jsonrpc number", NO_HEADERS, "{\"jsonrpc\":2.0,\"id\":1,\"method\":\"ping\"}", 400,
     NO_MESSAGE(ID1)},
    {"12a no method", NO_HEADERS, JSONRPC "\"id\":\"a\"}", 400, NO_MESSAGE("\"id\":\"a\",")},
    {"12a method number", NO_HEADERS, JSONRPC "\"id\":1,\"method\":1}", 400, NO_MESSAGE(ID1)},
    {"12a method null", NO_HEADERS, JSONRPC "\"id\":1,\"method\":null,\"result\":{}}", 400,
     NO_MESSAGE(ID1)},
    {"12a params array", NO_HEADERS, JSONRPC "\"id\":1,\"method\":\"ping\",\"params\":[]}", 400,
     NO_MESSAGE(ID1)},
    {"12a params null", NO_HEADERS, JSONRPC "\"id\":1,\"method\":\"ping\",\"params\":null}", 400,
     NO_MESSAGE(ID1)},
    {"12a params, notification", NO_HEADERS, JSONRPC "\"method\":\"x\",\"params\":[]}", 400,
     NO_MESSAGE("")},
    {"12a id null", NO_HEADERS, JSONRPC "\"id\":null,\"method\":\"ping\"}", 400, NO_MESSAGE("")},
    {"12a id real", NO_HEADERS, JSONRPC "\"id\":1.0,\"method\":\"ping\"}", 400, NO_MESSAGE("")},
    {"12a id exponent", NO_HEADERS, JSONRPC "\"id\":1e2,\"method\":\"ping\"}", 400, NO_MESSAGE("")},
    {"12a id true", NO_HEADERS, JSONRPC "\"id\":true,\"method\":\"ping\"}", 400, NO_MESSAGE("")},
    {"12a id object", NO_HEADERS, JSONRPC "\"id\":{},\"method\":\"ping\"}", 400, NO_MESSAGE("")},
    {"12a id array", NO_HEADERS, JSONRPC "\"id\":[1],\"method\":\"ping\"}", 400, NO_MESSAGE("")},
};

static const struct row NOTIFICATIONS[] = {
    {"13a initialized", V, JSONRPC "\"method\":\"notifications/initialized\"}", 202, NULL},
    {"13a cancelled", NO_HEADERS,
     JSONRPC "\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":1}}", 202, NULL},
    {"13a a request's method", NO_HEADERS, JSONRPC "\"method\":\"tools/call\"}", 202, NULL},
    {"13a unknown", NO_HEADERS, JSONRPC "\"method\":\"no/such\"}", 202, NULL},
    {"13a modern header", M(NULL), JSONRPC "\"method\":\"x\"}", 202, NULL},
    {"13a modern", M("x"), JSONRPC "\"method\":\"x\",\"params\":{" META "}}", 202, NULL},
    {"13a modern, no header", NO_HEADERS, JSONRPC "\"method\":\"x\",\"params\":{" META "}}", 202,
     NULL},
    {"13a with a result beside it", NO_HEADERS, JSONRPC "\"method\":\"x\",\"result\":1}", 202,
     NULL},
};

static const struct row NOTIFICATION_VERSIONS[] = {
    {"13 unknown", H("1.0", NULL, NULL), JSONRPC "\"method\":\"x\"}", 400, VERSION("", "1.0")},
    {"13 2025-03-26", H("2025-03-26", NULL, NULL),
     JSONRPC "\"method\":\"notifications/initialized\"}", 400, VERSION("", "2025-03-26")},
    {"13 empty", H("", NULL, NULL), JSONRPC "\"method\":\"x\"}", 400, VERSION("", "")},
};

static const struct row LEGACY_LADDER[] = {
    {"L1", NO_HEADERS, LEGACY("initialize", "\"protocolVersion\":\"2025-06-18\""), 200, NULL},
    {"L2", NO_HEADERS, LEGACY("initialize", "\"protocolVersion\":\"2024-11-05\""), 200, NULL},
    {"L2a none", NO_HEADERS, LEGACY_BARE("initialize"), 200,
     ERROR(ID1, "-32602", "protocolVersion must be a string")},
    {"L2a number", NO_HEADERS, LEGACY("initialize", "\"protocolVersion\":20251125"), 200,
     ERROR(ID1, "-32602", "protocolVersion must be a string")},
    {"L4", NO_HEADERS, LEGACY_BARE("tools/list"), 200, NULL},
    {"L5 unknown", V, LEGACY_BARE("no/such"), 200, NO_METHOD},
    {"L5 empty", V, LEGACY_BARE(""), 200, NO_METHOD},
    {"L5 case", V, LEGACY_BARE("Tools/List"), 200, NO_METHOD},
    {"L5 NUL", V, LEGACY_BARE("ping\\u0000"), 200, NO_METHOD},
    {"L5 completion", V, LEGACY_BARE("completion/complete"), 200, NO_METHOD},
    {"L5 logging", V, LEGACY_BARE("logging/setLevel"), 200, NO_METHOD},
    {"L5 subscribe", V, LEGACY_BARE("resources/subscribe"), 200, NO_METHOD},
    {"L5 unsubscribe", V, LEGACY_BARE("resources/unsubscribe"), 200, NO_METHOD},
    {"L5 discover", V, LEGACY_BARE("server/discover"), 200, NO_METHOD},
    {"L5 tasks", NO_HEADERS, LEGACY_BARE("tasks/list"), 200, NO_METHOD},
    {"L6 ping", V, LEGACY_BARE("ping"), 200, NULL},
    {"L6 other Mcp headers are not read", H("2025-06-18", "tools/call", "x"), LEGACY_BARE("ping"),
     200, NULL},
    {"L6 _meta that is no object", V, LEGACY("ping", "\"_meta\":5"), 200, NULL},
    {"L6 progressToken", V, LEGACY("ping", "\"_meta\":{\"progressToken\":1}"), 200, NULL},
    {"3.7 tools/list", V, LEGACY("tools/list", ""), 200, NULL},
    {"3.7 tools/list cursor", V, LEGACY("tools/list", "\"cursor\":\"x\""), 200, CURSOR},
    {"3.7 resources/list cursor", V, LEGACY("resources/list", "\"cursor\":\"\""), 200, CURSOR},
    {"3.7 templates cursor", V, LEGACY("resources/templates/list", "\"cursor\":1"), 200, CURSOR},
    {"3.7 prompts/list cursor", V, LEGACY("prompts/list", "\"cursor\":null"), 200, CURSOR},
    {"3.7 call", V, LEGACY("tools/call", "\"name\":\"search_kb\",\"arguments\":{}"), 200, NULL},
    {"3.7 call, no arguments", V, LEGACY("tools/call", "\"name\":\"search_kb\""), 200, NULL},
    {"3.7 call, no params", V, LEGACY_BARE("tools/call"), 200, NAME_TYPE},
    {"3.7 call, name number", V, LEGACY("tools/call", "\"name\":1"), 200, NAME_TYPE},
    {"3.7 call, arguments array", V,
     LEGACY("tools/call", "\"name\":\"search_kb\",\"arguments\":[]"), 200, ARGUMENTS_TYPE},
    {"3.7 call, arguments null", V,
     LEGACY("tools/call", "\"name\":\"search_kb\",\"arguments\":null"), 200, ARGUMENTS_TYPE},
    {"3.7 call, arguments text", V,
     LEGACY("tools/call", "\"name\":\"search_kb\",\"arguments\":\"{}\""), 200, ARGUMENTS_TYPE},
    {"3.7 unknown tool", V, LEGACY("tools/call", "\"name\":\"search\""), 200, TOOL_UNKNOWN},
    {"3.7 tool name case", V, LEGACY("tools/call", "\"name\":\"Search_KB\""), 200, TOOL_UNKNOWN},
    {"3.7 tool name NUL", V, LEGACY("tools/call", "\"name\":\"search_kb\\u0000\""), 200,
     TOOL_UNKNOWN},
    {"3.7 read", V, LEGACY("resources/read", "\"uri\":\"kb://index\""), 200, NULL},
    {"3.7 read, any string", V, LEGACY("resources/read", "\"uri\":\"\""), 200, NULL},
    {"3.7 read, no uri", V, LEGACY("resources/read", ""), 200, URI_TYPE},
    {"3.7 read, uri null", V, LEGACY("resources/read", "\"uri\":null"), 200, URI_TYPE},
    {"3.7 prompt", V,
     LEGACY("prompts/get", "\"name\":\"literature_summary\",\"arguments\":{\"topic\":\"x\"}"), 200,
     NULL},
    {"3.7 prompt, other arguments", V,
     LEGACY("prompts/get",
            "\"name\":\"literature_summary\",\"arguments\":{\"topic\":\"x\",\"y\":1}"),
     200, NULL},
    {"3.7 prompt unknown", V, LEGACY("prompts/get", "\"name\":\"x\""), 200, PROMPT_UNKNOWN},
    {"3.7 prompt name missing", V, LEGACY_BARE("prompts/get"), 200, PROMPT_UNKNOWN},
    {"3.7 topic missing", V, LEGACY("prompts/get", "\"name\":\"literature_summary\""), 200, TOPIC},
    {"3.7 topic null", V,
     LEGACY("prompts/get", "\"name\":\"literature_summary\",\"arguments\":{\"topic\":null}"), 200,
     TOPIC},
    {"3.7 topic blank", V,
     LEGACY("prompts/get", "\"name\":\"literature_summary\",\"arguments\":{\"topic\":\" \\n\"}"),
     200, TOPIC},
    {"3.7 prompt arguments array", V,
     LEGACY("prompts/get", "\"name\":\"literature_summary\",\"arguments\":[]"), 200, TOPIC},
};

/* Rows that read a header in the legacy era. */
static const struct row LEGACY_HEADERS[] = {
    {"L3 2025-03-26", H("2025-03-26", NULL, NULL), LEGACY_BARE("tools/list"), 400,
     VERSION(ID1, "2025-03-26")},
    {"L3 2024-11-05", H("2024-11-05", NULL, NULL), LEGACY_BARE("ping"), 400,
     VERSION(ID1, "2024-11-05")},
    {"L3 rubbish", H("<\"\xFF>", NULL, NULL), LEGACY_BARE("ping"), 400,
     VERSION(ID1, "<\\\"\xEF\xBF\xBD>")},
    {"L3 empty", H("", NULL, NULL), LEGACY_BARE("ping"), 400, VERSION(ID1, "")},
    {"L3 before L5", H("1", NULL, NULL), LEGACY_BARE("no/such"), 400, VERSION(ID1, "1")},
    {"L3 not on initialize", H("1", NULL, NULL),
     LEGACY("initialize", "\"protocolVersion\":\"2025-11-25\""), 200, NULL},
    {"L3 long, the echo is cut",
     H("aaaaaaaaaabbbbbbbbbbccccccccccddddddddddeeeeeeeeeeffffffffffgggg\xC3\xA9", NULL, NULL),
     LEGACY_BARE("ping"), 400,
     VERSION(ID1, "aaaaaaaaaabbbbbbbbbbccccccccccddddddddddeeeeeeeeeeffffffffffgggg")},
    {"L3 long, no half character",
     H("aaaaaaaaaabbbbbbbbbbccccccccccddddddddddeeeeeeeeeeffffffffffggg\xC3\xA9", NULL, NULL),
     LEGACY_BARE("ping"), 400,
     VERSION(ID1, "aaaaaaaaaabbbbbbbbbbccccccccccddddddddddeeeeeeeeeeffffffffffggg")},
};

#define CALL_SEARCH MODERN("tools/call", ",\"name\":\"search_kb\",\"arguments\":{}")
#define READ_INDEX MODERN("resources/read", ",\"uri\":\"kb://index\"")
#define GET_PROMPT                                                                                 \
    MODERN("prompts/get", ",\"name\":\"literature_summary\",\"arguments\":{\"topic\":\"x\"}")
#define META_OF(members)                                                                           \
    JSONRPC "\"id\":1,\"method\":\"tools/list\",\"params\":{\"_meta\":{" members "}}}"
#define WITH_VERSION(version)                                                                      \
    JSONRPC "\"id\":1,\"method\":\"tools/list\",\"params\":{" META_KEYS(version) "}}"

static const struct row MODERN_LADDER[] = {
    {"M1 capabilities missing", M("tools/list"),
     META_OF("\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\""), 400, META_MISSING},
    {"M1 capabilities null", M("tools/list"),
     META_OF("\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\","
             "\"io.modelcontextprotocol/clientCapabilities\":null"),
     400, META_MISSING},
    {"M1 version number", M("tools/list"),
     META_OF("\"io.modelcontextprotocol/protocolVersion\":1,"
             "\"io.modelcontextprotocol/clientCapabilities\":{}"),
     400, META_MISSING},
    {"M1 version null", M("tools/list"),
     META_OF("\"io.modelcontextprotocol/protocolVersion\":null"), 400, META_MISSING},
    {"M3 legacy version", H("2025-11-25", "tools/list", NULL), WITH_VERSION("2025-11-25"), 400,
     VERSION(ID1, "2025-11-25")},
    {"M3 future", H("2099-01-01", "tools/list", NULL), WITH_VERSION("2099-01-01"), 400,
     VERSION(ID1, "2099-01-01")},
    {"M3 empty", H("", "tools/list", NULL), WITH_VERSION(""), 400, VERSION(ID1, "")},
    {"M6 initialize", M("initialize"), MODERN("initialize", ",\"protocolVersion\":\"2025-11-25\""),
     404, NO_METHOD},
    {"M6 ping", M("ping"), MODERN("ping", ""), 404, NO_METHOD},
    {"M6 logging", M("logging/setLevel"), MODERN("logging/setLevel", ""), 404, NO_METHOD},
    {"M6 subscribe", M("resources/subscribe"), MODERN("resources/subscribe", ""), 404, NO_METHOD},
    {"M6 unsubscribe", M("resources/unsubscribe"), MODERN("resources/unsubscribe", ""), 404,
     NO_METHOD},
    {"M6 completion", M("completion/complete"), MODERN("completion/complete", ""), 404, NO_METHOD},
    {"M6 listen", M("subscriptions/listen"), MODERN("subscriptions/listen", ""), 404, NO_METHOD},
    {"M8 discover", M("server/discover"), MODERN("server/discover", ""), 200, NULL},
    {"M8 tools/list", M("tools/list"), MODERN("tools/list", ""), 200, NULL},
    {"M8 client info of any kind", M("tools/list"),
     META_OF("\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\","
             "\"io.modelcontextprotocol/clientCapabilities\":{},"
             "\"io.modelcontextprotocol/clientInfo\":5,\"progressToken\":\"x\""),
     200, NULL},
    {"M8 inputResponses ignored", MN("tools/call", "search_kb"),
     MODERN("tools/call", ",\"name\":\"search_kb\",\"inputResponses\":[],\"requestState\":1"), 200,
     NULL},
    {"3.7 tools/list cursor", M("tools/list"), MODERN("tools/list", ",\"cursor\":\"\""), 200,
     CURSOR},
    {"3.7 resources/list cursor", M("resources/list"),
     MODERN("resources/list", ",\"cursor\":\"x\""), 200, CURSOR},
    {"3.7 templates cursor", M("resources/templates/list"),
     MODERN("resources/templates/list", ",\"cursor\":\"x\""), 200, CURSOR},
    {"3.7 prompts/list cursor", M("prompts/list"), MODERN("prompts/list", ",\"cursor\":\"x\""), 200,
     CURSOR},
    {"3.7 name missing goes on to the handler", M("tools/call"), MODERN("tools/call", ""), 200,
     NAME_TYPE},
    {"3.7 name number", MN("tools/call", "1"), MODERN("tools/call", ",\"name\":1"), 200, NAME_TYPE},
    {"3.7 arguments", MN("tools/call", "search_kb"),
     MODERN("tools/call", ",\"name\":\"search_kb\",\"arguments\":3"), 200, ARGUMENTS_TYPE},
    {"3.7 unknown tool", MN("tools/call", "x"), MODERN("tools/call", ",\"name\":\"x\""), 200,
     TOOL_UNKNOWN},
    {"3.7 uri missing", M("resources/read"), MODERN("resources/read", ""), 200, URI_TYPE},
    {"3.7 unknown prompt", MN("prompts/get", "x"), MODERN("prompts/get", ",\"name\":\"x\""), 200,
     PROMPT_UNKNOWN},
    {"3.7 topic missing", MN("prompts/get", "literature_summary"),
     MODERN("prompts/get", ",\"name\":\"literature_summary\",\"arguments\":{}"), 200, TOPIC},
    {"3.7 call", MN("tools/call", "search_kb"), CALL_SEARCH, 200, NULL},
    {"3.7 read", MN("resources/read", "kb://index"), READ_INDEX, 200, NULL},
    {"3.7 prompt", MN("prompts/get", "literature_summary"), GET_PROMPT, 200, NULL},
};

/* Rows that read a header in the modern era. */
static const struct row MODERN_HEADERS[] = {
    {"M1 no params", M("tools/list"), LEGACY_BARE("tools/list"), 400, META_MISSING},
    {"M1 no _meta", M("tools/list"), LEGACY("tools/list", ""), 400, META_MISSING},
    {"M1 _meta no object", M("tools/list"), LEGACY("tools/list", "\"_meta\":[]"), 400,
     META_MISSING},
    {"M1 initialize", M("initialize"), LEGACY("initialize", "\"protocolVersion\":\"2025-11-25\""),
     400, META_MISSING},
    {"M1 before M2", NO_HEADERS, META_OF("\"io.modelcontextprotocol/protocolVersion\":1"), 400,
     META_MISSING},
    {"M2 missing", H(NULL, "tools/list", NULL), MODERN("tools/list", ""), 400, VERSION_DIFFERS},
    {"M2 other", H("2025-11-25", "tools/list", NULL), MODERN("tools/list", ""), 400,
     VERSION_DIFFERS},
    {"M2 before M3", M("tools/list"), WITH_VERSION("2025-11-25"), 400, VERSION_DIFFERS},
    {"M3 before M4", H("2099-01-01", NULL, NULL), WITH_VERSION("2099-01-01"), 400,
     VERSION(ID1, "2099-01-01")},
    {"M4 missing", M(NULL), MODERN("tools/list", ""), 400, METHOD_DIFFERS},
    {"M4 other", M("tools/call"), MODERN("tools/list", ""), 400, METHOD_DIFFERS},
    {"M4 case", M("Tools/List"), MODERN("tools/list", ""), 400, METHOD_DIFFERS},
    {"M4 before M6", M(NULL), MODERN("no/such", ""), 400, METHOD_DIFFERS},
    {"M4 before M5", MN(NULL, NULL), CALL_SEARCH, 400, METHOD_DIFFERS},
    {"M5 missing", M("tools/call"), CALL_SEARCH, 400, NAME_DIFFERS},
    {"M5 empty", MN("tools/call", ""), CALL_SEARCH, 400, NAME_DIFFERS},
    {"M5 other", MN("tools/call", "x"), CALL_SEARCH, 400, NAME_DIFFERS},
    {"M5 case", MN("tools/call", "SEARCH_KB"), CALL_SEARCH, 400, NAME_DIFFERS},
    {"M5 read", M("resources/read"), READ_INDEX, 400, NAME_DIFFERS},
    {"M5 prompt", M("prompts/get"), GET_PROMPT, 400, NAME_DIFFERS},
    {"M5 not where it does not apply", MN("tools/list", "x"), MODERN("tools/list", ""), 200, NULL},
    {"M5 base64", MN("tools/call", "=?base64?c2VhcmNoX2ti?="), CALL_SEARCH, 200, NULL},
    {"M5 base64 of another name", MN("tools/call", "=?base64?c2VhcmNo?="), CALL_SEARCH, 400,
     NAME_DIFFERS},
    {"M5 base64 marker case", MN("tools/call", "=?BASE64?c2VhcmNoX2ti?="), CALL_SEARCH, 400,
     NAME_DIFFERS},
    {"M5 base64 without its end", MN("tools/call", "=?base64?c2VhcmNoX2ti"), CALL_SEARCH, 400,
     NAME_DIFFERS},
    {"M5 base64 marks alone", MN("tools/call", "=?base64?="), CALL_SEARCH, 400, NAME_DIFFERS},
    {"M5 base64 rubbish", MN("tools/call", "=?base64?c2Vh!mNo?="), CALL_SEARCH, 400, NAME_DIFFERS},
    {"M5 base64 one pad", MN("resources/read", "=?base64?a2I6Ly9pbmRleDI=?="),
     MODERN("resources/read", ",\"uri\":\"kb://index2\""), 200, NULL},
    {"M5 base64 two pads", MN("resources/read", "=?base64?a2I6Ly9pbmRleA==?="), READ_INDEX, 200,
     NULL},
    {"M5 base64 pad missing", MN("resources/read", "=?base64?a2I6Ly9pbmRleA?="), READ_INDEX, 400,
     NAME_DIFFERS},
    {"M5 base64 three pads", MN("resources/read", "=?base64?a2I6Ly9pbmRle===?="), READ_INDEX, 400,
     NAME_DIFFERS},
    {"M5 base64 empty for an empty text",
     MN("resources/read", "=?base64?"
                          "?="),
     MODERN("resources/read", ",\"uri\":\"\""), 200, NULL},
    {"M5 base64 + and /", MN("resources/read", "=?base64?w7/Dvj8+?="),
     MODERN("resources/read", ",\"uri\":\"\xC3\xBF\xC3\xBE?>\""), 200, NULL},
    {"M5 base64 of the URL alphabet", MN("resources/read", "=?base64?w7_Dvj8-?="),
     MODERN("resources/read", ",\"uri\":\"\xC3\xBF\xC3\xBE?>\""), 400, NAME_DIFFERS},
};

Test(message, answers_each_row_of_the_shape)
{
    CHECK_ROWS(SHAPE, MCP_HTTP);
    CHECK_ROWS(SHAPE, MCP_STDIO);
}

Test(message, accepts_notifications_without_a_body)
{
    CHECK_ROWS(NOTIFICATIONS, MCP_HTTP);
    CHECK_ROWS(NOTIFICATIONS, MCP_STDIO);
    CHECK_ROWS(NOTIFICATION_VERSIONS, MCP_HTTP);
}

Test(message, climbs_the_legacy_ladder)
{
    CHECK_ROWS(LEGACY_LADDER, MCP_HTTP);
    CHECK_ROWS(LEGACY_LADDER, MCP_STDIO);
    CHECK_ROWS(LEGACY_HEADERS, MCP_HTTP);
}

Test(message, climbs_the_modern_ladder)
{
    CHECK_ROWS(MODERN_LADDER, MCP_HTTP);
    CHECK_ROWS(MODERN_HEADERS, MCP_HTTP);
}

Test(message, reads_no_header_on_stdio)
{
    CHECK_ROWS(MODERN_LADDER, MCP_STDIO);
    static const struct row rows[] = {
        {"13", H("1.0", NULL, NULL), JSONRPC "\"method\":\"x\"}", 202, NULL},
        {"L3", H("2025-03-26", NULL, NULL), LEGACY_BARE("tools/list"), 200, NULL},
        {"era", M("tools/list"), LEGACY_BARE("ping"), 200, NULL},
        {"M2", NO_HEADERS, MODERN("tools/list", ""), 200, NULL},
        {"M4", M("x"), MODERN("tools/list", ""), 200, NULL},
        {"M5", MN("tools/call", "x"), CALL_SEARCH, 200, NULL},
    };
    CHECK_ROWS(rows, MCP_STDIO);
}

/* What a call looks like when it goes on. */
struct call_case {
    const char *name;
    struct mcp_call call;
    struct arena arena;
};

static void parse(struct call_case *c, enum mcp_transport transport, const char *version,
                  const char *method, const char *name, const char *body)
{
    struct mcp_headers headers = {slice_of(version), slice_of(method), slice_of(name)};
    struct dynbuf out;
    int status = -1;
    dynbuf_init(&out, 1 << 16);
    enum mcp_verdict verdict = mcp_parse(slice_of(body), transport, version ? &headers : NULL,
                                         &c->arena, &c->call, &status, &out);
    cr_assert_eq(verdict, MCP_GO_ON, "%s: %.*s", body, (int)out.n, out.p ? out.p : "");
    cr_expect_eq(status, 200);
    cr_expect_eq(out.n, 0);
    dynbuf_done(&out);
}

static void release(struct call_case *c)
{
    mcp_call_done(&c->call);
    cr_expect_null(c->call.document);
    arena_done(&c->arena);
}

Test(message, finds_every_method_of_an_era)
{
    static const struct {
        enum mcp_method method;
        bool legacy, modern;
        const char *params;
    } rows[] = {
        {MCP_INITIALIZE, true, false, "\"protocolVersion\":\"x\""},
        {MCP_DISCOVER, false, true, "\"a\":1"},
        {MCP_PING, true, false, "\"a\":1"},
        {MCP_TOOLS_LIST, true, true, "\"a\":1"},
        {MCP_TOOLS_CALL, true, true, "\"name\":\"search_kb\""},
        {MCP_RESOURCES_LIST, true, true, "\"a\":1"},
        {MCP_RESOURCES_TEMPLATES_LIST, true, true, "\"a\":1"},
        {MCP_RESOURCES_READ, true, true, "\"uri\":\"x\""},
        {MCP_PROMPTS_LIST, true, true, "\"a\":1"},
        {MCP_PROMPTS_GET, true, true,
         "\"name\":\"literature_summary\",\"arguments\":{\"topic\":\"x\"}"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        for (int modern = 0; modern < 2; modern++) {
            if (modern ? !rows[i].modern : !rows[i].legacy) {
                continue;
            }
            char body[1024];
            snprintf(body, sizeof(body), JSONRPC "\"id\":1,\"method\":\"%s\",\"params\":{%s%s}}",
                     mcp_method_name(rows[i].method), rows[i].params, modern ? "," META : "");
            struct call_case c = {0};
            parse(&c, MCP_STDIO, NULL, NULL, NULL, body);
            cr_expect_eq(c.call.method, rows[i].method, "%s", body);
            cr_expect_eq(c.call.modern, modern == 1, "%s", body);
            release(&c);
        }
    }
}

Test(message, answers_initialize_with_a_version_it_serves)
{
    static const char *const rows[][2] = {
        {"2025-06-18", "2025-06-18"}, {"2025-11-25", "2025-11-25"}, {"2024-11-05", "2025-11-25"},
        {"2025-03-26", "2025-11-25"}, {"2026-07-28", "2025-11-25"}, {"", "2025-11-25"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        char body[256];
        snprintf(body, sizeof(body), LEGACY("initialize", "\"protocolVersion\":\"%s\""),
                 rows[i][0]);
        struct call_case c = {0};
        parse(&c, MCP_HTTP, NULL, NULL, NULL, body);
        cr_expect_str_eq(c.call.legacy_version, rows[i][1]);
        cr_expect_not(c.call.modern);
        release(&c);
    }
}

Test(message, hands_over_what_the_method_needs)
{
    struct call_case c = {0};
    parse(&c, MCP_HTTP, "2026-07-28", "tools/call", "search_kb",
          MODERN("tools/call", ",\"name\":\"search_kb\",\"arguments\":{\"query\":\"x\"}"));
    cr_expect(slice_is(c.call.tool_name, "search_kb"));
    cr_expect_str_eq(json_string_value(json_object_get(c.call.arguments, "query")), "x");
    release(&c);
    c = (struct call_case){0};
    parse(&c, MCP_HTTP, "2025-11-25", NULL, NULL, LEGACY("tools/call", "\"name\":\"search_kb\""));
    cr_expect_null(c.call.arguments);
    release(&c);
    c = (struct call_case){0};
    parse(&c, MCP_STDIO, NULL, NULL, NULL, LEGACY("resources/read", "\"uri\":\"a\\u0000b\""));
    cr_expect(slice_eq(c.call.uri, SLICE_LIT("a\0b")));
    release(&c);
    c = (struct call_case){0};
    parse(&c, MCP_STDIO, NULL, NULL, NULL, GET_PROMPT);
    cr_expect(slice_is(c.call.prompt_topic, "x"));
    release(&c);
}

Test(message, echoes_the_id_as_it_came)
{
    static const char *const rows[][2] = {
        {"0", "0"},
        {"-7", "-7"},
        {"9223372036854775807", "9223372036854775807"},
        {"-9223372036854775808", "-9223372036854775808"},
        {"\"\"", "\"\""},
        {"\"a\\\"b\\\\c\\/d\"", "\"a\\\"b\\\\c/d\""},
        {"\"\\u0000\\u001f\\n\"", "\"\\u0000\\u001f\\n\""},
        {"\"\\u00e9\\ud83d\\ude00\"", "\"\xC3\xA9\xF0\x9F\x98\x80\""},
        {"\"1\"", "\"1\""},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        char body[256];
        snprintf(body, sizeof(body), "{\"jsonrpc\":\"2.0\",\"id\":%s,\"method\":\"ping\"}",
                 rows[i][0]);
        struct call_case c = {0};
        parse(&c, MCP_HTTP, NULL, NULL, NULL, body);
        cr_expect(slice_is(c.call.id, rows[i][1]), "%.*s", (int)c.call.id.n, c.call.id.p);
        release(&c);
    }
}

/* before + n times unit + after, checked as one row. */
static void check_repeated(const char *name, const char *before, const char *unit, size_t n,
                           const char *after, int status, const char *answer)
{
    struct dynbuf body;
    dynbuf_init(&body, 1 << 22);
    dynbuf_add_text(&body, before);
    for (size_t i = 0; i < n; i++) {
        dynbuf_add_text(&body, unit);
    }
    dynbuf_add(&body, (struct slice){after, strlen(after) + 1});
    cr_assert_not(body.failed);
    struct row r = {name, NO_HEADERS, body.p, status, answer};
    check_row(&r, MCP_HTTP);
    dynbuf_done(&body);
}

Test(message, limits_the_id)
{
    const char *before = JSONRPC "\"method\":\"ping\",\"id\":\"";
    check_repeated("at", before, "a", MCP_MAX_ID_BYTES - 2, "\"}", 200, NULL);
    check_repeated("above", before, "a", MCP_MAX_ID_BYTES - 1, "\"}", 400, NO_MESSAGE(""));
    check_repeated("escaped", before, "\\u0001", MCP_MAX_ID_BYTES / 6 + 1, "\"}", 400,
                   NO_MESSAGE(""));
    check_repeated("integer above", JSONRPC "\"method\":\"ping\",\"id\":", "9", 20, "}", 400,
                   NOT_JSON);
}

Test(message, limits_the_uri)
{
    const char *before = JSONRPC "\"id\":1,\"method\":\"resources/read\",\"params\":{\"uri\":\"";
    check_repeated("at", before, "a", MCP_MAX_URI_BYTES, "\"}}", 200, NULL);
    check_repeated("above", before, "a", MCP_MAX_URI_BYTES + 1, "\"}}", 200,
                   ERROR(ID1, "-32602", "uri must have at most 16,384 bytes"));
}

Test(message, limits_the_topic_in_characters)
{
    const char *before =
        JSONRPC "\"id\":1,\"method\":\"prompts/get\",\"params\":{\"name\":\"literature_summary\","
                "\"arguments\":{\"topic\":\"";
    check_repeated("at", before, "\xC3\xA9", MCP_MAX_TOPIC_CHARS, "\"}}}", 200, NULL);
    check_repeated("above", before, "\xC3\xA9", MCP_MAX_TOPIC_CHARS + 1, "\"}}}", 200, TOPIC);
}

Test(message, refuses_what_is_too_big_before_parsing)
{
    check_repeated("deep", "", "[", 200000, "", 400, TOO_BIG);
    check_repeated("long batch", "[1", ",1", 600, "]", 400, TOO_BIG);
    check_repeated("long", JSONRPC "\"id\":1,\"method\":\"", "a", MCP_MAX_BODY_BYTES, "\"}", 400,
                   TOO_BIG);
}
