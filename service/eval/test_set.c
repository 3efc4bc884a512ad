/* SPDX-License-Identifier: Apache-2.0 */
#include "service/eval/test_set.h"

#include "service/base/json_write.h"
#include "service/base/small_file.h"
#include "service/eval/lines.h"

static const char FORMAT[] = "kbgate-eval-frozen/1";

enum { JSON_FILE_MAX_BYTES = 1024 * 1024 };

bool test_set_read(struct test_set *s, const char *role, const char *path, struct dynbuf *out,
                   struct err_detail *detail)
{
    if (!eval_file_read(path, out, detail)) {
        return false;
    }
    if (s->n == TEST_SET_FILES) {
        err_detail_set(detail, "a set has at most %d files", TEST_SET_FILES);
        return false;
    }
    struct test_set_file *f = &s->files[s->n++];
    *f = (struct test_set_file){.role = role, .path = path, .n_bytes = out->n};
    digest_of(dynbuf_get(out), &f->digest);
    return true;
}

static void write_hex(const struct digest *d, char ret_hex[CHECKSUM_CHARS + 1])
{
    struct dynbuf hex;
    dynbuf_init(&hex, CHECKSUM_CHARS);
    digest_add_hex(&hex, d);
    memcpy(ret_hex, dynbuf_text(&hex), CHECKSUM_CHARS + 1);
    dynbuf_done(&hex);
}

void test_set_checksum(const struct test_set *s, char ret_hex[CHECKSUM_CHARS + 1])
{
    struct hasher h;
    struct digest digest;
    hasher_init(&h);
    hasher_part(&h, SLICE_LIT("kbgate-eval-set/1"));
    for (size_t i = 0; i < s->n; i++) {
        hasher_part(&h, slice_of(s->files[i].role));
        hasher_part(&h, digest_slice(&s->files[i].digest));
    }
    hasher_done(&h, &digest);
    write_hex(&digest, ret_hex);
}

static const char *last_part(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static bool names_differ(const struct test_set *s, struct err_detail *detail)
{
    for (size_t i = 0; i < s->n; i++) {
        for (size_t j = 0; j < i; j++) {
            if (strcmp(last_part(s->files[i].path), last_part(s->files[j].path)) == 0) {
                err_detail_set(detail,
                               "%s and %s have the same name, by which a frozen set tells its "
                               "files apart; freeze them apart or rename one",
                               s->files[j].path, s->files[i].path);
                return false;
            }
        }
    }
    return true;
}

bool frozen_add(struct dynbuf *out, const char *name, const struct test_set *s,
                struct err_detail *detail)
{
    if (!names_differ(s, detail)) {
        return false;
    }
    struct json_writer w = json_writer_on(out);
    json_object_begin(&w);
    json_member_text_z(&w, "format", FORMAT);
    json_member_text_z(&w, "set", name);
    json_key(&w, "files");
    json_array_begin(&w);
    for (size_t i = 0; i < s->n; i++) {
        char hex[CHECKSUM_CHARS + 1];
        write_hex(&s->files[i].digest, hex);
        json_object_begin(&w);
        json_member_text_z(&w, "name", last_part(s->files[i].path));
        json_member_int(&w, "bytes", (int64_t)s->files[i].n_bytes);
        json_member_text_z(&w, "sha256", hex);
        json_object_end(&w);
    }
    json_array_end(&w);
    json_object_end(&w);
    dynbuf_add_byte(out, '\n');
    return true;
}

json_t *json_file_read(const char *path, struct err_detail *detail)
{
    struct dynbuf bytes;
    json_t *root = NULL;
    dynbuf_init(&bytes, JSON_FILE_MAX_BYTES);
    if (small_file_read(path, "cannot read", &bytes, detail)) {
        json_error_t error;
        root = json_loadb(dynbuf_get(&bytes).p, bytes.n, JSON_REJECT_DUPLICATES, &error);
        if (!root) {
            err_detail_set(detail, "%s:%d: broken JSON: %s", path, error.line, error.text);
        } else if (!json_is_object(root)) {
            err_detail_set(detail, "%s: not a JSON object", path);
            json_decref(root);
            root = NULL;
        }
    }
    dynbuf_done(&bytes);
    return root;
}

static bool is_frozen(const json_t *root, const struct test_set_file *file, const char *frozen_path,
                      struct err_detail *detail)
{
    const char *name = last_part(file->path);
    char hex[CHECKSUM_CHARS + 1];
    write_hex(&file->digest, hex);
    size_t i;
    json_t *entry;
    json_array_foreach(json_object_get(root, "files"), i, entry)
    {
        const char *known = json_string_value(json_object_get(entry, "name"));
        const char *sum = json_string_value(json_object_get(entry, "sha256"));
        if (!known || !sum || strcmp(known, name) != 0) {
            continue;
        }
        if (strcmp(sum, hex) != 0) {
            err_detail_set(detail,
                           "%s differs from the frozen set: its SHA-256 is %s, %s says %s; restore "
                           "the file, or freeze the set anew under another name",
                           file->path, hex, frozen_path, sum);
        }
        return strcmp(sum, hex) == 0;
    }
    err_detail_set(detail, "%s: %s is no file of this frozen set", frozen_path, name);
    return false;
}

bool frozen_check(const char *frozen_path, const struct test_set *s, struct err_detail *detail)
{
    json_t *root = json_file_read(frozen_path, detail);
    if (!root) {
        return false;
    }
    const char *format = json_string_value(json_object_get(root, "format"));
    bool good = format && strcmp(format, FORMAT) == 0;
    if (!good) {
        err_detail_set(detail, "%s: no frozen set; kbgate eval freeze writes one", frozen_path);
    }
    for (size_t i = 0; good && i < s->n; i++) {
        good = is_frozen(root, &s->files[i], frozen_path, detail);
    }
    json_decref(root);
    return good;
}
