/* SPDX-License-Identifier: Apache-2.0 */
/* Runs a fuzz target over files and folders of files, so that a compiler without libFuzzer replays
 * the corpus too. A replay of nothing fails: an empty corpus would be a test that tests nothing. */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

enum { MAX_INPUT_BYTES = 1 << 22 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The input gets a block of its exact size, so that a read past its end is seen. */
static int replay_file(const char *path)
{
    FILE *file = fopen(path, "rb");
    uint8_t *whole = malloc(MAX_INPUT_BYTES);
    if (!file || !whole) {
        perror(path);
        exit(1);
    }
    size_t n = fread(whole, 1, MAX_INPUT_BYTES, file);
    fclose(file);
    uint8_t *exact = realloc(whole, n ? n : 1);
    LLVMFuzzerTestOneInput(exact, n);
    free(exact);
    return 1;
}

static int is_visible(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

static int replay_folder(const char *path)
{
    struct dirent **entries;
    int n = scandir(path, &entries, is_visible, alphasort);
    if (n < 0) {
        perror(path);
        exit(1);
    }
    for (int i = 0; i < n; i++) {
        char file[4096];
        snprintf(file, sizeof(file), "%s/%s", path, entries[i]->d_name);
        replay_file(file);
        free(entries[i]);
    }
    free(entries);
    return n;
}

int main(int argc, char **argv)
{
    int replayed = 0;
    for (int i = 1; i < argc; i++) {
        struct stat st;
        int folder = stat(argv[i], &st) == 0 && S_ISDIR(st.st_mode);
        replayed += folder ? replay_folder(argv[i]) : replay_file(argv[i]);
    }
    printf("%d inputs replayed\n", replayed);
    return replayed > 0 ? 0 : 1;
}
