/* SPDX-License-Identifier: Apache-2.0 */
#include "service/pipeline/key_file.h"

#include "service/base/small_file.h"

bool key_file_read(const char *key, const char *path, struct dynbuf *ret_key,
                   struct err_detail *detail)
{
    if (!small_file_read(path, key, ret_key, detail)) {
        return false;
    }
    if (ret_key->n < KEY_FILE_MIN_BYTES) {
        err_detail_set(detail,
                       "%s: %s: holds %zu bytes, at least %d are needed; make one with "
                       "`openssl rand -out FILE 32`",
                       key, path, ret_key->n, KEY_FILE_MIN_BYTES);
        return false;
    }
    return true;
}
