/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the corpus of the retrieval benchmark as JSON lines, in files that ingest takes whole, and
 * its questions, one a line, to be read. All text is ASCII without quotes or backslashes, so
 * nothing is escaped.
 *
 * Usage: bench_corpus CHUNKS PARTITIONS QUESTIONS DIR     DIR/corpus/NNN.jsonl, DIR/questions.txt
 */
#include "service/base/mem.h"
#include "tests/bench/engines/corpus.h"

#include <stdio.h>
#include <stdlib.h>

enum { CHUNKS_A_FILE = 50000, QUESTION_MAX_BYTES = 4096, PATH_BYTES = 4096 };

static void require(bool good, const char *what)
{
    if (!good) {
        perror(what);
        exit(1);
    }
}

static FILE *open_file(const char *dir, const char *name)
{
    char path[PATH_BYTES];
    int n = snprintf(path, sizeof(path), "%s/%s", dir, name);
    require(n > 0 && (size_t)n < sizeof(path), "path");
    FILE *f = fopen(path, "w");
    require(f != NULL, path);
    return f;
}

static void write_chunk(FILE *out, const struct chunk *chunk)
{
    struct partition_names names = corpus_partition(chunk->partition);
    char id[CORPUS_NAME_BYTES];
    corpus_doc_id(chunk->number, id);
    fprintf(out,
            "{\"id\":\"%s\",\"collection\":\"%s\",\"doc_type\":\"%s\",\"labels\":[\"%s\"],"
            "\"published\":\"20%02u-%02u-15\",\"source_url\":\"https://kb.example.com/%s/%s\","
            "\"title\":\"%.*s\",\"text\":\"%.*s\"}\n",
            id, names.collection, names.doc_type, names.label, chunk->number / 10 % 26,
            chunk->number / 260 % 12 + 1, names.collection, id, (int)chunk->title.n, chunk->title.p,
            (int)chunk->text.n, chunk->text.p);
}

static uint64_t write_chunks(struct corpus *c, const char *dir)
{
    FILE *out = NULL;
    struct chunk chunk;
    uint64_t bytes = 0;
    while (corpus_next(c, &chunk)) {
        if (chunk.number % CHUNKS_A_FILE == 0) {
            char name[64];
            (void)snprintf(name, sizeof(name), "corpus/%03u.jsonl", chunk.number / CHUNKS_A_FILE);
            require(!out || fclose(out) == 0, "corpus");
            out = open_file(dir, name);
        }
        write_chunk(out, &chunk);
        bytes += chunk.title.n + chunk.text.n;
    }
    require(out && fclose(out) == 0, "corpus");
    return bytes;
}

static void write_questions(struct corpus *c, uint32_t n, const char *dir)
{
    struct dynbuf question;
    dynbuf_init(&question, QUESTION_MAX_BYTES);
    FILE *out = open_file(dir, "questions.txt");
    for (uint32_t i = 0; i < n; i++) {
        dynbuf_cut(&question, 0);
        corpus_question(c, i, &question);
        fprintf(out, "%s\n", dynbuf_text(&question));
    }
    require(fclose(out) == 0, "questions.txt");
    dynbuf_done(&question);
}

int main(int argc, char **argv)
{
    if (argc != 5) {
        fputs("usage: bench_corpus CHUNKS PARTITIONS QUESTIONS DIR\n", stderr);
        return 2;
    }
    uint32_t n_chunks = (uint32_t)strtoul(argv[1], NULL, 10);
    struct corpus *c = corpus_new(n_chunks, (uint32_t)strtoul(argv[2], NULL, 10));
    uint64_t bytes = write_chunks(c, argv[4]);
    write_questions(c, (uint32_t)strtoul(argv[3], NULL, 10), argv[4]);
    corpus_free(c);
    printf("{\"seed\":%d,\"text_bytes\":%llu,\"text_bytes_a_chunk\":%.1f}\n", CORPUS_SEED,
           (unsigned long long)bytes, (double)bytes / n_chunks);
    return 0;
}
