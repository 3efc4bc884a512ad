/* SPDX-License-Identifier: Apache-2.0 */
/* Which texts are addresses, and which of them no other machine can reach. */
#include "service/config/config.h"

#include <criterion/criterion.h>

Test(address, splits_host_and_port)
{
    static const struct {
        const char *address, *host;
        uint16_t port;
    } cases[] = {
        {"127.0.0.1:8080", "127.0.0.1", 8080},
        {"0.0.0.0:0", "0.0.0.0", 0},
        {"localhost:65535", "localhost", 65535},
        {"[::1]:9090", "::1", 9090},
        {"[::]:1", "::", 1},
        {"kb-0.kb_svc.local:80", "kb-0.kb_svc.local", 80},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char host[64];
        uint16_t port = 1;
        cr_assert(config_split_address(cases[i].address, host, sizeof(host), &port), "%s",
                  cases[i].address);
        cr_assert_str_eq(host, cases[i].host);
        cr_assert_eq(port, cases[i].port);
    }
}

Test(address, refuses_what_is_ill_formed)
{
    static const char *const cases[] = {
        "",
        "8080",
        ":8080",
        "host",
        "host:",
        "host:65536",
        "host:-1",
        "host:+1",
        "host: 1",
        "host:1x",
        "::1:8080",
        "[::1]",
        "[]:80",
        "[::1:80",
        "::1]:80",
        "[kb]:80",
        "[1.2.3.4]:80",
        "a b:80",
        "http://host:80",
        "a/b:80",
        "a,b:80",
        "host:000001",
        "[fe80::1%eth0]:80",
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char host[64];
        uint16_t port;
        cr_assert_not(config_split_address(cases[i], host, sizeof(host), &port), "%s", cases[i]);
    }
}

Test(address, needs_room_for_the_host)
{
    char host[4];
    uint16_t port;
    cr_assert(config_split_address("abc:1", host, sizeof(host), &port));
    cr_assert_not(config_split_address("abcd:1", host, sizeof(host), &port));
}

Test(address, knows_loopback_by_its_text)
{
    static const char *const yes[] = {"127.0.0.1",       "127.255.0.9", "::1",
                                      "0:0:0:0:0:0:0:1", "localhost",   "LocalHost"};
    static const char *const no[] = {"0.0.0.0",       "::",        "128.0.0.1",
                                     "126.0.0.1",     "127.1",     "127.0.0.1.example.com",
                                     "localhost.com", "",          "::ffff:10.0.0.1",
                                     "10.0.0.1",      "[::1]",     " 127.0.0.1",
                                     "::2",           "localhost."};
    for (size_t i = 0; i < sizeof(yes) / sizeof(yes[0]); i++) {
        cr_assert(config_host_is_loopback(yes[i]), "%s", yes[i]);
    }
    for (size_t i = 0; i < sizeof(no) / sizeof(no[0]); i++) {
        cr_assert_not(config_host_is_loopback(no[i]), "%s", no[i]);
    }
}
