/* SPDX-License-Identifier: Apache-2.0 */
/* A Redis URL. What is accepted is described as it is; what is refused is refused with a reason. */
#include "service/loop/redis_address.h"
#include "tests/fuzz/must.h"

static void must_end(const char *text, size_t max_bytes)
{
    must(memchr(text, '\0', max_bytes + 1) != NULL);
}

static void must_be_sound(const struct redis_address *a)
{
    char text[REDIS_HOST_MAX_BYTES + 16];
    must_end(a->host, REDIS_HOST_MAX_BYTES);
    must_end(a->path, REDIS_PATH_MAX_BYTES);
    must_end(a->user, REDIS_USER_MAX_BYTES);
    must_end(a->password, REDIS_PASSWORD_MAX_BYTES);
    must(a->database >= 0 && a->database <= REDIS_DATABASE_MAX);
    must(a->is_unix ? a->path[0] == '/' && !a->host[0] : a->host[0] && a->port && !a->path[0]);
    must(!a->is_unix || redis_address_is_local(a));
    redis_address_describe(a, text, sizeof(text));
    must(strstr(text, a->is_unix ? a->path : a->host) != NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct redis_address address;
    struct err_detail detail = {.text = ""};
    if (redis_address_parse((struct slice){(const char *)data, size}, &address, &detail)) {
        must_be_sound(&address);
    } else {
        must(detail.text[0] != '\0');
    }
    return 0;
}
