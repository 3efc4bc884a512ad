/* SPDX-License-Identifier: Apache-2.0 */
/* Everything is read and cut before the store is touched: a run that has nothing to publish, or
 * that --strict refuses, leaves no trace. */
#include "service/ingest/ingest.h"

#include "service/ingest/publish.h"

static bool check_options(const struct ingest_options *o, struct err_detail *detail)
{
    if (!o->store_dir || !o->store_dir[0]) {
        err_detail_set(detail, "no store is named");
        return false;
    }
    if (o->n_paths == 0) {
        err_detail_set(detail, "no file or folder is named");
        return false;
    }
    return true;
}

static bool check_documents(const struct collect *c, struct err_detail *detail)
{
    if (c->options->strict && c->report->skipped) {
        err_detail_set(detail, "strict: %llu files or records are not fit to be ingested",
                       (unsigned long long)c->report->skipped);
        return false;
    }
    if (c->n == 0) {
        err_detail_set(detail, "nothing to ingest: no document was found, or none was fit");
        return false;
    }
    return true;
}

bool ingest_run(const struct ingest_options *options, struct ingest_report *ret_report,
                struct err_detail *detail)
{
    struct collect c;
    *ret_report = (struct ingest_report){0};
    if (!check_options(options, detail)) {
        return false;
    }
    bool ok = collect_documents(&c, options, ret_report, detail) && check_documents(&c, detail) &&
              publish_documents(&c, ret_report, detail);
    collect_done(&c);
    return ok;
}
