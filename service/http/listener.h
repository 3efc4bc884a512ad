/* SPDX-License-Identifier: Apache-2.0 */
/* listener: the listening sockets of one address. Blocking: yes, name resolution (start-up). */
#ifndef HTTP_LISTENER_H
#define HTTP_LISTENER_H

#include "service/base/err.h"

#include <stdint.h>

/* Opens n listening sockets that share host:port (SO_REUSEPORT). *port 0 becomes the port taken.
 * option: the configuration key that the reason names. False: none is open, with a reason. */
bool listener_open(const char *host, uint16_t *port, const char *option, unsigned n, int *ret_fds,
                   struct err_detail *detail);

#endif
