/* SPDX-License-Identifier: Apache-2.0 */
/* config_file: a configuration file in a folder of its own, for the tests of one suite. */
#ifndef TESTS_CONFIG_FILE_H
#define TESTS_CONFIG_FILE_H

#include "service/config/config.h"

extern char config_file_folder[64], config_file_path[128];
extern struct err_detail config_file_detail; /* of the last load */

void config_file_make(void);
void config_file_remove(void);

/* Writes the file and reads it. */
struct config *config_file_load(struct slice bytes);

/* The same for one that must be good. */
struct config *config_file_load_good(const char *text);

/* Expects the text to be refused at "LINE: key `KEY`:" with a reason that holds `reason`. */
void config_file_expect_refused(const char *text, int line, const char *key, const char *reason);

#endif
