/* SPDX-License-Identifier: Apache-2.0 */
#include "service/eval/scan_figures.h"

#include "service/base/mem.h"
#include "service/digest/digest.h"
#include "service/eval/output.h"

#include <stdlib.h>

static struct slice named(struct slice name)
{
    return name.p ? name : SLICE_LIT("");
}

static struct scan_tally *cell_of(struct scan_class *c, uint32_t category, uint32_t difficulty)
{
    for (size_t i = 0; i < c->n_cells; i++) {
        if (c->cells[i].category == category && c->cells[i].difficulty == difficulty) {
            return &c->cells[i].tally;
        }
    }
    if (c->n_cells == c->cap) {
        c->cap = c->cap ? 2 * c->cap : 32;
        c->cells = mem_realloc(c->cells, c->cap * sizeof(*c->cells));
    }
    c->cells[c->n_cells] = (struct scan_cell){category, difficulty, {0, 0}};
    return &c->cells[c->n_cells++].tally;
}

static void count(struct scan_tally *t, bool flagged)
{
    t->n++;
    t->flagged += flagged;
}

void scan_class_add(struct scan_class *c, const struct eval_record *record, bool flagged)
{
    uint32_t category = id_map_add(&c->categories, named(record->category), NULL);
    uint32_t difficulty = id_map_add(&c->difficulties, named(record->difficulty), NULL);
    count(&c->all, flagged);
    count(cell_of(c, category, difficulty), flagged);
}

void scan_class_done(struct scan_class *c)
{
    free(c->cells);
    id_map_done(&c->categories);
    id_map_done(&c->difficulties);
    *c = (struct scan_class){0};
}

static double divide(uint64_t part, uint64_t whole)
{
    return whole ? (double)part / (double)whole : 0;
}

double scan_share(struct scan_tally t)
{
    return divide(t.flagged, t.n);
}

double scan_precision(const struct scan_figures *f)
{
    uint64_t found = f->positives.all.flagged;
    return divide(found, found + f->benign.all.flagged);
}

double scan_recall(const struct scan_figures *f)
{
    return scan_share(f->positives.all);
}

double scan_f1(const struct scan_figures *f)
{
    uint64_t found = f->positives.all.flagged;
    return divide(2 * found, found + f->benign.all.flagged + f->positives.all.n);
}

double scan_fpr(const struct scan_figures *f)
{
    return scan_share(f->benign.all);
}

static void add_tally(struct json_writer *w, struct slice name, struct scan_tally t)
{
    json_text(w, name);
    dynbuf_add_byte(w->out, ':');
    w->comma = false;
    json_object_begin(w);
    json_member_int(w, "n", (int64_t)t.n);
    json_member_int(w, "flagged", (int64_t)t.flagged);
    json_member_fraction(w, "share", scan_share(t));
    json_object_end(w);
}

struct scan_tally scan_class_sum(const struct scan_class *c, bool by_category, uint32_t number)
{
    struct scan_tally sum = {0, 0};
    for (size_t i = 0; i < c->n_cells; i++) {
        const struct scan_cell *cell = &c->cells[i];
        if ((by_category ? cell->category : cell->difficulty) == number) {
            sum.n += cell->tally.n;
            sum.flagged += cell->tally.flagged;
        }
    }
    return sum;
}

static void add_tallies(struct json_writer *w, const char *key, const struct scan_class *c,
                        bool by_category)
{
    const struct id_map *names = by_category ? &c->categories : &c->difficulties;
    json_key(w, key);
    json_object_begin(w);
    for (uint32_t i = 0; i < names->n; i++) {
        add_tally(w, names->ids[i], scan_class_sum(c, by_category, i));
    }
    json_object_end(w);
}

void scan_figures_json(struct json_writer *w, const struct scan_figures *f)
{
    const struct scan_tally yes = f->positives.all, no = f->benign.all;
    json_member_int(w, "true_positives", (int64_t)yes.flagged);
    json_member_int(w, "false_negatives", (int64_t)(yes.n - yes.flagged));
    json_member_int(w, "false_positives", (int64_t)no.flagged);
    json_member_int(w, "true_negatives", (int64_t)(no.n - no.flagged));
    json_member_fraction(w, "precision", scan_precision(f));
    json_member_fraction(w, "recall", scan_recall(f));
    json_member_fraction(w, "f1", scan_f1(f));
    json_member_fraction(w, "fpr", scan_fpr(f));
    add_tallies(w, "recall_by_category", &f->positives, true);
    add_tallies(w, "recall_by_difficulty", &f->positives, false);
    add_tallies(w, "fpr_by_category", &f->benign, true);
}

bool scan_half_parse(const char *text, enum scan_half *ret_half)
{
    *ret_half = strcmp(text, "0-7") == 0 ? SCAN_LOWER : SCAN_UPPER;
    return *ret_half == SCAN_LOWER || strcmp(text, "8-f") == 0;
}

bool scan_half_has(enum scan_half half, const struct eval_record *record)
{
    struct digest digest;
    if (half == SCAN_WHOLE) {
        return true;
    }
    digest_of(record->group.p ? record->group : record->id, &digest);
    return (digest.bytes[0] < 0x80) == (half == SCAN_LOWER);
}
