/* SPDX-License-Identifier: Apache-2.0 */
/* What is hashed is the mapping itself, so that no byte is served that was not hashed. The file's
 * SHA-256 already says that it is what ingest wrote; its content is checked all the same, since an
 * index that contradicts itself must be refused by name at the start and not crash a search. */
#include "service/retrieval/segment_index.h"

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
    return digest_eq(&found, expected) ||
           wrong(path, "the file is damaged (its SHA-256 is not the published one)", detail);
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
    h->n_terms = segment_get_u32(p + 64);
    h->n_slots = segment_get_u32(p + 68);
    h->id_bytes = segment_get_u64(p + 72);
    h->record_bytes = segment_get_u64(p + 80);
    return true;
}

static bool check_header(const struct segment_index *x, const struct partition *expected)
{
    const struct segment_header *h = &x->header;
    return digest_eq(&h->content, &expected->content) && h->n_docs == expected->n_docs &&
           h->n_chunks == expected->n_chunks && h->n_chunks <= SEGMENT_MAX_CHUNKS &&
           h->record_bytes % 8 == 0 && (h->n_terms == 0 || h->n_slots > h->n_terms);
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
    x->records = (struct slice){x->map + l.records, (size_t)x->header.record_bytes};
    x->slots = x->map + l.slots;
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

static bool check_slots(const struct segment_index *x)
{
    uint32_t n = 0;
    uint64_t last = 0;
    for (uint32_t i = 0; i < x->header.n_slots; i++) {
        uint64_t place =
            segment_get_u64(x->slots + (size_t)i * SEGMENT_SLOT_BYTES) >> SEGMENT_FINGERPRINT_BITS;
        last = place > last ? place : last;
        n += place != 0;
    }
    return n == x->header.n_terms && last <= x->records.n;
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
    return (place_sections(x) && check_lengths(x) && check_docs(x) && check_slots(x)) ||
           wrong(path, "its tables contradict its header", detail);
}

struct record {
    struct slice term, postings;
    uint32_t df;
};

static bool read_record(const struct segment_index *x, uint64_t place, struct record *ret)
{
    if (place >= x->records.n) {
        return false;
    }
    struct slice rest = slice_skip(x->records, (size_t)place);
    size_t n = (unsigned char)rest.p[0];
    uint32_t n_postings = 0;
    rest = slice_skip(rest, 1);
    if (!segment_read_varint(&rest, &ret->df) || !segment_read_varint(&rest, &n_postings) ||
        rest.n < n || rest.n - n < n_postings) {
        return false;
    }
    ret->term = (struct slice){rest.p, n};
    ret->postings = (struct slice){rest.p + n, n_postings};
    return ret->df >= 1 && ret->df <= x->header.n_chunks;
}

enum err segment_index_find(const struct segment_index *x, const struct segment_term *term,
                            uint32_t *ret_df, struct slice *ret_bytes)
{
    const uint32_t n_slots = x->header.n_slots;
    uint32_t at = segment_slot_of(term->hash, x->seed, n_slots);
    struct record r;
    *ret_df = 0;
    *ret_bytes = SLICE_NONE;
    for (uint32_t tried = 0; tried < n_slots; tried++) {
        uint64_t slot = segment_get_u64(x->slots + (size_t)at * SEGMENT_SLOT_BYTES);
        if (slot == 0) {
            break;
        }
        if (segment_fingerprint(slot) == segment_fingerprint(term->hash)) {
            if (!read_record(x, (slot >> SEGMENT_FINGERPRINT_BITS) - 1, &r)) {
                return ERR_INTERNAL;
            }
            if (slice_eq(r.term, term->text)) {
                *ret_df = r.df;
                *ret_bytes = r.postings;
                break;
            }
        }
        at = at + 1 == n_slots ? 0 : at + 1;
    }
    return ERR_OK;
}
