/* SPDX-License-Identifier: Apache-2.0 */
#include "service/pipeline/rest_arguments.h"

#include "service/base/encode.h"
#include "service/base/utf8.h"

/* Cuts text at the first `at`; the rest is SLICE_NONE where there is none. */
static struct slice cut(struct slice text, char at, struct slice *ret_rest)
{
    const char *found = text.n ? memchr(text.p, at, text.n) : NULL;
    if (!found) {
        *ret_rest = SLICE_NONE;
        return text;
    }
    size_t n = (size_t)(found - text.p);
    *ret_rest = slice_skip(text, n + 1);
    return (struct slice){text.p, n};
}

/* Adds name=value, both still encoded. */
static bool add_pair(json_t *object, struct slice name, struct slice value)
{
    struct dynbuf key, text;
    dynbuf_init(&key, REST_QUERY_MAX_BYTES);
    dynbuf_init(&text, REST_QUERY_MAX_BYTES);
    bool good = decode_percent(&key, name, true) && decode_percent(&text, value, true) &&
                utf8_is_valid(dynbuf_get(&key)) && utf8_is_valid(dynbuf_get(&text));
    if (good) {
        const char *name_text = dynbuf_text(&key);
        const char *member = strcmp(name_text, "q") == 0 ? "query" : name_text;
        struct slice s = dynbuf_get(&text);
        good = !json_object_get(object, member) &&
               json_object_set_new(object, member, json_stringn(s.p, s.n)) == 0;
    }
    dynbuf_done(&key);
    dynbuf_done(&text);
    return good;
}

json_t *rest_arguments_parse(struct slice query_string)
{
    if (query_string.n > REST_QUERY_MAX_BYTES) {
        return NULL;
    }
    json_t *object = json_object();
    for (struct slice rest = query_string; rest.p;) {
        struct slice pair = cut(rest, '&', &rest);
        struct slice value, name = cut(pair, '=', &value);
        if (pair.n && !add_pair(object, name, value.p ? value : SLICE_LIT(""))) {
            json_decref(object);
            return NULL;
        }
    }
    return object;
}
