/* SPDX-License-Identifier: Apache-2.0 */
/* Few words and many shared texts, so that terms, texts, titles and dates of visible and hidden
 * documents meet wherever they can. */
#include "tests/unit/whole/world.h"

#include <stdio.h>
#include <stdlib.h>

enum { TEXT_MAX_BYTES = 1 << 20 };

/* Common words first; forms of one stem, a stop word, terms with signs, and words without spaces.
 */
static const char *const WORDS[] = {
    "kilo",
    "delta",
    "bravo",
    "tango",
    "running",
    "runs",
    "the",
    "of",
    "lima",
    "romeo",
    "C++",
    "node.js",
    "papa",
    "oscar",
    "38.101",
    "multi-agent",
    "zulu",
    "onyx",
    "opal",
    "cobalt",
    "fjord",
    "\xE4\xBC\x91\xE6\x9A\x87", /* two Han */
    "lynx",
    "gecko",
    "quail",
    "heron",
    "\xE6\x9C\x89\xE7\xB5\xA6\xE4\xBC\x91\xE6\x9A\x87",
    "tapir",
};
enum { N_WORDS = sizeof(WORDS) / sizeof(*WORDS) };

static const char *const SHARED_TEXTS[] = {"kilo delta running", "this page is left blank",
                                           "lima lima onyx papa", "opal", "\xE2\x80\xA6"};
enum { N_SHARED = sizeof(SHARED_TEXTS) / sizeof(*SHARED_TEXTS) };

static const char *draw_word(struct draw *d)
{
    return WORDS[draw_below(d, 1 + draw_below(d, N_WORDS))];
}

static struct slice words_of(struct slice text, struct draw *d)
{
    size_t at = draw_below(d, text.n ? text.n : 1);
    while (at && text.p[at - 1] != ' ') {
        at--;
    }
    size_t end = at;
    while (end < text.n && text.p[end] != ' ') {
        end++;
    }
    return (struct slice){text.p + at, end - at};
}

struct slice world_words(struct author *a, unsigned n, struct slice of)
{
    struct dynbuf b;
    dynbuf_init(&b, TEXT_MAX_BYTES);
    for (unsigned i = 0; i < n; i++) {
        dynbuf_add_text(&b, i ? " " : "");
        dynbuf_add(&b, of.n ? words_of(of, a->draw) : slice_of(draw_word(a->draw)));
    }
    struct slice text = arena_copy(a->arena, dynbuf_get(&b));
    dynbuf_done(&b);
    return text;
}

const struct paper *world_pick(const struct world *w, struct author *a, bool seen)
{
    size_t n = 0, at = 0;
    for (size_t i = 0; i < w->n; i++) {
        n += w->papers[i].seen == seen;
    }
    size_t wanted = n ? draw_below(a->draw, n) : 0;
    for (; n && (w->papers[at].seen != seen || wanted > 0); at++) {
        wanted -= w->papers[at].seen == seen;
    }
    return n ? &w->papers[at] : NULL;
}

/* New documents */

struct slice world_new_id(struct author *a, bool seen)
{
    static const char *const endings[] = {"", "/1", "-b", ".md", "/10/x y", "\xC3\xA9"};
    char id[64];
    snprintf(id, sizeof(id), "%s%u%s", seen ? "plain" : VEILED, a->next_id++,
             endings[draw_below(a->draw, 6)]);
    return arena_copy(a->arena, slice_of(id));
}

static void draw_chunk(struct author *a, struct chunk_input *ret_chunk)
{
    struct draw *d = a->draw;
    ret_chunk->text = draw_below(d, 4) ? world_words(a, 1 + draw_below(d, 25), SLICE_NONE)
                                       : slice_of(SHARED_TEXTS[draw_below(d, N_SHARED)]);
    ret_chunk->context = draw_one_in(d, 4) ? world_words(a, 5, SLICE_NONE) : SLICE_NONE;
}

struct chunk_input *world_new_chunks(struct author *a, struct doc_input *doc, size_t n)
{
    struct chunk_input *chunks = arena_alloc(a->arena, n * sizeof(*chunks));
    uint32_t position = 0;
    for (size_t i = 0; i < n; i++) {
        chunks[i].position = position;
        position += draw_one_in(a->draw, 6) ? 3 : 1;
        draw_chunk(a, &chunks[i]);
    }
    doc->chunks = chunks;
    doc->n_chunks = n;
    return chunks;
}

void world_draw_head(struct author *a, struct doc_input *doc)
{
    struct draw *d = a->draw;
    doc->title =
        draw_below(d, 3) ? world_words(a, 1 + draw_below(d, 4), SLICE_NONE) : SLICE_LIT("");
    doc->source_url = draw_below(d, 2) ? SLICE_LIT("https://kb.example/page") : SLICE_NONE;
    doc->published = draw_below(d, 4) ? 19000 + (int32_t)draw_below(d, 40) : NO_DATE;
}

struct paper *world_add(struct world *w, struct author *a, bool seen)
{
    const struct caller *c = a->caller;
    struct paper *p = &w->papers[w->n++];
    *p = (struct paper){.seen = seen,
                        .place = seen ? c->seen[draw_below(a->draw, c->n_seen)]
                                      : c->hidden[draw_below(a->draw, c->n_hidden)]};
    p->input.doc_id = world_new_id(a, seen);
    world_draw_head(a, &p->input);
    world_new_chunks(a, &p->input, draw_one_in(a->draw, 8) ? 9 : 1 + draw_below(a->draw, 3));
    return p;
}

void world_draw(struct world *w, struct author *a)
{
    size_t n_seen = draw_below(a->draw, draw_one_in(a->draw, 6) ? 40 : 12);
    size_t n_hidden = draw_below(a->draw, draw_one_in(a->draw, 6) ? 40 : 12);
    *w = (struct world){.arena = a->arena};
    for (size_t i = 0; i < n_seen + n_hidden; i++) {
        world_add(w, a, i < n_seen);
    }
}
