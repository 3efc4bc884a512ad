/* SPDX-License-Identifier: Apache-2.0 */
/* gate: the service as one object: what every request shares.
 *
 * Thread:    open, tick and close from the main thread; everything else from any loop.
 * Blocking:  open and tick read files; never called on a loop.
 * Ownership: config outlives the gate. Every loop has ended before gate_close. */
#ifndef PIPELINE_GATE_H
#define PIPELINE_GATE_H

#include "service/base/err.h"
#include "service/config/config.h"

struct gate; /* opaque */

/* Opens policy, keys, store and workers. `config_path` is for error texts. NULL with a reason that
 * names file, key and fix. */
struct gate *gate_open(const struct config *config, const char *config_path,
                       struct err_detail *detail);
void gate_close(struct gate *g);

/* Looks for a new generation of the store and a changed configuration, policy or key file, and
 * switches to them: call it about twice a second. reload: take up the files also if they look
 * unchanged (SIGHUP). What is unusable is logged and counted; the old one stays. */
void gate_tick(struct gate *g, bool reload);

/* Says that the gate is served on `host` (copied), the host of `listen`: from now on a policy must
 * also suit a network door, at once and at every reload. False with a reason: public_url is no
 * audience of an issuer, or a development issuer while host is not loopback. */
bool gate_may_serve(struct gate *g, const char *host, struct err_detail *detail);

/* `kbgate check --token`: who the token is, which grants apply, the filter, the partitions it opens
 * and the index_version it would see, as text. False where the token is refused (out says the
 * reason). */
bool gate_explain_token(struct gate *g, struct slice token, struct dynbuf *out);

#endif
