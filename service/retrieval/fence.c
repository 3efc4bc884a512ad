/* SPDX-License-Identifier: Apache-2.0 */
/* Two defences that do not lean on each other: the tag depends on the whole text, so that no text
 * can hold its own; and every line of the text begins with a mark, so that nothing in it can begin
 * a line, whatever it holds. */
#include "service/retrieval/fence.h"

#include "service/base/encode.h"

enum { MARK_CHARS = 4 };

static const char LABEL[] = "kbgate-fence/1";

void fence_epoch(struct slice key, char ret_epoch[FENCE_EPOCH_CHARS + 1])
{
    struct digest mac;
    struct dynbuf hex;
    const struct slice part = SLICE_LIT("epoch");
    digest_hmac(key, &part, 1, &mac);
    dynbuf_init(&hex, 2 * sizeof(mac.bytes));
    digest_add_hex(&hex, &mac);
    memcpy(ret_epoch, hex.p, FENCE_EPOCH_CHARS);
    ret_epoch[FENCE_EPOCH_CHARS] = '\0';
    dynbuf_done(&hex);
}

static void make_tag(struct slice key, struct slice chunk_id, struct slice text,
                     char ret_tag[FENCE_TAG_CHARS])
{
    struct digest mac;
    struct dynbuf base32;
    const struct slice parts[] = {slice_of(LABEL), chunk_id, text};
    digest_hmac(key, parts, sizeof(parts) / sizeof(parts[0]), &mac);
    dynbuf_init(&base32, 2 * sizeof(mac.bytes));
    encode_base32(&base32, digest_slice(&mac));
    memcpy(ret_tag, base32.p, FENCE_TAG_CHARS);
    dynbuf_done(&base32);
}

static void add_lines(struct dynbuf *out, struct slice mark, struct slice text)
{
    for (;;) {
        const char *newline = text.n ? memchr(text.p, '\n', text.n) : NULL;
        size_t n = newline ? (size_t)(newline - text.p) : text.n;
        dynbuf_add(out, mark);
        dynbuf_add_text(out, "| ");
        dynbuf_add(out, (struct slice){text.p, n});
        dynbuf_add_byte(out, '\n');
        if (!newline) {
            return;
        }
        text = slice_skip(text, n + 1);
    }
}

void fence_add(struct dynbuf *out, struct slice key, struct slice chunk_id, struct slice text)
{
    char bytes[FENCE_TAG_CHARS], epoch[FENCE_EPOCH_CHARS + 1];
    make_tag(key, chunk_id, text, bytes);
    fence_epoch(key, epoch);
    struct slice tag = {bytes, FENCE_TAG_CHARS};
    dynbuf_add_text(out, "<<untrusted-content fence=");
    dynbuf_add(out, tag);
    dynbuf_add_text(out, " epoch=");
    dynbuf_add_text(out, epoch);
    dynbuf_add_text(out, ">>\n");
    add_lines(out, (struct slice){bytes, MARK_CHARS}, text);
    dynbuf_add_text(out, "<<end fence=");
    dynbuf_add(out, tag);
    dynbuf_add_text(out, ">>");
}
