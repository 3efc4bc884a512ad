/* SPDX-License-Identifier: Apache-2.0 */
/* encode: hexadecimal, base32, base64url (RFC 4648) and percent-encoding (RFC 3986). Pure. */
#ifndef BASE_ENCODE_H
#define BASE_ENCODE_H

#include "service/base/dynbuf.h"

/* Of a hexadecimal digit in either case; -1: it is none. */
int hex_value(char c);

/* Lower-case digits, two a byte. */
void encode_hex(struct dynbuf *out, struct slice bytes);

/* Lower-case a-z2-7 without padding: ceil(8n/5) characters. */
void encode_base32(struct dynbuf *out, struct slice bytes);

/* RFC 4648 §5 without padding. */
void encode_base64url(struct dynbuf *out, struct slice bytes);

/* Strict (RFC 7515 appendix C): no padding, white space or other alphabet, length not 1 mod 4,
 * unused bits zero. Writes at most 3n/4 bytes. False: ill-formed, out as it was. */
bool decode_base64url(struct dynbuf *out, struct slice text);

/* Everything but unreserved characters (RFC 3986 §2.3) and those in `keep` becomes %XX. */
void encode_percent(struct dynbuf *out, struct slice bytes, const char *keep);

/* Undoes %XX; false on a broken escape or a NUL, out as it was. plus_is_space: for form data. */
bool decode_percent(struct dynbuf *out, struct slice text, bool plus_is_space);

#endif
