/* SPDX-License-Identifier: Apache-2.0 */
/* redis_secrets: what the files hold that the section `redis` names: passwords and the key that
 * signs cached answers.
 *
 * Blocking: yes (start, `kbgate check`). Read once: a changed file needs a restart. */
#ifndef PIPELINE_REDIS_SECRETS_H
#define PIPELINE_REDIS_SECRETS_H

#include "service/base/dynbuf.h"
#include "service/config/config.h"

struct redis_secrets {
    struct redis_address cache, budgets; /* with the passwords of the files: never print them whole,
                                            redis_address_describe() does without */
    struct dynbuf cache_key;             /* of 32 bytes and more */
};

/* c is configured. False with a reason that names setting, file and fix and holds no byte of a
 * secret. *ret_secrets is to be released in either case. */
bool redis_secrets_load(const struct config_redis *c, struct redis_secrets *ret_secrets,
                        struct err_detail *detail);

/* A zeroed one too. */
void redis_secrets_done(struct redis_secrets *s);

#endif
