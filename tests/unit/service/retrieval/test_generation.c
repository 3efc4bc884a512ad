/* SPDX-License-Identifier: Apache-2.0 */
#include "service/retrieval/generation.h"

#include "corpus.h"
#include "service/retrieval/generation_files.h"

#include <sys/stat.h>

static char *store;

static void setup(void)
{
    store = folder_new();
}

static void teardown(void)
{
    folder_free(store);
}

TestSuite(generation, .init = setup, .fini = teardown);

static const struct slice LABELS[] = {{"hr", 2}, {"internal", 8}};

static struct generation_entry entry(const char *collection, size_t n_labels, const char *content)
{
    struct generation_entry e = {
        .partition = {
            .scope = {slice_of(collection), SLICE_LIT("note"), LABELS, n_labels},
            .n_docs = 2,
            .n_chunks = 5,
        }};
    digest_of(slice_of(content), &e.partition.content);
    digest_of(SLICE_LIT("texts"), &e.files.texts);
    digest_of(SLICE_LIT("index"), &e.files.index);
    return e;
}

static void publish(const struct generation_entry *entries, size_t n)
{
    struct err_detail why = {{0}};
    int lock = generation_lock(store, &why);
    cr_assert_geq(lock, 0, "%s", why.text);
    bool good = generation_publish(store, entries, n, &why);
    cr_assert(good, "%s", why.text);
    close(lock);
}

static const char *in_store(const char *name)
{
    static char path[4096];
    snprintf(path, sizeof(path), "%s/%s", store, name);
    return path;
}

static bool exists(const char *name)
{
    return access(in_store(name), F_OK) == 0;
}

static void put(const char *name, const char *text)
{
    FILE *f = fopen(in_store(name), "w");
    cr_assert(f && fputs(text, f) >= 0 && fclose(f) == 0);
}

static void get(const char *name, char *ret_text, size_t size)
{
    FILE *f = fopen(in_store(name), "r");
    cr_assert(f);
    size_t n = fread(ret_text, 1, size - 1, f);
    ret_text[n] = 0;
    (void)fclose(f);
}

static void put_segment(const struct generation_entry *e)
{
    struct segment_paths paths;
    cr_assert(generation_segment_paths(store, &e->partition.content, "", &paths));
    put(paths.texts + strlen(store) + 1, "texts");
    put(paths.index + strlen(store) + 1, "index");
}

static bool has_segment(const struct generation_entry *e)
{
    struct segment_paths paths;
    cr_assert(generation_segment_paths(store, &e->partition.content, "", &paths));
    bool texts = access(paths.texts, F_OK) == 0, index = access(paths.index, F_OK) == 0;
    cr_assert_eq(texts, index, "both or none");
    return texts;
}

Test(generation, an_absent_store_is_an_empty_generation)
{
    struct generation g;
    cr_assert(generation_read(store, &g, NULL));
    cr_assert_eq(g.n, 0);
    cr_assert_str_eq(g.name, "");
    generation_done(&g);
}

Test(generation, what_is_published_is_read)
{
    struct generation g;
    struct generation_entry entries[] = {entry("a", 0, "1"), entry("a", 2, "2"),
                                         entry("b", 1, "3")};
    publish(entries, 3);
    cr_assert(generation_read(store, &g, NULL));
    cr_assert_str_eq(g.name, "1.json");
    cr_assert_eq(g.n, 3);
    for (size_t i = 0; i < 3; i++) {
        cr_assert_eq(doc_scope_cmp(&g.entries[i].partition.scope, &entries[i].partition.scope), 0);
        cr_assert(digest_eq(&g.entries[i].partition.content, &entries[i].partition.content));
        cr_assert(digest_eq(&g.entries[i].files.texts, &entries[i].files.texts));
        cr_assert(digest_eq(&g.entries[i].files.index, &entries[i].files.index));
        cr_assert_eq(g.entries[i].partition.n_docs, 2);
        cr_assert_eq(g.entries[i].partition.n_chunks, 5);
    }
    generation_done(&g);
    publish(entries, 1);
    cr_assert(generation_read(store, &g, NULL));
    cr_assert_str_eq(g.name, "2.json");
    cr_assert_eq(g.n, 1);
    generation_done(&g);
    publish(NULL, 0);
    cr_assert(generation_read(store, &g, NULL));
    cr_assert_eq(g.n, 0);
    cr_assert_str_eq(g.name, "3.json");
    generation_done(&g);
}

