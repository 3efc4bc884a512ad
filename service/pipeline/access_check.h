/* SPDX-License-Identifier: Apache-2.0 */
/* access_check: what a policy must fit beyond itself: the configuration it stands in and the
 * address it is served on. One check for the start and for every reload. Private to
 * service/pipeline. */
#ifndef PIPELINE_ACCESS_CHECK_H
#define PIPELINE_ACCESS_CHECK_H

#include "service/pipeline/state.h"

/* False with a reason that names file, issuer or key and the fix: a budget for a tenant that no
 * issuer maps and, once the gate is served over the network, an issuer without the audience
 * public_url or a development issuer on an address that is not loopback. */
bool access_check(const struct gate *g, const struct access_rules *rules,
                  struct err_detail *detail);

/* The first of these alone, for budgets that may come into force. */
bool access_check_budgets(const struct gate *g, const struct config_values *config,
                          const struct token_trust *trust, struct err_detail *detail);

#endif
