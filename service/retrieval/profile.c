/* SPDX-License-Identifier: Apache-2.0 */
/* Names go into the digest beside the values, so that a member that is added or renamed can never
 * stand for another. */
#include "service/retrieval/profile.h"

#include "service/retrieval/abstain.h"
#include "service/retrieval/bm25.h"
#include "service/retrieval/fence.h"
#include "service/retrieval/neutralise.h"
#include "service/retrieval/scan.h"
#include "service/retrieval/segment_format.h"
#include "service/retrieval/text.h"

void answer_profile_init(struct answer_profile *p)
{
    *p = (struct answer_profile){
#define X(member, standard, low, high, what) .member = (standard),
        ANSWER_PROFILE_TABLE(X)
#undef X
            .analysis_version = TEXT_ANALYSIS_VERSION,
        .title_weight = SEGMENT_TITLE_WEIGHT,
        .context_weight = SEGMENT_CONTEXT_WEIGHT,
        .text_weight = SEGMENT_TEXT_WEIGHT,
        .scoring_version = LEXICAL_SCORING_VERSION,
        .abstain_version = ABSTAIN_VERSION,
        .neutralise_version = NEUTRALISE_VERSION,
        .fence_version = FENCE_VERSION,
        .scan_version = SCAN_RULES_VERSION,
    };
}

static void add(struct hasher *h, const char *name, uint32_t value)
{
    hasher_part(h, slice_of(name));
    hasher_part_u64(h, value);
}

void answer_profile_digest(const struct answer_profile *p, struct digest *ret_digest)
{
    struct hasher h;
    hasher_init(&h);
    hasher_part(&h, SLICE_LIT("kbgate-profile/1"));
#define X(member, standard, low, high, what) add(&h, #member, p->member);
    ANSWER_PROFILE_TABLE(X)
#undef X
    add(&h, "analysis_version", p->analysis_version);
    add(&h, "title_weight", p->title_weight);
    add(&h, "context_weight", p->context_weight);
    add(&h, "text_weight", p->text_weight);
    add(&h, "scoring_version", p->scoring_version);
    add(&h, "abstain_version", p->abstain_version);
    add(&h, "neutralise_version", p->neutralise_version);
    add(&h, "fence_version", p->fence_version);
    add(&h, "scan_version", p->scan_version);
    hasher_part(&h, SLICE_LIT("fence_epoch"));
    hasher_part(&h, slice_of(p->fence_epoch));
    hasher_done(&h, ret_digest);
}
