/* SPDX-License-Identifier: Apache-2.0 */
/* Many threads read records, HTML among them, and build partitions; the store is that of one. */
#include "service/ingest/ingest.h"
#include "service/retrieval/generation.h"
#include "tests/threads/check.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { RECORDS = 3000, PARTITIONS = 12 };

static void write_corpus(const char *path)
{
    FILE *f = fopen(path, "w");
    CHECK(f);
    for (int i = 0; i < RECORDS; i++) {
        fprintf(
            f,
            "{\"id\":\"r%d\",\"title\":\"Record %d\",\"%s\":\"<h1>Word%d</h1><p>Text %d of "
            "caf\\u00e9 %d.</p>\",\"format\":\"html\",\"doc_type\":\"t%d\",\"labels\":[\"public\"]}"
            "\n",
            i, i, i % 3 ? "text" : "body", i % 97, i, i % 41, i % PARTITIONS);
    }
    CHECK(fclose(f) == 0);
}

static void ingest(const char *corpus, const char *store, struct generation *ret_generation)
{
    struct err_detail detail = {""};
    struct ingest_report report;
    const struct ingest_options options = {
        .store_dir = store, .paths = &corpus, .n_paths = 1, .collection = "c"};
    CHECK(ingest_run(&options, &report, &detail));
    CHECK(report.documents == RECORDS && report.skipped == 0 && report.built == PARTITIONS);
    CHECK(generation_read(store, ret_generation, &detail));
    CHECK(ret_generation->n == PARTITIONS);
}

/* The crew has a thread for each processor that it may use. */
static void allow_one_processor(void)
{
    cpu_set_t all, one;
    CPU_ZERO(&all);
    CPU_ZERO(&one);
    CHECK(sched_getaffinity(0, sizeof(all), &all) == 0);
    for (size_t i = 0; i < CPU_SETSIZE && CPU_COUNT(&one) == 0; i++) {
        if (CPU_ISSET(i, &all)) {
            CPU_SET(i, &one);
        }
    }
    CHECK(sched_setaffinity(0, sizeof(one), &one) == 0);
}

int main(void)
{
    char folder[] = "/tmp/kbgate-crew-XXXXXX";
    char corpus[64], many[64], one[64], clean[64];
    struct generation a, b;
    CHECK(mkdtemp(folder));
    snprintf(corpus, sizeof(corpus), "%s/r.jsonl", folder);
    snprintf(many, sizeof(many), "%s/many", folder);
    snprintf(one, sizeof(one), "%s/one", folder);
    snprintf(clean, sizeof(clean), "rm -rf %s", folder);
    write_corpus(corpus);
    ingest(corpus, many, &a);
    allow_one_processor();
    ingest(corpus, one, &b);
    for (size_t i = 0; i < PARTITIONS; i++) {
        CHECK(digest_eq(&a.entries[i].partition.content, &b.entries[i].partition.content));
        CHECK(memcmp(&a.entries[i].files, &b.entries[i].files, sizeof(a.entries[i].files)) == 0);
    }
    generation_done(&a);
    generation_done(&b);
    CHECK(system(clean) == 0);
    return 0;
}
