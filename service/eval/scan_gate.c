/* SPDX-License-Identifier: Apache-2.0 */
/* A bound over texts that a category or difficulty chooses is over all of them counted together:
 * the mean of the shares of small categories would be a different figure. */
#include "service/eval/scan_figures.h"

#include "service/eval/output.h"

#include <stdlib.h>

static const char *const RULE_KEYS[] = {"at_least", "at_most", "category", "difficulty", "note"};

struct gating {
    const struct scan_figures *figures;
    scan_gate_check *on_check;
    void *arg;
    uint64_t n_rules, n_failed;
    struct err_detail *detail;
};

static bool is_in(struct slice name, const json_t *wanted)
{
    size_t i;
    json_t *item;
    json_array_foreach(wanted, i, item)
    {
        struct slice want = {json_string_value(item), json_string_length(item)};
        bool prefix = want.n && want.p[want.n - 1] == '*';
        if (want.p && (prefix ? slice_starts(name, (struct slice){want.p, want.n - 1})
                              : slice_eq(name, want))) {
            return true;
        }
    }
    return !wanted;
}

static struct scan_tally choose(const struct scan_class *c, const json_t *rule)
{
    struct scan_tally sum = {0, 0};
    for (size_t i = 0; i < c->n_cells; i++) {
        const struct scan_cell *cell = &c->cells[i];
        if (is_in(c->categories.ids[cell->category], json_object_get(rule, "category")) &&
            is_in(c->difficulties.ids[cell->difficulty], json_object_get(rule, "difficulty"))) {
            sum.n += cell->tally.n;
            sum.flagged += cell->tally.flagged;
        }
    }
    return sum;
}

static bool refuse(const struct gating *g, const char *figure, const char *reason)
{
    err_detail_set(g->detail, "%s: %s", figure, reason);
    return false;
}

static bool is_bound(const json_t *value)
{
    return !value || (json_is_number(value) && json_number_value(value) >= 0 &&
                      json_number_value(value) <= 1);
}

static bool is_names(const json_t *value)
{
    bool good = !value || (json_is_array(value) && json_array_size(value) > 0);
    for (size_t i = 0; good && i < json_array_size(value); i++) {
        good = json_is_string(json_array_get(value, i));
    }
    return good;
}

/* The first member that is none of the known ones; NULL: there is none. */
static const char *foreign_key(const json_t *object, const char *const *known, size_t n)
{
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)object, key, value)
    {
        size_t i = 0;
        while (i < n && strcmp(key, known[i]) != 0) {
            i++;
        }
        if (i == n) {
            return key;
        }
    }
    return NULL;
}

static const char *rule_fault(const json_t *rule, bool chooses)
{
    const json_t *least = json_object_get(rule, "at_least"),
                 *most = json_object_get(rule, "at_most");
    const json_t *category = json_object_get(rule, "category");
    const json_t *difficulty = json_object_get(rule, "difficulty");
    if (!json_is_object(rule) ||
        foreign_key(rule, RULE_KEYS, sizeof(RULE_KEYS) / sizeof(RULE_KEYS[0]))) {
        return "a rule is an object of at_least, at_most, category, difficulty, note";
    }
    if ((!least && !most) || !is_bound(least) || !is_bound(most)) {
        return "a rule needs at_least or at_most, a number from 0 to 1";
    }
    if (!is_names(category) || !is_names(difficulty)) {
        return "category and difficulty are lists of names";
    }
    return chooses || (!category && !difficulty)
               ? NULL
               : "category and difficulty choose among the texts of recall or fpr only";
}

/* False: the rule chooses no text, so it would hold for any scanner. */
static bool find_figure(const struct gating *g, const char *figure, const json_t *rule,
                        double *ret_found)
{
    const struct scan_figures *f = g->figures;
    bool recall = strcmp(figure, "recall") == 0;
    if (recall || strcmp(figure, "fpr") == 0) {
        struct scan_tally t = choose(recall ? &f->positives : &f->benign, rule);
        *ret_found = scan_share(t);
        return t.n > 0;
    }
    *ret_found = strcmp(figure, "precision") == 0 ? scan_precision(f) : scan_f1(f);
    return true;
}

static bool holds(const json_t *rule, int64_t found)
{
    const json_t *least = json_object_get(rule, "at_least"),
                 *most = json_object_get(rule, "at_most");
    return (!least || found >= millionths(json_number_value(least))) &&
           (!most || found <= millionths(json_number_value(most)));
}

static bool check_rule(struct gating *g, const char *figure, bool chooses, const json_t *rule)
{
    double value;
    const char *fault = rule_fault(rule, chooses);
    if (fault) {
        return refuse(g, figure, fault);
    }
    if (!find_figure(g, figure, rule, &value)) {
        return refuse(g, figure, "a rule chooses no text of the set");
    }
    int64_t found = millionths(value);
    bool good = holds(rule, found);
    char *text = json_dumps(rule, JSON_COMPACT | JSON_ENSURE_ASCII | JSON_REAL_PRECISION(6));
    g->n_rules++;
    g->n_failed += !good;
    g->on_check(g->arg, figure, slice_of(text), found, good);
    free(text);
    return true;
}

static bool check_keys(const json_t *gate, const struct gating *g)
{
    static const char *const KEYS[] = {"recall", "fpr", "precision", "f1", "set", "half", "note"};
    const char *key = foreign_key(gate, KEYS, sizeof(KEYS) / sizeof(KEYS[0]));
    return !key || refuse(g, key, "no member of a gate; see kbgate eval scan --help");
}

static bool check_figure(struct gating *g, const json_t *gate, const char *figure, bool chooses)
{
    const json_t *rules = json_object_get(gate, figure);
    if (rules && !json_is_array(rules)) {
        return refuse(g, figure, "write a list of rules");
    }
    for (size_t i = 0; i < json_array_size(rules); i++) {
        if (!check_rule(g, figure, chooses, json_array_get(rules, i))) {
            return false;
        }
    }
    return true;
}

bool scan_gate(const json_t *gate, const struct scan_figures *f, scan_gate_check *on_check,
               void *arg, uint64_t *ret_failed, struct err_detail *detail)
{
    struct gating g = {.figures = f, .on_check = on_check, .arg = arg, .detail = detail};
    bool good = check_keys(gate, &g) && check_figure(&g, gate, "recall", true) &&
                check_figure(&g, gate, "fpr", true) && check_figure(&g, gate, "precision", false) &&
                check_figure(&g, gate, "f1", false);
    if (good && g.n_rules == 0) {
        good = refuse(&g, "gate", "no rule in it, so it would hold for anything");
    }
    *ret_failed = g.n_failed;
    return good;
}