Test(generation, one_writer_at_a_time)
{
    struct err_detail why = {{0}};
    int first = generation_lock(store, NULL);
    cr_assert_geq(first, 0);
    cr_assert_eq(generation_lock(store, &why), -1);
    cr_assert(strstr(why.text, "another ingest"), "%s", why.text);
    close(first);
    int second = generation_lock(store, &why);
    cr_assert_geq(second, 0);
    close(second);
}

Test(generation, the_lock_makes_the_folders_above)
{
    char deep[4096];
    snprintf(deep, sizeof(deep), "%s/x/y/store", store);
    int lock = generation_lock(deep, NULL);
    cr_assert_geq(lock, 0);
    close(lock);
    cr_assert(exists("x/y/store/segments") && exists("x/y/store/generations"));
}

Test(generation, a_damaged_manifest_is_refused_and_named)
{
    char good[4096], bad[4096];
    struct generation g;
    struct generation_entry entries[] = {entry("a", 2, "1"), entry("b", 0, "2")};
    publish(entries, 2);
    get("generations/1.json", good, sizeof(good));
    static const struct {
        const char *from, *to;
    } cases[] = {
        {"{\"format\":3", "{\"format\":4"},
        {"{\"format\":3", "{\"format\":\"3\""},
        {"{\"format\":3,", "{"},
        {"\"segments\"", "\"segment\""},
        {"\"collection\":\"a\"", "\"collection\":\"\""},
        {"\"collection\":\"a\"", "\"collection\":\"../a\""},
        {"\"collection\":\"a\"", "\"collection\":1"},
        {"\"collection\":\"a\"", "\"collection\":\"c\""}, /* no longer sorted */
        {"\"collection\":\"b\"", "\"collection\":\"a\",\"collection\":\"b\""},
        {"\"labels\":[\"hr\",", "\"labels\":[\"zz\","},
        {"\"labels\":[\"hr\",", "\"labels\":[7,"},
        {"\"labels\":[]", "\"labels\":\"\""},
        {"\"documents\":2", "\"documents\":0"},
        {"\"documents\":2", "\"documents\":-2"},
        {"\"chunks\":5", "\"chunks\":5.5"},
        {"\"content\":\"", "\"content\":\"0"},
        {"\"texts_sha256\":\"", "\"texts_sha256\":\"G"},
        {"\"index_sha256\":\"", "\"index_sha256\":\"G"},
        {"\"index_sha256\"", "\"file\""},
        {"]}\n", "]\n"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct err_detail why = {{0}};
        const char *at = strstr(good, cases[i].from);
        cr_assert(at, "case %zu", i);
        snprintf(bad, sizeof(bad), "%.*s%s%s", (int)(at - good), good, cases[i].to,
                 at + strlen(cases[i].from));
        put("generations/1.json", bad);
        cr_assert(!generation_read(store, &g, &why), "case %zu", i);
        cr_assert(strstr(why.text, "generations/1.json"), "case %zu: %s", i, why.text);
    }
    put("generations/1.json", good);
    cr_assert(generation_read(store, &g, NULL));
    generation_done(&g);
}

/* Nothing is taken over from a store of another version, and nothing is lost in silence. */
Test(generation, another_format_is_refused_with_what_to_do)
{
    struct generation g;
    static const char *const formats[] = {"1", "2", "4", "-1", "99999999999999"};
    struct generation_entry e = entry("a", 0, "1");
    publish(&e, 1);
    put_segment(&e);
    for (size_t i = 0; i < sizeof(formats) / sizeof(*formats); i++) {
        struct err_detail why = {{0}};
        char text[128];
        snprintf(text, sizeof(text), "{\"format\":%s,\"segments\":[]}\n", formats[i]);
        put("generations/1.json", text);
        cr_assert(!generation_read(store, &g, &why));
        cr_assert(strstr(why.text, "generations/1.json") && strstr(why.text, "another version") &&
                      strstr(why.text, "run kbgate ingest again"),
                  "%s", why.text);
        generation_collect(store, 0);
        cr_assert(has_segment(&e), "its files are not ours to sweep");
    }
}

Test(generation, current_names_a_generation_and_nothing_else)
{
    static const char *const bad[] = {"",
                                      "\n",
                                      "1",
                                      "1.json\n\n",
                                      "01.json\n",
                                      "0.json",
                                      "-1.json",
                                      "../1.json",
                                      "1.json.new",
                                      "x.json",
                                      ".json",
                                      "1.json 2",
                                      "generations/1.json"};
    struct generation g;
    publish(NULL, 0);
    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
        struct err_detail why = {{0}};
        put("CURRENT", bad[i]);
        cr_assert(!generation_read(store, &g, &why), "case %zu", i);
        cr_assert(strstr(why.text, "CURRENT"), "case %zu: %s", i, why.text);
    }
    put("CURRENT", "7.json\n");
    struct err_detail why = {{0}};
    cr_assert(!generation_read(store, &g, &why));
    cr_assert(strstr(why.text, "7.json"), "%s", why.text);
}

