/* SPDX-License-Identifier: Apache-2.0 */
/* A table of changes: each alone is what a publisher does every day, and several together are what
 * a night of publishing brings. */
#include "tests/unit/whole/world.h"

#include <stdio.h>

enum { TEXT_MAX_BYTES = 1 << 20 };

/* What may become of hidden documents */

static void add_many(struct world *w, struct author *a)
{
    for (uint32_t n = 1 + draw_below(a->draw, 20); n && world_has_room(w); n--) {
        world_add(w, a, false);
    }
}

static void remove_where(struct world *w, bool (*goes)(const struct paper *p, uint32_t chance),
                         struct author *a)
{
    size_t n = 0;
    uint32_t all = draw_below(a->draw, N_COLLECTIONS);
    for (size_t i = 0; i < w->n; i++) {
        uint32_t chance = goes ? all : draw_below(a->draw, 2);
        bool gone = !w->papers[i].seen && (goes ? goes(&w->papers[i], chance) : chance);
        if (!gone) {
            w->papers[n++] = w->papers[i];
        }
    }
    w->n = n;
}

static void delete_some(struct world *w, struct author *a)
{
    remove_where(w, NULL, a);
}

static bool is_any(const struct paper *p, uint32_t chance)
{
    (void)p, (void)chance;
    return true;
}

static void delete_all(struct world *w, struct author *a)
{
    remove_where(w, is_any, a);
}

static bool is_of_collection(const struct paper *p, uint32_t collection)
{
    return p->place.collection == collection;
}

static void delete_collection(struct world *w, struct author *a)
{
    remove_where(w, is_of_collection, a);
}

/* A new partition, often of a collection that had nothing hidden, or nothing at all. */
static void add_partition(struct world *w, struct author *a)
{
    struct place p = {draw_below(a->draw, N_COLLECTIONS), draw_below(a->draw, N_DOC_TYPES),
                      draw_below(a->draw, 1U << N_LABELS)};
    if (caller_sees(a->caller, p)) {
        return;
    }
    for (int i = 0; i < 3 && world_has_room(w); i++) {
        world_add(w, a, false)->place = p;
    }
}

static void copy_seen(struct world *w, struct author *a)
{
    for (uint32_t n = 1 + draw_below(a->draw, 8); n && world_has_room(w); n--) {
        const struct paper *from = world_pick(w, a, true);
        if (!from) {
            return;
        }
        struct doc_input input = from->input;
        struct paper *copy = world_add(w, a, false);
        input.doc_id = copy->input.doc_id;
        copy->input = input;
    }
}

/* Many times the words of a visible document, in every field. */
static void stuff(struct world *w, struct author *a)
{
    const struct paper *from = world_pick(w, a, true);
    struct slice words = from ? from->input.chunks[0].text : SLICE_NONE;
    for (int i = 0; i < 4 && world_has_room(w); i++) {
        struct paper *p = world_add(w, a, false);
        struct chunk_input *chunks = world_new_chunks(a, &p->input, 2);
        p->input.title = world_words(a, 8, words);
        chunks[0].text = world_words(a, 60, words);
        chunks[1].context = world_words(a, 60, words);
    }
}

static void add_huge(struct world *w, struct author *a)
{
    if (world_has_room(w)) {
        struct paper *p = world_add(w, a, false);
        world_new_chunks(a, &p->input, 1 + draw_below(a->draw, 40))[0].text =
            world_words(a, 1500, SLICE_NONE);
    }
}

/* No word, or one letter. */
static void add_tiny(struct world *w, struct author *a)
{
    static const char *const texts[] = {".", "x", "\xE4\xBC\x91", "the", "  \n "};
    for (int i = 0; i < 3 && world_has_room(w); i++) {
        struct paper *p = world_add(w, a, false);
        world_new_chunks(a, &p->input, 1)[0] =
            (struct chunk_input){.text = slice_of(texts[draw_below(a->draw, 5)])};
        p->input.title = SLICE_LIT("");
    }
}

static void rewrite(struct paper *p, struct author *a)
{
    world_new_chunks(a, &p->input, 1 + draw_below(a->draw, 3));
}

