/* SPDX-License-Identifier: Apache-2.0 */
/* NFKD takes care of full-width, small, superscript and mathematical forms; the table below of what
 * Unicode calls confusable (UTS #39) and normalisation leaves alone, as far as it can spell a fence
 * or a chat marker. */
#include "service/retrieval/neutralise_skeleton.h"

#include <stdlib.h>
#include <utf8proc.h>

struct look {
    int32_t code;
    const char *as;
};

/* Sorted by code. */
static const struct look LOOKS[] = {
    {0x00A6, "|"},  {0x00AB, "<<"},  {0x00BB, ">>"},  {0x00D7, "x"},   {0x0131, "i"},
    {0x01C0, "|"},  {0x01C1, "||"},  {0x0251, "a"},   {0x0261, "g"},   {0x02C2, "<"},
    {0x02C3, ">"},  {0x02D0, ":"},   {0x02D7, "-"},   {0x0391, "a"},   {0x0392, "b"},
    {0x0395, "e"},  {0x0396, "z"},   {0x0397, "h"},   {0x0399, "i"},   {0x039A, "k"},
    {0x039C, "m"},  {0x039D, "n"},   {0x039F, "o"},   {0x03A1, "p"},   {0x03A4, "t"},
    {0x03A5, "y"},  {0x03A7, "x"},   {0x03B1, "a"},   {0x03B5, "e"},   {0x03B7, "n"},
    {0x03B9, "i"},  {0x03BA, "k"},   {0x03BD, "v"},   {0x03BF, "o"},   {0x03C1, "p"},
    {0x03C4, "t"},  {0x03C5, "u"},   {0x03C7, "x"},   {0x03F2, "c"},   {0x03F3, "j"},
    {0x0405, "s"},  {0x0406, "i"},   {0x0408, "j"},   {0x0410, "a"},   {0x0412, "b"},
    {0x0415, "e"},  {0x041A, "k"},   {0x041C, "m"},   {0x041D, "h"},   {0x041E, "o"},
    {0x0420, "p"},  {0x0421, "c"},   {0x0422, "t"},   {0x0423, "y"},   {0x0425, "x"},
    {0x0430, "a"},  {0x0432, "b"},   {0x0435, "e"},   {0x043A, "k"},   {0x043C, "m"},
    {0x043D, "h"},  {0x043E, "o"},   {0x0440, "p"},   {0x0441, "c"},   {0x0442, "t"},
    {0x0443, "y"},  {0x0445, "x"},   {0x0455, "s"},   {0x0456, "i"},   {0x0458, "j"},
    {0x04BB, "h"},  {0x04CF, "l"},   {0x0501, "d"},   {0x051B, "q"},   {0x051D, "w"},
    {0x0578, "n"},  {0x057D, "u"},   {0x0581, "g"},   {0x0585, "o"},   {0x0589, ":"},
    {0x05C0, "|"},  {0x05C3, ":"},   {0x1400, "="},   {0x1433, ">"},   {0x1438, "<"},
    {0x16B2, "<"},  {0x16C1, "|"},   {0x2010, "-"},   {0x2011, "-"},   {0x2012, "-"},
    {0x2013, "-"},  {0x2014, "-"},   {0x2015, "-"},   {0x2016, "||"},  {0x2039, "<"},
    {0x203A, ">"},  {0x2043, "-"},   {0x2044, "/"},   {0x2045, "["},   {0x2046, "]"},
    {0x2212, "-"},  {0x2215, "/"},   {0x2223, "|"},   {0x2225, "||"},  {0x2236, ":"},
    {0x226A, "<<"}, {0x226B, ">>"},  {0x227A, "<"},   {0x227B, ">"},   {0x22D6, "<"},
    {0x22D7, ">"},  {0x22D8, "<<<"}, {0x22D9, ">>>"}, {0x23B8, "|"},   {0x23B9, "|"},
    {0x23D0, "|"},  {0x2500, "-"},   {0x2502, "|"},   {0x2503, "|"},   {0x2550, "="},
    {0x2551, "||"}, {0x2581, "_"},   {0x258F, "|"},   {0x2595, "|"},   {0x2758, "|"},
    {0x2759, "|"},  {0x275A, "|"},   {0x276C, "<"},   {0x276D, ">"},   {0x276E, "<"},
    {0x276F, ">"},  {0x2770, "<"},   {0x2771, ">"},   {0x2772, "["},   {0x2773, "]"},
    {0x27E6, "["},  {0x27E7, "]"},   {0x27E8, "<"},   {0x27E9, ">"},   {0x27EA, "<<"},
    {0x27EB, ">>"}, {0x29F8, "/"},   {0x29FC, "<"},   {0x29FD, ">"},   {0x2A79, "<"},
    {0x2A7A, ">"},  {0x2AA1, "<<"},  {0x2AA2, ">>"},  {0x2AF4, "|||"}, {0x2CA0, "p"},
    {0x2D4F, "|"},  {0x2E40, "="},   {0x3008, "<"},   {0x3009, ">"},   {0x300A, "<<"},
    {0x300B, ">>"}, {0x3010, "["},   {0x3011, "]"},   {0x3014, "["},   {0x3015, "]"},
    {0x3016, "["},  {0x3017, "]"},   {0x3018, "["},   {0x3019, "]"},   {0x301A, "["},
    {0x301B, "]"},  {0x30A0, "="},   {0xA789, ":"},   {0xA78A, "="},
};

static int compare(const void *key, const void *member)
{
    int32_t a = *(const int32_t *)key, b = ((const struct look *)member)->code;
    return (a > b) - (a < b);
}

static void add(struct skeleton *s, int32_t look, size_t owner)
{
    codes_add(&s->looks, look);
    codes_add(&s->owners, (int32_t)owner);
}

static int32_t ascii_look(int32_t code)
{
    if (code >= 'A' && code <= 'Z') {
        return code + 'a' - 'A';
    }
    return code >= '\t' && code <= '\r' ? ' ' : code;
}

/* One code point of a compatibility decomposition. */
static void add_look(struct skeleton *s, int32_t code, size_t owner)
{
    if (code < 0x80) {
        add(s, ascii_look(code), owner);
    } else if (code_is_space(code)) {
        add(s, ' ', owner);
    } else if (!code_is_mark(code)) {
        const struct look *look =
            bsearch(&code, LOOKS, sizeof(LOOKS) / sizeof(LOOKS[0]), sizeof(LOOKS[0]), compare);
        for (const char *as = look ? look->as : "\x01"; *as; as++) {
            add(s, *as, owner);
        }
    }
}

void skeleton_make(struct skeleton *s, const int32_t *line, size_t n)
{
    s->looks.n = s->owners.n = 0;
    for (size_t i = 0; i < n; i++) {
        int32_t parts[32];
        int boundclass = 0;
        if (line[i] < 0x80) {
            add(s, ascii_look(line[i]), i);
            continue;
        }
        utf8proc_ssize_t n_parts = utf8proc_decompose_char(
            line[i], parts, 32, (utf8proc_option_t)(UTF8PROC_DECOMPOSE | UTF8PROC_COMPAT),
            &boundclass);
        for (utf8proc_ssize_t k = 0; k < n_parts && k < 32; k++) {
            add_look(s, parts[k], i);
        }
    }
}

void skeleton_done(struct skeleton *s)
{
    codes_done(&s->looks);
    codes_done(&s->owners);
}
