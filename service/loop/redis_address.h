/* SPDX-License-Identifier: Apache-2.0 */
/* redis_address: where a Redis server is and who we are there, from its URL. Pure.
 *
 *   redis://[USER[:PASSWORD]@]HOST[:PORT][/DATABASE]     TCP, in the clear; port 6379
 *   unix://[USER[:PASSWORD]@]/PATH[?db=DATABASE]         a socket of this machine
 *
 * USER, PASSWORD and PATH are percent-encoded (RFC 3986 §2.1). rediss:// is refused: hiredis 0.14
 * has no TLS; a local tunnel does it. */
#ifndef LOOP_REDIS_ADDRESS_H
#define LOOP_REDIS_ADDRESS_H

#include "service/base/err.h"

#include <stdbool.h>
#include <stdint.h>

enum {
    REDIS_HOST_MAX_BYTES = 255,
    REDIS_PATH_MAX_BYTES = 106, /* hiredis 0.14 ends a longer one with a byte of chance */
    REDIS_USER_MAX_BYTES = 128,
    REDIS_PASSWORD_MAX_BYTES = 512, /* of the URL or of a file */
    REDIS_DATABASE_MAX = 15,
};

/* NUL-terminated copies; empty where the URL has none. Holds a secret: never print it whole. */
struct redis_address {
    bool is_unix;
    char host[REDIS_HOST_MAX_BYTES + 1]; /* without brackets */
    uint16_t port;
    char path[REDIS_PATH_MAX_BYTES + 1];
    char user[REDIS_USER_MAX_BYTES + 1];
    char password[REDIS_PASSWORD_MAX_BYTES + 1];
    int database;
};

/* False with a reason that says what is expected and holds no byte of the URL. */
bool redis_address_parse(struct slice url, struct redis_address *ret_address,
                         struct err_detail *detail);

/* Whether the host is loopback by its text (127.0.0.0/8, ::1, localhost) or a unix socket: what may
 * be spoken in the clear. */
bool redis_address_is_local(const struct redis_address *a);

/* "host:port", "[v6]:port" or "unix:/path", and "/N" or "?db=N" of another database than 0: for
 * logs, without user and password. At most size - 1 bytes and a NUL. */
void redis_address_describe(const struct redis_address *a, char *ret_text, size_t size);

#endif
