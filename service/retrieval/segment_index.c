/* SPDX-License-Identifier: Apache-2.0 */
/* What is hashed is the mapping itself, so that no byte is served that was not hashed. The file's
 * SHA-256 already says that it is what ingest wrote; its content is checked all the same, since an
 * index that contradicts itself must be refused by name at the start and not crash a search. */
#include "service/retrieval/segment_index.h"

#include "service/retrieval/store_files.h"
#include "service/retrieval/text.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static bool wrong(const char *path, const char *why, struct err_detail *detail)
{
    err_detail_set(detail, "%s: %s", path, why);
    return false;
}

static bool map_file(struct segment_index *x, const char *path, struct err_detail *detail)
{
    struct stat st;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &st) != 0) {
        wrong(path, strerror(errno), detail);
        if (fd >= 0) {
            close(fd);
        }
        return false;
    }
    void *map = st.st_size > 0 ? mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_SHARED, fd, 0) : "";
    close(fd);
    if (map == MAP_FAILED) {
        return wrong(path, strerror(errno), detail);
    }
    x->map = map;
    x->size = (size_t)st.st_size;
    return true;
}

void segment_index_close(struct segment_index *x)
{
    if (x->map && x->size) {
        munmap((void *)(uintptr_t)x->map, x->size);
    }
    *x = (struct segment_index){0};
}

static bool check_digest(const struct segment_index *x, const char *path,
                         const struct digest *expected, struct err_detail *detail)
{
    struct digest found;
    digest_of((struct slice){x->map, x->size}, &found);
    return store_is_published(path, &found, expected, detail);
}

static bool read_header(struct segment_index *x, const char *path, struct err_detail *detail)
{
    struct segment_header *h = &x->header;
    const char *p = x->map;
    if (x->size < SEGMENT_HEADER_BYTES ||
        !slice_starts((struct slice){p, x->size}, SLICE_LIT(SEGMENT_INDEX_MAGIC))) {
        return wrong(path, "not an index file", detail);
    }
    if (segment_get_u32(p + 8) != SEGMENT_FORMAT ||
        segment_get_u32(p + 12) != TEXT_ANALYSIS_VERSION) {
        return wrong(path, "written by another version of kbgate; run kbgate ingest again", detail);
    }
    memcpy(h->content.bytes, p + 16, DIGEST_BYTES);
    h->total_length = segment_get_u64(p + 48);
    h->n_docs = segment_get_u32(p + 56);
    h->n_chunks = segment_get_u32(p + 60);
    h->n_buckets = segment_get_u32(p + 64);
    h->record_bytes = segment_get_u32(p + 68);
    h->id_bytes = segment_get_u64(p + 72);
    h->posting_bytes = segment_get_u64(p + 80);
    return true;
}

static bool check_header(const struct segment_index *x, const struct partition *expected)
{
    const struct segment_header *h = &x->header;
    return digest_eq(&h->content, &expected->content) && h->n_docs == expected->n_docs &&
           h->n_chunks == expected->n_chunks && h->n_chunks <= SEGMENT_MAX_CHUNKS &&
           h->posting_bytes % 8 == 0 && h->n_buckets >= 1;
}

static bool place_sections(struct segment_index *x)
{
    struct segment_layout l;
    if (!segment_layout_of(&x->header, &l) || l.size != x->size) {
        return false;
    }
    x->lengths = x->map + l.lengths;
    x->chunks = x->map + l.chunks;
    x->docs = x->map + l.docs;
    x->ids = x->map + l.ids;
    x->directory = x->map + l.directory;
    x->records = (struct slice){x->map + l.records, x->header.record_bytes};
    x->postings = (struct slice){x->map + l.postings, (size_t)x->header.posting_bytes};
    x->seed = segment_seed(&x->header.content);
    return true;
}

static bool check_lengths(const struct segment_index *x)
{
    uint64_t sum = 0;
    uint32_t longest = 0;
    for (uint32_t i = 0; i < x->header.n_chunks; i++) {
        uint32_t length = segment_index_length(x, i);
        longest = length > longest ? length : longest;
        sum += length;
    }
    return longest <= SEGMENT_LENGTH_MAX && sum == x->header.total_length;
}

/* Ids and chunks are covered from first to last; each document has a chunk. */
static bool check_doc_places(const struct segment_index *x)
{
    const char *row = x->docs;
    uint64_t id = 0;
    uint32_t chunk = 0;
    bool good = segment_get_u64(row) == 0 && segment_get_u32(row + 12) == 0;
    for (uint32_t i = 0; good && i < x->header.n_docs; i++) {
        row += SEGMENT_DOC_BYTES;
        good = segment_get_u64(row) >= id && segment_get_u64(row) <= x->header.id_bytes &&
               segment_get_u32(row + 12) > chunk;
        id = segment_get_u64(row);
        chunk = segment_get_u32(row + 12);
    }
    return good && id == x->header.id_bytes && chunk == x->header.n_chunks;
}

