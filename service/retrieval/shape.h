/* SPDX-License-Identifier: Apache-2.0 */
/* shape: from ranked candidates to the JSON every outcome has (docs/design.md §3).
 *
 * Pure: same hits, same bytes. `top_k: 5` is a prefix of `top_k: 10`. */
#ifndef RETRIEVAL_SHAPE_H
#define RETRIEVAL_SHAPE_H

#include "service/retrieval/backend.h"

enum rendering { RENDER_MCP, RENDER_REST }; /* fenced or plain passages; both neutralised */

/* One leg's hits, best first. */
struct leg {
    const struct hits *hits;
    uint32_t weight;
};

struct ranked {
    const struct hit *hit;
    uint32_t score_millionths; /* fused score / highest attainable, to the nearest; 1..1,000,000 */
};

/* Weighted reciprocal rank fusion in integers, ties by best single rank, then chunk_id. The result
 * is in `arena`, every candidate once. At most 8 legs of weight 100. */
const struct ranked *fuse_legs(const struct leg *legs, size_t n_legs,
                               const struct answer_profile *profile, struct arena *arena,
                               size_t *ret_n);

struct shape_options {
    enum rendering rendering;
    uint32_t top_k;
    const struct answer_profile *profile;
    struct slice fence_key; /* RENDER_MCP */
    const char *index_version;
};

/* {"index_version":…,"results":[…],"truncated":true} or, without any, the `empty` outcome. */
void shape_answer(struct dynbuf *out, const struct ranked *ranked, size_t n,
                  const struct shape_options *o);

/* As shape_answer. Returns how many results it wrote, and in ret_shown (room for n) their hits. */
size_t shape_answer_shown(struct dynbuf *out, const struct ranked *ranked, size_t n,
                          const struct shape_options *o, const struct hit **ret_shown);

/* {"error":{…},"index_version":…,"results":[]}. type: "invalid_input", "retryable" or "empty".
 * Optional: field, budget (NULL), retry_after_ms (< 0). index_version NULL: "unknown". */
struct shape_error {
    const char *type, *message, *field, *budget;
    int64_t retry_after_ms;
};
void shape_error(struct dynbuf *out, const struct shape_error *e, const char *index_version);

/* The message of `empty`. */
extern const char SHAPE_EMPTY_MESSAGE[];

/* The text of kb://doc and kb://chunk: each hit fenced, in order, within the byte budget; what did
 * not fit is listed as chunk URIs behind it. */
void shape_passages(struct dynbuf *out, const struct hits *hits, const struct shape_options *o);

/* kb://index as JSON: index_version, collections and doc_types with counts. */
void shape_index(struct dynbuf *out, const struct view *v);

/* YYYY-MM-DD for days since 1970-01-01 (proleptic Gregorian), and back; false for a text that is no
 * date of the years 0001..9999. date_add writes the nearest such date for a day out of that range.
 */
void date_add(struct dynbuf *out, int32_t days);
bool date_parse(struct slice text, int32_t *ret_days);

#endif
