/* SPDX-License-Identifier: Apache-2.0 */
/* The shape of answers over random stores, settings and queries, from the bytes that come back: a
 * smaller top_k gives the beginning of a larger one's results, texts and passages of one document
 * do not crowd an answer, other places are places of that very text, and the byte budget holds.
 * KB_SEED=N repeats a run. */
#include "service/base/log.h"
#include "service/base/mem.h"
#include "tests/unit/whole/asks.h"
#include "tests/unit/whole/door.h"

#include <criterion/criterion.h>
#include <jansson.h>

enum { N_CASES = 40, MAX_K = 20, REPLY_MAX_BYTES = 4 << 20, ENVELOPE_BYTES = 512 };

struct trial {
    struct door *door;
    uint64_t seed, number;
    struct arena arena;
    struct draw draw;
    struct caller caller;
    struct author author;
    struct world world;
    struct asks asks;
    struct answer_settings settings;
};

struct answer {
    json_t *root, *content, *results; /* content and results lie in root */
    size_t n, bytes;
    bool truncated;
    struct slice texts[MAX_K]; /* of the results, as they were published */
};

/* What was met at all: a property of nothing would hold too. */
struct met {
    size_t answers, truncated, with_also, capped;
};

#define HOLDS(t, condition)                                                                        \
    cr_assert(condition, "KB_SEED=%llu, case %llu: " #condition, (unsigned long long)(t)->seed,    \
              (unsigned long long)(t)->number)

/* Answers */

static struct answer parse(struct slice reply)
{
    const char *begin = memmem(reply.p, reply.n, "\n{", 2);
    MUST(begin, "no JSON");
    struct slice body = slice_skip(reply, (size_t)(begin + 1 - reply.p));
    body.n--; /* the newline behind it */
    struct answer a = {.root = json_loadb(body.p, body.n, 0, NULL), .bytes = body.n};
    const json_t *result = json_object_get(a.root, "result");
    a.content = result ? json_object_get(result, "structuredContent") : a.root;
    a.results = json_object_get(a.content, "results");
    MUST(json_is_array(a.results), "no results");
    a.n = json_array_size(a.results);
    a.truncated = json_is_true(json_object_get(a.content, "truncated"));
    return a;
}

static struct answer ask(struct trial *t, enum surface surface, struct slice query, unsigned top_k)
{
    struct dynbuf out;
    dynbuf_init(&out, REPLY_MAX_BYTES);
    t->asks.n = 0;
    struct slice arguments = asks_text(&t->asks, "\"query\":\"%s\",\"top_k\":%u", query.p, top_k);
    door_ask(t->door, &asks_search(&t->asks, surface, false, arguments)->in, &out);
    struct answer a = parse(dynbuf_get(&out));
    dynbuf_done(&out);
    return a;
}

static const char *member(const json_t *result, const char *name)
{
    return json_string_value(json_object_get(result, name));
}

/* The text of a visible chunk as it was published; SLICE_NONE where nobody visible has that id. */
static struct slice text_of(const struct trial *t, const char *chunk_id)
{
    char id[256];
    for (size_t i = 0; i < t->world.n; i++) {
        const struct paper *p = &t->world.papers[i];
        for (size_t k = 0; p->seen && k < p->input.n_chunks; k++) {
            snprintf(id, sizeof(id), "%s/%s/%u", COLLECTIONS[p->place.collection],
                     p->input.doc_id.p, p->input.chunks[k].position);
            if (strcmp(id, chunk_id) == 0) {
                return p->input.chunks[k].text;
            }
        }
    }
    return SLICE_NONE;
}

/* What holds for one answer */

static void check_also(struct trial *t, const json_t *result, struct slice text, struct met *met)
{
    const json_t *also = json_object_get(result, "also_in");
    HOLDS(t, !also || json_array_size(also) > 0);
    HOLDS(t, json_array_size(also) <= t->settings.also_in_max);
    const char *before = "";
    for (size_t i = 0; i < json_array_size(also); i++) {
        const char *id = json_string_value(json_array_get(also, i));
        HOLDS(t, strcmp(before, id) < 0);
        HOLDS(t, strcmp(id, member(result, "chunk_id")) != 0);
        HOLDS(t, slice_eq(text_of(t, id), text));
        before = id;
    }
    met->with_also += also != NULL;
}

static void check_against_earlier(struct trial *t, const struct answer *a, size_t at,
                                  struct met *met)
{
    const json_t *result = json_array_get(a->results, at);
    size_t of_document = 1;
    for (size_t i = 0; i < at; i++) {
        const json_t *earlier = json_array_get(a->results, i);
        HOLDS(t, !slice_eq(a->texts[i], a->texts[at]));
        HOLDS(t, json_number_value(json_object_get(earlier, "score")) >=
                     json_number_value(json_object_get(result, "score")));
        of_document += strcmp(member(earlier, "doc_id"), member(result, "doc_id")) == 0 &&
                       strcmp(member(earlier, "collection"), member(result, "collection")) == 0;
    }
    uint32_t cap = t->settings.chunks_per_document;
    HOLDS(t, cap == 0 || of_document <= cap);
    met->capped += cap > 0 && of_document == cap;
}

