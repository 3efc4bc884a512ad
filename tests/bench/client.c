/* SPDX-License-Identifier: Apache-2.0 */
/* Whatever goes wrong here ends the program: a load client that goes on measures something else. */
#include "tests/bench/client.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

int64_t now_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * US_PER_S + t.tv_nsec / 1000;
}

void die(const char *what)
{
    (void)fprintf(stderr, "load client: %s\n", what);
    exit(1);
}

unsigned argument_number(const char *text, unsigned max)
{
    char *end;
    unsigned long n = strtoul(text, &end, 10);
    if (end == text || *end || n == 0 || n > max) {
        die("a number is missing or out of range");
    }
    return (unsigned)n;
}

void target_read_token(struct target *t, const char *file)
{
    FILE *in = fopen(file, "r");
    if (!in || !fgets(t->token, sizeof(t->token), in)) {
        die("cannot read the token file");
    }
    t->token[strcspn(t->token, "\r\n")] = '\0';
    (void)fclose(in);
}

void target_write_search(const struct target *t, const char *query,
                         char ret_request[REQUEST_MAX_BYTES])
{
    char body[QUERY_MAX_BYTES + 200];
    int n = snprintf(body, sizeof(body),
                     "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{"
                     "\"name\":\"search_kb\",\"arguments\":{\"query\":\"%s\"}}}",
                     query);
    (void)snprintf(ret_request, REQUEST_MAX_BYTES,
                   "POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:%u\r\nAuthorization: Bearer %s\r\n"
                   "Content-Type: application/json\r\n"
                   "Accept: application/json, text/event-stream\r\n"
                   "MCP-Protocol-Version: 2025-11-25\r\nContent-Length: %d\r\n\r\n%s",
                   t->port, t->token, n, body);
}

static void samples_add(struct samples *s, int64_t us)
{
    if (s->n == s->cap) {
        s->cap = 2 * s->cap + 4096;
        s->us = realloc(s->us, s->cap * sizeof(*s->us));
        if (!s->us) {
            die("out of memory");
        }
    }
    s->us[s->n++] = (uint32_t)(us < UINT32_MAX ? us : UINT32_MAX);
}

static void fail(struct caller *self, const char *what, const struct reply *reply)
{
    if (atomic_fetch_add(self->failed, 1) == 0) {
        (void)fprintf(stderr, "load client: %s: status %d %.300s\n", what, reply->status,
                      reply->body ? reply->body : "(no answer)");
    }
}

bool caller_call(struct caller *self, struct connection *c, const char *request,
                 const char *expected, struct reply *ret_reply)
{
    *ret_reply = (struct reply){0};
    int64_t start = now_us();
    bool answered = connection_call(c, request, strlen(request), ret_reply);
    int64_t took = now_us() - start;
    if (!answered || ret_reply->status != 200 || !strstr(ret_reply->body, expected)) {
        fail(self, request[0] == 'G' ? "/livez" : "search_kb", ret_reply);
        return false;
    }
    samples_add(&self->samples, took);
    return true;
}

const char *samples_print(const struct samples *s, const char *comma)
{
    for (size_t i = 0; i < s->n; i++, comma = ",") {
        printf("%s%" PRIu32, comma, s->us[i]);
    }
    return comma;
}
