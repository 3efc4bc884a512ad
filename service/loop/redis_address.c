/* SPDX-License-Identifier: Apache-2.0 */
/* The URL is read strictly (RFC 3986), for a lenient reader could take a part of a password for a
 * host name and send it to a name server. For the same reason no message quotes what was read. */
#include "service/loop/redis_address.h"

#include "service/base/encode.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <strings.h>

enum { DEFAULT_PORT = 6379, PORT_DIGITS = 5, DATABASE_DIGITS = 2, DATABASE_TEXT_BYTES = 16 };

#define SUB_DELIMS "!$&'()*+,;="

static bool is_alphanumeric(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

static bool consists_of(struct slice text, const char *more)
{
    for (size_t i = 0; i < text.n; i++) {
        if (!is_alphanumeric(text.p[i]) && (text.p[i] == '\0' || !strchr(more, text.p[i]))) {
            return false;
        }
    }
    return true;
}

/* The part before the first `mark`, which goes with neither; the whole text where there is none. */
static struct slice take_until(struct slice *text, char mark)
{
    const char *at = text->n ? memchr(text->p, mark, text->n) : NULL;
    struct slice part = *text;
    if (at) {
        part.n = (size_t)(at - text->p);
        *text = slice_skip(*text, part.n + 1);
    } else {
        *text = slice_skip(*text, text->n);
    }
    return part;
}

/* At most max_bytes bytes and a NUL; false also for an escaped NUL. */
static bool copy_decoded(struct slice text, const char *more, char *ret_text, size_t max_bytes)
{
    struct dynbuf decoded;
    dynbuf_init(&decoded, max_bytes);
    bool fits = consists_of(text, more) && decode_percent(&decoded, text, false) && !decoded.failed;
    if (fits) {
        struct slice bytes = dynbuf_get(&decoded);
        memcpy(ret_text, bytes.p, bytes.n);
        ret_text[bytes.n] = '\0';
    }
    dynbuf_done(&decoded);
    return fits;
}

static bool parse_number(struct slice text, size_t max_digits, int max, int *ret_value)
{
    int value = 0;
    if (text.n < 1 || text.n > max_digits) {
        return false;
    }
    for (size_t i = 0; i < text.n; i++) {
        if (text.p[i] < '0' || text.p[i] > '9') {
            return false;
        }
        value = value * 10 + (text.p[i] - '0');
    }
    *ret_value = value;
    return value <= max;
}

static bool refuse(struct err_detail *detail, const char *expected)
{
    err_detail_set(detail, "%s", expected);
    return false;
}

static bool parse_user(struct slice text, struct redis_address *a, struct err_detail *detail)
{
    struct slice password = text;
    struct slice user = take_until(&password, ':');
    if (!copy_decoded(user, "%-._~" SUB_DELIMS, a->user, REDIS_USER_MAX_BYTES)) {
        return refuse(detail, "the user of a Redis URL is at most 128 bytes; others than letters, "
                              "digits and -._~!$&'()*+,;= are written %XX");
    }
    if (!copy_decoded(password, "%-._~:" SUB_DELIMS, a->password, REDIS_PASSWORD_MAX_BYTES)) {
        return refuse(detail, "the password of a Redis URL is at most 512 bytes; others than "
                              "letters, digits and -._~!$&'()*+,;=: are written %XX");
    }
    return true;
}

static bool is_ipv6(const char *host)
{
    struct in6_addr address;
    return inet_pton(AF_INET6, host, &address) == 1;
}

/* HOST and what stands behind it. False: an opening bracket without its other half. */
static bool split_host(struct slice text, struct slice *ret_host, struct slice *ret_rest)
{
    bool bracketed = text.n > 0 && text.p[0] == '[';
    const char *end = text.n ? memchr(text.p, bracketed ? ']' : ':', text.n) : NULL;
    size_t n = end ? (size_t)(end - text.p) : text.n;
    *ret_host = bracketed ? (struct slice){text.p + 1, n - 1} : (struct slice){text.p, n};
    *ret_rest = slice_skip(text, bracketed && end ? n + 1 : n);
    return end || !bracketed;
}

static bool copy_host(struct slice host, bool bracketed, char *ret_host)
{
    if (host.n < 1 || host.n > REDIS_HOST_MAX_BYTES ||
        !consists_of(host, bracketed ? ".:" : ".-_")) {
        return false;
    }
    memcpy(ret_host, host.p, host.n);
    ret_host[host.n] = '\0';
    return !bracketed || is_ipv6(ret_host);
}

/* HOST[:PORT]; an IPv6 address stands in brackets. */
static bool parse_host(struct slice text, struct redis_address *a, struct err_detail *detail)
{
    struct slice host, rest;
    int port = DEFAULT_PORT;
    if (!split_host(text, &host, &rest) || !copy_host(host, host.p > text.p, a->host)) {
        return refuse(detail, "the host of a Redis URL is a name or an IPv4 address of at most 255 "
                              "letters, digits, '.', '-' and '_', or an IPv6 address in brackets");
    }
    bool fits = rest.n == 0 || (rest.p[0] == ':' &&
                                parse_number(slice_skip(rest, 1), PORT_DIGITS, UINT16_MAX, &port));
    if (!fits || port == 0) {
        return refuse(detail, "the port of a Redis URL is a number from 1 to 65535");
    }
    a->port = (uint16_t)port;
    return true;
}

static bool parse_database(struct slice text, struct redis_address *a, struct err_detail *detail)
{
    if (!parse_number(text, DATABASE_DIGITS, REDIS_DATABASE_MAX, &a->database)) {
        return refuse(detail, "the database of a Redis URL is a number from 0 to 15");
    }
    return true;
}

/* What follows redis:// */
static bool parse_tcp(struct slice text, struct redis_address *a, struct err_detail *detail)
{
    struct slice database = text;
    struct slice authority = take_until(&database, '/');
    struct slice host = authority;
    struct slice user = take_until(&host, '@');
    if (user.n == authority.n) {
        host = authority;
    } else if (!parse_user(user, a, detail)) {
        return false;
    }
    return parse_host(host, a, detail) && (database.n == 0 || parse_database(database, a, detail));
}

/* A control character would let a path forge a line of a log. */
static bool is_path(const char *path)
{
    for (const char *c = path; *c; c++) {
        if ((unsigned char)*c < ' ' || *c == 0x7F) {
            return false;
        }
    }
    return path[0] == '/' && path[1];
}

/* What follows unix:// */
static bool parse_unix(struct slice text, struct redis_address *a, struct err_detail *detail)
{
    struct slice query = text;
    struct slice path = take_until(&query, '?');
    bool has_query = path.n < text.n;
    struct slice rest = path;
    struct slice user = take_until(&rest, '/');
    bool has_user = user.n > 0 && user.p[user.n - 1] == '@';
    a->is_unix = true;
    if (user.n > 0 && !has_user) {
        return refuse(detail, "a Redis URL of a socket is unix://[USER[:PASSWORD]@]/PATH[?db=N]");
    }
    if (has_user && !parse_user((struct slice){user.p, user.n - 1}, a, detail)) {
        return false;
    }
    path = slice_skip(path, user.n);
    if (!copy_decoded(path, "%-._~:@/" SUB_DELIMS, a->path, REDIS_PATH_MAX_BYTES) ||
        !is_path(a->path)) {
        return refuse(detail, "the path of a Redis URL is absolute and at most 106 bytes; others "
                              "than letters, digits and -._~!$&'()*+,;=:@/ are written %XX");
    }
    if (!has_query) {
        return true;
    }
    if (!slice_starts(query, SLICE_LIT("db="))) {
        return refuse(detail, "a Redis URL of a socket ends with its path or with ?db=N");
    }
    return parse_database(slice_skip(query, 3), a, detail);
}

static bool has_scheme(struct slice *url, const char *scheme)
{
    size_t n = strlen(scheme);
    bool has = url->n >= n && strncasecmp(url->p, scheme, n) == 0;
    if (has) {
        *url = slice_skip(*url, n);
    }
    return has;
}

bool redis_address_parse(struct slice url, struct redis_address *ret_address,
                         struct err_detail *detail)
{
    memset(ret_address, 0, sizeof(*ret_address));
    if (has_scheme(&url, "redis://")) {
        return parse_tcp(url, ret_address, detail);
    }
    if (has_scheme(&url, "unix://")) {
        return parse_unix(url, ret_address, detail);
    }
    if (has_scheme(&url, "rediss://")) {
        return refuse(detail, "Redis over TLS (rediss://) is not spoken; let a local tunnel do it");
    }
    return refuse(detail, "a Redis URL is redis://[USER[:PASSWORD]@]HOST[:PORT][/DATABASE] or "
                          "unix://[USER[:PASSWORD]@]/PATH[?db=DATABASE]");
}

bool redis_address_is_local(const struct redis_address *a)
{
    struct in_addr v4;
    struct in6_addr v6;
    if (a->is_unix) {
        return true;
    }
    if (inet_pton(AF_INET, a->host, &v4) == 1) {
        return ntohl(v4.s_addr) >> 24 == 127;
    }
    if (inet_pton(AF_INET6, a->host, &v6) == 1) {
        return IN6_IS_ADDR_LOOPBACK(&v6);
    }
    return strcasecmp(a->host, "localhost") == 0;
}

void redis_address_describe(const struct redis_address *a, char *ret_text, size_t size)
{
    char database[DATABASE_TEXT_BYTES] = "";
    if (a->database) {
        snprintf(database, sizeof(database), a->is_unix ? "?db=%d" : "/%d", a->database);
    }
    if (a->is_unix) {
        snprintf(ret_text, size, "unix:%s%s", a->path, database);
    } else {
        snprintf(ret_text, size, is_ipv6(a->host) ? "[%s]:%u%s" : "%s:%u%s", a->host,
                 (unsigned)a->port, database);
    }
}
