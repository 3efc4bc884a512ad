/* SPDX-License-Identifier: Apache-2.0 */
/* Xapian as one would set it up for speed: English stems, no positions, a boolean term for the
 * partition that ranks nothing, a compacted database, BM25, ten documents fetched. C++ because
 * Xapian has no other interface; built only when the benchmark asks for it. */
#include "tests/bench/engines/engine.h"

extern "C" {
#include "tests/bench/engines/corpus.h"
}

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>
#include <xapian.h>

namespace {

const char SEPARATOR = '\n'; // between title and text in a document's data

struct xapian_engine {
    Xapian::Database db;
    Xapian::Enquire enquire;
    Xapian::Stem stem{"en"};
    Xapian::Query permitted; // of the narrow caller

    explicit xapian_engine(const std::string &path) : db(path), enquire(db)
    {
    }
};

std::string partition_term(uint32_t partition)
{
    return "XP" + std::to_string(partition);
}

void index_chunk(Xapian::WritableDatabase &db, Xapian::TermGenerator &terms,
                 const struct chunk &chunk)
{
    std::string title(chunk.title.p, chunk.title.n), text(chunk.text.p, chunk.text.n);
    Xapian::Document doc;
    terms.set_document(doc);
    terms.index_text_without_positions(title);
    terms.index_text_without_positions(text);
    doc.add_boolean_term(partition_term(chunk.partition));
    doc.set_data(title + SEPARATOR + text);
    db.add_document(doc); // in order: the document's number is the chunk's + 1
}

void build(const std::string &dir, uint32_t n_chunks, uint32_t n_partitions)
{
    struct corpus *c = corpus_new(n_chunks, n_partitions);
    struct chunk chunk;
    Xapian::WritableDatabase db(dir + "/xapian.new", Xapian::DB_CREATE_OR_OVERWRITE |
                                                         Xapian::DB_NO_SYNC | Xapian::DB_DANGEROUS);
    Xapian::TermGenerator terms;
    terms.set_stemmer(Xapian::Stem("en"));
    terms.set_stemming_strategy(Xapian::TermGenerator::STEM_ALL);
    while (corpus_next(c, &chunk)) {
        index_chunk(db, terms, chunk);
    }
    db.commit();
    db.compact(dir + "/xapian");
    db.close();
    std::filesystem::remove_all(dir + "/xapian.new");
    corpus_free(c);
}

void *open_engine(const struct engine_place *place)
try {
    auto *x = new xapian_engine(std::string(place->dir) + "/xapian");
    x->enquire.set_weighting_scheme(Xapian::BM25Weight());
    std::vector<std::string> permitted;
    for (uint32_t p = 0; p < place->n_partitions; p++) {
        if (corpus_permits(SCOPE_TENTH, p)) {
            permitted.push_back(partition_term(p));
        }
    }
    x->permitted = Xapian::Query(Xapian::Query::OP_OR, permitted.begin(), permitted.end());
    return x;
} catch (const Xapian::Error &e) {
    engine_require(0, "xapian", e.get_description().c_str());
    return nullptr;
}

void search(void *self, int scope, const char *question, struct passages *ret_passages)
try {
    auto *x = static_cast<xapian_engine *>(self);
    char words[QUESTION_WORDS_MAX][QUESTION_WORD_BYTES];
    std::vector<std::string> terms;
    for (size_t i = 0, n = question_words(question, words); i < n; i++) {
        terms.push_back(x->stem(words[i]));
    }
    Xapian::Query query(Xapian::Query::OP_OR, terms.begin(), terms.end());
    if (scope == SCOPE_TENTH) {
        query = Xapian::Query(Xapian::Query::OP_FILTER, query, x->permitted);
    }
    x->enquire.set_query(query);
    Xapian::MSet found = x->enquire.get_mset(0, PASSAGES);
    ret_passages->n = ret_passages->n_bytes = 0;
    for (auto hit = found.begin(); hit != found.end(); ++hit) {
        std::string data = hit.get_document().get_data();
        size_t title = data.find(SEPARATOR);
        passages_add(ret_passages, *hit - 1, data.data(), title, data.data() + title + 1,
                     data.size() - title - 1);
    }
} catch (const Xapian::Error &e) {
    engine_require(0, "xapian", e.get_description().c_str());
}

void close_engine(void *self)
{
    delete static_cast<xapian_engine *>(self);
}

} // namespace

extern "C" {

const char *engine_xapian_version(void)
{
    return Xapian::version_string();
}

extern const struct engine ENGINE_XAPIAN = {"xapian", open_engine, search, close_engine};

void engine_xapian_build(const char *dir, uint32_t n_chunks, uint32_t n_partitions)
try {
    setenv("XAPIAN_FLUSH_THRESHOLD", "200000", 0); // documents held in memory between two flushes
    build(dir, n_chunks, n_partitions);
} catch (const Xapian::Error &e) {
    engine_require(0, "xapian", e.get_description().c_str());
}
}
