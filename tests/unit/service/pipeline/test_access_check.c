/* SPDX-License-Identifier: Apache-2.0 */
/* What a policy must fit beyond itself, at the start and at a reload alike. */
#include "service/pipeline/access_check.h"

#include "tests/unit/service/pipeline/fixture.h"

static struct fixture f;
static char path[] = "kbgate.yaml", host[64];

static void open_fixture(void)
{
    fixture_open(&f);
    f.gate.config_path = path;
    f.config.public_url = FIXTURE_URL;
    f.config.policy_file = "policy.yaml";
    f.config.listen = "HOST:8080";
}

static void close_fixture(void)
{
    fixture_close(&f);
}

TestSuite(access_check, .init = open_fixture, .fini = close_fixture);

static bool passes(const char *served_on, struct err_detail *detail)
{
    detail->text[0] = '\0';
    f.gate.host = served_on ? strcpy(host, served_on) : NULL;
    return access_check(&f.gate, f.gate.access, detail);
}

Test(access_check, a_development_issuer_stays_on_loopback)
{
    struct err_detail detail;
    cr_assert(passes(NULL, &detail));
    cr_assert(passes("127.0.0.1", &detail));
    cr_assert(passes("::1", &detail));
    static const char *const OPEN[] = {"0.0.0.0", "10.9.9.9", "::", "kb.example"};
    for (size_t i = 0; i < sizeof(OPEN) / sizeof(OPEN[0]); i++) {
        cr_assert_not(passes(OPEN[i], &detail), "%s", OPEN[i]);
        cr_assert(strstr(detail.text, "policy.yaml") && strstr(detail.text, "loopback"));
    }
}

Test(access_check, every_issuer_needs_the_public_url_as_an_audience)
{
    struct err_detail detail;
    f.config.public_url = "http://127.0.0.1:8080/mcp/";
    cr_assert_not(passes("127.0.0.1", &detail));
    cr_assert(strstr(detail.text, "audience"));
    cr_assert(passes(NULL, &detail), "stdio needs none");
}

Test(access_check, a_budget_is_for_a_tenant_that_exists)
{
    struct err_detail detail;
    struct tenant_budget budget = {.tenant = SLICE_LIT("acme")};
    f.config.budgets = &budget;
    f.config.n_budgets = 1;
    cr_assert(passes(NULL, &detail));
    budget.tenant = SLICE_LIT("acne");
    cr_assert_not(passes(NULL, &detail));
    cr_assert(strstr(detail.text, "kbgate.yaml") && strstr(detail.text, "acne"));
}