static void check_limits(struct trial *t, const struct answer *a, unsigned top_k, struct met *met)
{
    HOLDS(t, a->n <= top_k);
    HOLDS(t, a->bytes <= t->settings.byte_budget + ENVELOPE_BYTES);
    HOLDS(t, !a->truncated || a->n > 0);
    met->answers += a->n > 0;
    met->truncated += a->truncated;
}

static void check_results(struct trial *t, struct answer *a, struct met *met)
{
    for (size_t i = 0; i < a->n; i++) {
        const json_t *result = json_array_get(a->results, i);
        a->texts[i] = text_of(t, member(result, "chunk_id"));
        HOLDS(t, a->texts[i].p != NULL);
        check_also(t, result, a->texts[i], met);
        check_against_earlier(t, a, i, met);
    }
}

/* And for two of them */

static void check_prefix(struct trial *t, const struct answer *shorter, const struct answer *longer,
                         unsigned top_k)
{
    HOLDS(t, shorter->n == (longer->n < top_k ? longer->n : top_k));
    for (size_t i = 0; i < shorter->n; i++) {
        HOLDS(t,
              json_equal(json_array_get(shorter->results, i), json_array_get(longer->results, i)));
    }
    HOLDS(t, json_equal(json_object_get(shorter->content, "index_version"),
                        json_object_get(longer->content, "index_version")));
    HOLDS(t, !shorter->truncated || (longer->truncated && longer->n == shorter->n));
}

/* The renderings differ in text, so in where the budget ends, and in nothing else. */
static void check_renderings(struct trial *t, const struct answer *a, const struct answer *b)
{
    static const char *const names[] = {"chunk_id", "doc_id", "title", "score", "also_in"};
    for (size_t i = 0; i < a->n && i < b->n; i++) {
        for (size_t k = 0; k < sizeof(names) / sizeof(*names); k++) {
            const json_t *x = json_object_get(json_array_get(a->results, i), names[k]);
            const json_t *y = json_object_get(json_array_get(b->results, i), names[k]);
            HOLDS(t, x == y || json_equal(x, y));
        }
    }
    HOLDS(t, a->n == b->n || a->truncated || b->truncated);
}

static void judge_query(struct trial *t, struct slice query, struct met *met)
{
    static const enum surface surfaces[] = {SURFACE_MCP, SURFACE_REST};
    struct answer longest[2];
    for (int s = 0; s < 2; s++) {
        longest[s] = ask(t, surfaces[s], query, MAX_K);
        check_limits(t, &longest[s], MAX_K, met);
        check_results(t, &longest[s], met);
        for (unsigned top_k = 1; top_k < MAX_K; top_k++) {
            struct answer a = ask(t, surfaces[s], query, top_k);
            check_limits(t, &a, top_k, met);
            check_prefix(t, &a, &longest[s], top_k);
            json_decref(a.root);
        }
    }
    check_renderings(t, &longest[0], &longest[1]);
    json_decref(longest[0].root);
    json_decref(longest[1].root);
}

/* Cases */

static void draw_case(struct trial *t, const struct credentials *credentials)
{
    t->draw.state = t->seed * 1000003 + t->number;
    t->settings = ANSWERS[t->number % N_PROFILES];
    caller_draw(&t->caller, &t->draw);
    t->author = (struct author){.draw = &t->draw, .caller = &t->caller, .arena = &t->arena};
    world_draw(&t->world, &t->author);
    for (int i = 0; i < 20; i++) {
        world_add(&t->world, &t->author, true);
    }
    t->asks.author = &t->author;
    t->asks.authorization = dynbuf_get(&credentials->token);
}

static void run_case(struct trial *t, const struct credentials *credentials, struct met *met)
{
    draw_case(t, credentials);
    door_admit(t->door, &t->caller, (unsigned)(t->number % N_PROFILES));
    door_publish(t->door, &t->world, false);
    for (int i = 0; i < 2; i++) {
        judge_query(t, world_words(&t->author, 1 + draw_below(&t->draw, 3), SLICE_NONE), met);
    }
    arena_done(&t->arena);
}

Test(answers, keep_their_shape_over_random_stores)
{
    struct credentials credentials;
    struct met met = {0};
    const char *given = getenv("KB_SEED");
    uint64_t seed = given ? strtoull(given, NULL, 10) : 20261130;
    log_set_level(LOG_ERROR);
    credentials_make(&credentials);
    struct door *door = door_new(&credentials);
    for (uint64_t i = 0; i < N_CASES; i++) {
        struct trial *t = mem_alloc(sizeof(*t));
        *t = (struct trial){.door = door, .seed = seed, .number = i};
        run_case(t, &credentials, &met);
        free(t);
    }
    door_free(door);
    credentials_done(&credentials);
    fprintf(stderr,
            "answers: KB_SEED=%llu, %zu with results, %zu truncated, %zu also in, %zu capped\n",
            (unsigned long long)seed, met.answers, met.truncated, met.with_also, met.capped);
    cr_assert(met.answers > N_CASES * MAX_K && met.truncated > 20 && met.with_also > 20 &&
              met.capped > 20);
}
