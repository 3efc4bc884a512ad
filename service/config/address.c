/* SPDX-License-Identifier: Apache-2.0 */
/* Listening addresses. The host is not resolved here: whether a start is allowed must not depend on
 * what a name server answers, so only what is loopback by its text counts as loopback. */
#include "service/config/config.h"

#include <arpa/inet.h>
#include <strings.h>

static bool parse_port(struct slice text, uint16_t *ret_port)
{
    unsigned value = 0;
    if (text.n < 1 || text.n > 5) {
        return false;
    }
    for (size_t i = 0; i < text.n; i++) {
        if (text.p[i] < '0' || text.p[i] > '9') {
            return false;
        }
        value = value * 10 + (unsigned)(text.p[i] - '0');
    }
    *ret_port = (uint16_t)value;
    return value <= UINT16_MAX;
}

static bool is_host_name(struct slice host)
{
    for (size_t i = 0; i < host.n; i++) {
        char c = host.p[i];
        bool fits = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                    c == '.' || c == '-' || c == '_';
        if (!fits) {
            return false;
        }
    }
    return host.n > 0;
}

static bool is_ipv6(const char *host)
{
    struct in6_addr address;
    return inet_pton(AF_INET6, host, &address) == 1;
}

bool config_split_address(const char *address, char *ret_host, size_t host_size, uint16_t *ret_port)
{
    const char *colon = strrchr(address, ':');
    if (!colon || !parse_port(slice_of(colon + 1), ret_port)) {
        return false;
    }
    struct slice host = {address, (size_t)(colon - address)};
    bool bracketed = host.n > 2 && host.p[0] == '[' && host.p[host.n - 1] == ']';
    if (bracketed) {
        host = (struct slice){host.p + 1, host.n - 2};
    }
    if (host.n >= host_size) {
        return false;
    }
    memcpy(ret_host, host.p, host.n);
    ret_host[host.n] = '\0';
    return bracketed ? is_ipv6(ret_host) : is_host_name(host);
}

bool config_host_is_loopback(const char *host)
{
    struct in_addr v4;
    struct in6_addr v6;
    if (inet_pton(AF_INET, host, &v4) == 1) {
        return ntohl(v4.s_addr) >> 24 == 127;
    }
    if (inet_pton(AF_INET6, host, &v6) == 1) {
        return IN6_IS_ADDR_LOOPBACK(&v6);
    }
    return strcasecmp(host, "localhost") == 0;
}
