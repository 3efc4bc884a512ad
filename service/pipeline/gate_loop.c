/* SPDX-License-Identifier: Apache-2.0 */
/* Cache and budgets get a connection each, also to the same server: the reply of a budget never
 * waits behind a large answer. */
#include "service/pipeline/gate_loop.h"

#include "service/base/mem.h"
#include "service/pipeline/state.h"

#include <stdlib.h>

struct gate_loop *gate_loop_open(struct gate *g, struct loop *l)
{
    struct gate_loop *gl = mem_alloc(sizeof(*gl));
    gl->gate = g;
    gl->loop = l;
    if (g->redis) {
        redis_link_open(&gl->cache, g->redis, ENDPOINT_CACHE, l);
        redis_link_open(&gl->budget, g->redis, ENDPOINT_BUDGET, l);
    }
    return gl;
}

void gate_loop_close(struct gate_loop *gl)
{
    if (!gl) {
        return;
    }
    if (gl->gate->redis) {
        redis_link_close(&gl->cache);
        redis_link_close(&gl->budget);
    }
    free(gl);
}
