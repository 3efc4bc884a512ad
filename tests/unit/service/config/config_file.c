/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/service/config/config_file.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

char config_file_folder[64], config_file_path[128];
struct err_detail config_file_detail;

void config_file_make(void)
{
    (void)snprintf(config_file_folder, sizeof(config_file_folder), "/tmp/test_config_XXXXXX");
    cr_assert(mkdtemp(config_file_folder));
    (void)snprintf(config_file_path, sizeof(config_file_path), "%s/kbgate.yaml",
                   config_file_folder);
}

void config_file_remove(void)
{
    (void)unlink(config_file_path);
    (void)rmdir(config_file_folder);
}

struct config *config_file_load(struct slice bytes)
{
    FILE *f = fopen(config_file_path, "w");
    cr_assert(f);
    cr_assert_eq(fwrite(bytes.p, 1, bytes.n, f), bytes.n);
    cr_assert_eq(fclose(f), 0);
    config_file_detail.text[0] = '\0';
    return config_load(config_file_path, &config_file_detail);
}

struct config *config_file_load_good(const char *text)
{
    struct config *c = config_file_load(slice_of(text));
    cr_assert(c, "%s\n%s", config_file_detail.text, text);
    return c;
}

void config_file_expect_refused(const char *text, int line, const char *key, const char *reason)
{
    char start[512];
    (void)snprintf(start, sizeof(start), "%s:%d: key `%s`: ", config_file_path, line, key);
    struct config *c = config_file_load(slice_of(text));
    const char *said = config_file_detail.text;
    cr_expect_null(c, "accepted:\n%s", text);
    cr_expect(strncmp(said, start, strlen(start)) == 0, "%s\ninstead of %s", said, start);
    cr_expect_not_null(strstr(said, reason), "%s\nlacks %s", said, reason);
    config_free(c);
}