static void rename_one(struct paper *p, struct author *a)
{
    p->input.doc_id = world_new_id(a, false);
}

static void move_one(struct paper *p, struct author *a)
{
    p->place = a->caller->hidden[draw_below(a->draw, a->caller->n_hidden)];
}

static void new_head(struct paper *p, struct author *a)
{
    world_draw_head(a, &p->input);
}

static void for_some_hidden(struct world *w, struct author *a,
                            void (*change)(struct paper *p, struct author *a))
{
    for (size_t i = 0; i < w->n; i++) {
        if (!w->papers[i].seen && draw_below(a->draw, 2)) {
            change(&w->papers[i], a);
        }
    }
}

struct change {
    const char *name;
    void (*whole)(struct world *w, struct author *a);
    void (*one)(struct paper *p, struct author *a);
};

static const struct change CHANGES[] = {
    {"add many", add_many, NULL},
    {"delete some", delete_some, NULL},
    {"delete all", delete_all, NULL},
    {"delete a collection", delete_collection, NULL},
    {"add a partition", add_partition, NULL},
    {"copy visible ones", copy_seen, NULL},
    {"stuff", stuff, NULL},
    {"add a huge one", add_huge, NULL},
    {"add tiny ones", add_tiny, NULL},
    {"rewrite", NULL, rewrite},
    {"rename", NULL, rename_one},
    {"move", NULL, move_one},
    {"retitle and redate", NULL, new_head},
};
enum { N_CHANGES = sizeof(CHANGES) / sizeof(*CHANGES) };

static void note(struct author *a, const char *name)
{
    size_t n = strlen(a->done);
    snprintf(a->done + n, sizeof(a->done) - n, "%s%s", n ? ", " : "", name);
}

void world_change_hidden(struct world *w, struct author *a)
{
    for (uint32_t n = 1 + draw_below(a->draw, 4); n; n--) {
        const struct change *c = &CHANGES[draw_below(a->draw, N_CHANGES)];
        note(a, c->name);
        if (c->whole) {
            c->whole(w, a);
        } else {
            for_some_hidden(w, a, c->one);
        }
    }
}

/* What may become of a visible one */

static struct slice with_a_word(struct author *a, struct slice text)
{
    struct dynbuf b;
    dynbuf_init(&b, TEXT_MAX_BYTES);
    dynbuf_add(&b, text);
    dynbuf_add_text(&b, text.n ? " more" : "more");
    struct slice longer = arena_copy(a->arena, dynbuf_get(&b));
    dynbuf_done(&b);
    return longer;
}

static void change_chunk(struct paper *p, struct author *a, bool context)
{
    struct chunk_input *chunks = arena_alloc(a->arena, p->input.n_chunks * sizeof(*chunks));
    memcpy(chunks, p->input.chunks, p->input.n_chunks * sizeof(*chunks));
    struct chunk_input *one = &chunks[draw_below(a->draw, p->input.n_chunks)];
    struct slice *field = context ? &one->context : &one->text;
    *field = with_a_word(a, *field);
    p->input.chunks = chunks;
}

/* To another visible place: to the same one it goes under another id. */
static void move_seen(struct paper *p, struct author *a)
{
    struct place to = a->caller->seen[draw_below(a->draw, a->caller->n_seen)];
    if (place_eq(to, p->place)) {
        p->input.doc_id = world_new_id(a, true);
    }
    p->place = to;
}

void world_change_seen(struct world *w, struct author *a)
{
    struct paper *p = (struct paper *)(uintptr_t)world_pick(w, a, true);
    switch (p ? draw_below(a->draw, 8) : 0) {
    case 0: world_add(w, a, true); break;
    case 1: change_chunk(p, a, false); break;
    case 2: change_chunk(p, a, true); break;
    case 3: p->input.title = with_a_word(a, p->input.title); break;
    case 4: p->input.published = p->input.published == NO_DATE ? 0 : p->input.published + 1; break;
    case 5:
        p->input.source_url =
            p->input.source_url.p ? SLICE_NONE : SLICE_LIT("https://kb.example/other");
        break;
    case 6: move_seen(p, a); break;
    default: *p = w->papers[--w->n]; break;
    }
}