static bool check_chunks_of(const struct segment_index *x, uint32_t doc, struct segment_doc d)
{
    bool good = true;
    for (uint32_t i = d.first_chunk; good && i < d.first_chunk + d.n_chunks; i++) {
        struct segment_chunk c = segment_index_chunk(x, i);
        good = c.doc == doc &&
               (i == d.first_chunk || c.position > segment_index_chunk(x, i - 1).position);
    }
    return good;
}

static bool check_docs(const struct segment_index *x)
{
    struct slice before = SLICE_NONE;
    bool good = check_doc_places(x);
    for (uint32_t i = 0; good && i < x->header.n_docs; i++) {
        struct segment_doc d = segment_index_doc(x, i);
        good = (i == 0 || slice_cmp(before, d.doc_id) < 0) && check_chunks_of(x, i, d);
        before = d.doc_id;
    }
    return good;
}

static bool check_directory(const struct segment_index *x)
{
    uint32_t last = 0;
    bool good = segment_get_u32(x->directory) == 0;
    for (size_t i = 1; good && i <= x->header.n_buckets; i++) {
        uint32_t begin = segment_get_u32(x->directory + i * SEGMENT_DIRECTORY_BYTES);
        good = begin >= last;
        last = begin;
    }
    return good && last == x->header.record_bytes;
}

bool segment_index_open(struct segment_index *x, const char *path,
                        const struct generation_entry *entry, struct err_detail *detail)
{
    *x = (struct segment_index){0};
    if (!map_file(x, path, detail) || !check_digest(x, path, &entry->files.index, detail) ||
        !read_header(x, path, detail)) {
        return false;
    }
    if (!check_header(x, &entry->partition)) {
        return wrong(path, "not the index that the generation describes", detail);
    }
    return (place_sections(x) && check_lengths(x) && check_docs(x) && check_directory(x)) ||
           wrong(path, "its tables contradict its header", detail);
}

struct record {
    struct slice term, postings;
    uint32_t df;
};

static bool take(struct slice *rest, size_t n, struct slice *ret_bytes)
{
    if (rest->n < n) {
        return false;
    }
    *ret_bytes = (struct slice){rest->p, n};
    *rest = slice_skip(*rest, n);
    return true;
}

static bool take_byte(struct slice *rest, uint32_t *ret_value)
{
    struct slice byte;
    bool good = take(rest, 1, &byte);
    *ret_value = good ? (unsigned char)byte.p[0] : 0;
    return good;
}

/* Postings that lie outside: their size and place. */
static bool take_far(const struct segment_index *x, struct slice *rest, struct slice *ret_postings)
{
    uint32_t n = 0;
    struct slice bytes;
    if (!segment_read_varint(rest, SEGMENT_VARINT_MAX_BYTES, &n) ||
        !take(rest, SEGMENT_PLACE_BYTES, &bytes)) {
        return false;
    }
    uint64_t place =
        segment_get_u32(bytes.p) | (uint64_t)(unsigned char)bytes.p[SEGMENT_PLACE_BYTES - 1] << 32;
    if (place > x->postings.n || x->postings.n - place < n) {
        return false;
    }
    *ret_postings = (struct slice){x->postings.p + place, n};
    return true;
}

static bool take_record(const struct segment_index *x, struct slice *rest, struct record *ret)
{
    uint32_t n = 0, shape = 0;
    if (!take_byte(rest, &n) || !take(rest, n, &ret->term) || !take_byte(rest, &shape)) {
        return false;
    }
    const uint32_t size = shape >> SEGMENT_DF_BITS;
    ret->df = shape & ((1u << SEGMENT_DF_BITS) - 1);
    if ((ret->df == 0 && !segment_read_varint(rest, SEGMENT_VARINT_MAX_BYTES, &ret->df)) ||
        ret->df < 1 || ret->df > x->header.n_chunks) {
        return false;
    }
    return size ? take(rest, size, &ret->postings) : take_far(x, rest, &ret->postings);
}

enum err segment_index_find(const struct segment_index *x, const struct segment_term *term,
                            uint32_t *ret_df, struct slice *ret_bytes)
{
    struct slice rest = segment_index_bucket(x, term);
    struct record r;
    *ret_df = 0;
    *ret_bytes = SLICE_NONE;
    while (rest.n) {
        if (!take_record(x, &rest, &r)) {
            return ERR_INTERNAL;
        }
        if (slice_eq(r.term, term->text)) {
            *ret_df = r.df;
            *ret_bytes = r.postings;
            break;
        }
    }
    return ERR_OK;
}
