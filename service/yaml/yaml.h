/* SPDX-License-Identifier: Apache-2.0 */
/* yaml: the strict subset of YAML 1.1 that kbgate's files are written in, and one table-driven
 * reader.
 *
 * Refused: duplicate keys, anchors, aliases, merge keys, tags, more than one document, plain empty,
 * `~` or `null` values, control characters (line breaks inside a value too), text that is not UTF-8
 * in NFC, depth over 16, files over 256 KiB. Every error text says file, line, key and what to
 * write instead. Pure: bytes in, tree out. Ownership: every node and slice lives as long as its
 * yaml_doc. */
#ifndef YAML_YAML_H
#define YAML_YAML_H

#include "service/base/err.h"

#include <stdint.h>

enum { YAML_MAX_BYTES = 256 * 1024, YAML_MAX_DEPTH = 16 };

enum yaml_kind { YAML_SCALAR, YAML_LIST, YAML_MAP };

struct yaml_node {
    enum yaml_kind kind;
    int line;                      /* 1-based: where its key stands, in a list where it begins */
    bool quoted;                   /* scalar: written in quotes, so never a bool or an int */
    struct slice key;              /* in a map: its key; else SLICE_NONE */
    struct slice text;             /* scalar; a NUL follows it, as with key */
    const struct yaml_node *first; /* list, map: first child, in file order; NULL if empty */
    const struct yaml_node *next;  /* the next child of the same parent */
    size_t n;                      /* list, map: number of children */
};

struct yaml_doc; /* opaque */

/* file_name is for error texts; copied. NULL with a reason on any breach. */
struct yaml_doc *yaml_parse(struct slice bytes, const char *file_name, struct err_detail *detail);
void yaml_doc_free(struct yaml_doc *doc);

/* The root, always a map. */
const struct yaml_node *yaml_root(const struct yaml_doc *doc);

struct yaml_texts {
    struct slice *items; /* owned by the doc */
    size_t n;
};

/* What a field's value must be and what is written at its offset. */
enum yaml_type {
    YAML_TEXT,      /* struct slice; non-empty */
    YAML_FLAG,      /* bool: plain true or false */
    YAML_INTEGER,   /* int64_t within min..max: plain decimal */
    YAML_TEXT_LIST, /* struct yaml_texts: a list of non-empty, distinct texts; may be empty */
    YAML_SUBTREE,   /* const struct yaml_node *: any node, for the caller to read on */
};

struct yaml_field {
    const char *key;
    enum yaml_type type;
    bool required;
    size_t offset;    /* offsetof in the caller's struct, which holds the defaults beforehand */
    int64_t min, max; /* YAML_INTEGER only */
};

/* Reads a map by its table into `ret_struct`. False with "FILE:LINE: key `K`: reason; fix" for a
 * node that is no map, an unknown key (it names the nearest known one), a missing or ill-typed
 * value. */
bool yaml_read(struct yaml_doc *doc, const struct yaml_node *map, const struct yaml_field *fields,
               size_t n_fields, void *ret_struct, struct err_detail *detail);

/* "FILE:LINE: key `K`: " + the formatted reason, for checks beyond the table. key may be
 * SLICE_NONE; one that holds an @ is not shown: it may be a misplaced URL with a password. */
void yaml_error(const struct yaml_doc *doc, int line, struct slice key, struct err_detail *detail,
                const char *format, ...) __attribute__((format(printf, 5, 6)));

#endif
