/* SPDX-License-Identifier: Apache-2.0 */
/* A password file is what `printf %s` or an editor made: one line, whose end is dropped. Anything
 * else in it that no keyboard types is a wrong file rather than a password. */
#include "service/pipeline/redis_secrets.h"

#include "service/base/small_file.h"
#include "service/pipeline/key_file.h"

enum { PASSWORD_FILE_MAX_BYTES = 4096 };

static struct slice without_line_end(struct slice text)
{
    if (text.n && text.p[text.n - 1] == '\n') {
        text.n--;
        if (text.n && text.p[text.n - 1] == '\r') {
            text.n--;
        }
    }
    return text;
}

static bool has_control(struct slice text)
{
    for (size_t i = 0; i < text.n; i++) {
        unsigned char c = (unsigned char)text.p[i];
        if (c < 0x20 || c == 0x7F) {
            return true;
        }
    }
    return false;
}

_Static_assert(REDIS_PASSWORD_MAX_BYTES == 512, "the reason below says so");

/* NULL, or what is wrong with it. */
static const char *password_trouble(struct slice password)
{
    if (password.n == 0) {
        return "is empty; write the password into it, or remove the setting";
    }
    if (password.n > REDIS_PASSWORD_MAX_BYTES) {
        return "holds more than 512 bytes; is it the password?";
    }
    return has_control(password) ? "holds control characters; write the password as one line"
                                 : NULL;
}

static bool take_password(struct slice bytes, const char *what, const char *path,
                          struct redis_address *address, struct err_detail *detail)
{
    struct slice password = without_line_end(bytes);
    const char *trouble = password_trouble(password);
    if (trouble) {
        err_detail_set(detail, "%s: %s: %s", what, path, trouble);
        return false;
    }
    memcpy(address->password, password.p, password.n);
    address->password[password.n] = '\0';
    return true;
}

static bool read_password(const char *what, const char *path, struct redis_address *address,
                          struct err_detail *detail)
{
    struct dynbuf bytes;
    if (!*path) {
        return true;
    }
    dynbuf_init(&bytes, PASSWORD_FILE_MAX_BYTES);
    bool good = small_file_read(path, what, &bytes, detail) &&
                take_password(dynbuf_get(&bytes), what, path, address, detail);
    dynbuf_done(&bytes);
    return good;
}

bool redis_secrets_load(const struct config_redis *c, struct redis_secrets *ret_secrets,
                        struct err_detail *detail)
{
    ret_secrets->cache = c->cache;
    ret_secrets->budgets = c->budgets;
    dynbuf_init(&ret_secrets->cache_key, KEY_FILE_MAX_BYTES);
    return read_password("redis: password of the cache", c->cache_password_file,
                         &ret_secrets->cache, detail) &&
           read_password("redis: password of the budgets", c->budget_password_file,
                         &ret_secrets->budgets, detail) &&
           key_file_read("redis.cache_key_file", c->cache_key_file, &ret_secrets->cache_key,
                         detail);
}

void redis_secrets_done(struct redis_secrets *s)
{
    dynbuf_done(&s->cache_key);
}
