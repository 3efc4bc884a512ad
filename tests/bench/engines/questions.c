/* SPDX-License-Identifier: Apache-2.0 */
/* Questions are made anew, not read: they are a function of their number. */
#include "service/base/mem.h"
#include "tests/bench/engines/bench.h"

#include <stdlib.h>

enum { QUESTION_MAX_BYTES = 4096 };

char **bench_questions(const struct bench_options *o)
{
    char **questions = mem_array(o->n_questions, sizeof(*questions));
    struct corpus *c = corpus_new(0, CORPUS_PARTITION_STEP);
    struct dynbuf text;
    dynbuf_init(&text, QUESTION_MAX_BYTES);
    for (uint32_t i = 0; i < o->n_questions; i++) {
        dynbuf_cut(&text, 0);
        corpus_question(c, i, &text);
        questions[i] = mem_text(dynbuf_get(&text));
    }
    dynbuf_done(&text);
    corpus_free(c);
    return questions;
}

void bench_questions_free(char **questions, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        free(questions[i]);
    }
    free(questions);
}