/* What an ingest that was killed leaves behind: a higher generation, CURRENT.new. */
Test(generation, leftovers_do_not_stop_the_next_publication)
{
    struct generation g;
    struct generation_entry e = entry("a", 0, "1");
    publish(&e, 1);
    put("generations/2.json", "{\"form");
    put("CURRENT.new", "2.js");
    cr_assert(generation_read(store, &g, NULL));
    cr_assert_str_eq(g.name, "1.json");
    generation_done(&g);
    publish(&e, 1);
    cr_assert(generation_read(store, &g, NULL));
    cr_assert_str_eq(g.name, "3.json");
    generation_done(&g);
    cr_assert(!exists("CURRENT.new"));
}

Test(generation, a_publication_that_fails_leaves_the_old_one)
{
    struct generation g;
    struct err_detail why = {{0}};
    struct generation_entry e = entry("a", 0, "1");
    publish(&e, 1);
    char away[4096];
    snprintf(away, sizeof(away), "%s/away", store);
    cr_assert_eq(rename(in_store("generations"), away), 0);
    cr_assert(!generation_publish(store, &e, 1, &why));
    cr_assert(strstr(why.text, "generations"), "%s", why.text);
    cr_assert_eq(rename(away, in_store("generations")), 0);
    cr_assert(generation_read(store, &g, NULL));
    cr_assert_str_eq(g.name, "1.json");
    generation_done(&g);
}

Test(generation, collecting_keeps_what_is_named)
{
    struct generation_entry a = entry("a", 0, "1"), b = entry("b", 0, "2"), c = entry("c", 0, "3");
    struct generation_entry stray = entry("d", 0, "4");
    struct generation_entry second[] = {a, b};
    publish(&a, 1);     /* 1 */
    publish(second, 2); /* 2 */
    publish(&c, 1);     /* 3 */
    put_segment(&a), put_segment(&b), put_segment(&c), put_segment(&stray);
    put("segments/half.seg-journal", "");
    put("segments/half.idx.new", "");
    put("generations/9.json", "{");

    generation_collect(store, 1);
    cr_assert(has_segment(&a) && has_segment(&b) && has_segment(&c));
    cr_assert(!has_segment(&stray));
    cr_assert(!exists("segments/half.seg-journal") && !exists("segments/half.idx.new") &&
              !exists("generations/9.json"));
    cr_assert(!exists("generations/1.json") && exists("generations/2.json") &&
              exists("generations/3.json"));

    generation_collect(store, 0);
    cr_assert(!has_segment(&a) && !has_segment(&b) && has_segment(&c));
    cr_assert(!exists("generations/2.json") && exists("generations/3.json") && exists("CURRENT"));
}

Test(generation, nothing_is_collected_while_the_live_one_is_unreadable)
{
    struct generation_entry a = entry("a", 0, "1");
    publish(&a, 1);
    put_segment(&a);
    put("generations/1.json", "{");
    generation_collect(store, 0);
    cr_assert(has_segment(&a) && exists("generations/1.json"));
}

Test(generation, an_interrupted_first_ingest_is_swept_up)
{
    struct generation_entry a = entry("a", 0, "1");
    int lock = generation_lock(store, NULL);
    put_segment(&a);
    generation_collect(store, 1);
    cr_assert(!has_segment(&a));
    close(lock);
}

Test(generation, numbers_are_read_strictly)
{
    cr_assert_eq(generation_number(SLICE_LIT("1.json")), 1);
    cr_assert_eq(generation_number(SLICE_LIT("999999999999999999.json")), 999999999999999999u);
    cr_assert_eq(generation_number(SLICE_LIT("1000000000000000000.json")), 0);
    cr_assert_eq(generation_number(SLICE_LIT("+1.json")), 0);
    cr_assert_eq(generation_number(SLICE_LIT("1.jsox")), 0);
    cr_assert_eq(generation_number(SLICE_LIT("")), 0);
}
