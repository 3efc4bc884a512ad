# SPDX-License-Identifier: Apache-2.0
"""A changed configuration file while serving: budgets are taken up without a signal and without losing
what was spent; a file that is refused changes nothing."""

import itertools
import signal
import time

import service as kb

UNLIMITED = "subject: {per_minute: 0, burst: 1, per_day: 0}"
NARROW = f"budgets:\n  tenant: {{per_minute: 1, burst: 1, per_day: 0}}\n  {UNLIMITED}\n"
WIDE = f"budgets:\n  tenant: {{per_minute: 60000, burst: 1000, per_day: 0}}\n  {UNLIMITED}\n"
COSTLY = NARROW + "  costs: {search_kb: 2}\n"  # no burst of 1 lets that pass
WAIT_SECONDS = 20

numbers = itertools.count()


def passes(service, token) -> bool:
    """Whether a call that no cache holds is answered."""
    return not service.call(token, query=f"holiday number {next(numbers)}")["isError"]


def rewrite(service, old: str, new: str) -> None:
    """As an editor or a mounted volume does it: the path names another file at once."""
    text = service.config.read_text()
    assert old in text
    fresh = service.config.with_suffix(".new")
    fresh.write_text(text.replace(old, new))
    fresh.rename(service.config)


def wait_for_event(service, name: str, count: int) -> None:
    end = time.monotonic() + WAIT_SECONDS
    while service.log_text().count(f'"event":"{name}"') < count:
        assert time.monotonic() < end, f"{name} did not come\n{service.log_text()}"
        time.sleep(0.02)


def test_budgets_are_taken_up_without_a_signal(own_server):
    service = own_server(budgets=NARROW)
    token = service.mint()
    assert passes(service, token) and not passes(service, token)
    rewrite(service, NARROW, WIDE)
    wait_for_event(service, "config_reloaded", 1)
    assert all(passes(service, token) for _ in range(5))
    rewrite(service, WIDE, NARROW)
    wait_for_event(service, "config_reloaded", 2)
    assert not passes(service, token), "what was spent is still spent"


def test_a_refused_file_changes_nothing_and_is_said_once(own_server):
    service = own_server(budgets=NARROW)
    token = service.mint()
    assert passes(service, token)
    rewrite(service, NARROW, COSTLY)
    wait_for_event(service, "config_reload_failed", 1)
    assert not passes(service, token)
    log = service.log_text()
    assert f"{service.config}:" in log and "costs" in log, log
    rewrite(service, COSTLY, WIDE)
    wait_for_event(service, "config_reloaded", 1)
    assert passes(service, token)
    assert service.log_text().count('"event":"config_reload_failed"') == 1


def test_a_signal_reads_the_file_also_where_it_looks_unchanged(own_server):
    service = own_server(budgets=NARROW)
    service.process.send_signal(signal.SIGHUP)
    wait_for_event(service, "config_reloaded", 1)
    assert service.process.poll() is None


def test_a_file_that_is_gone_is_said_once_and_serving_goes_on(own_server):
    service = own_server(budgets=WIDE)
    token = service.mint()
    kept = service.config.read_text()
    service.config.unlink()
    wait_for_event(service, "config_reload_failed", 1)
    assert passes(service, token)
    service.config.write_text(kept)
    wait_for_event(service, "config_reloaded", 1)
    assert service.log_text().count('"event":"config_reload_failed"') == 1


def test_other_keys_wait_for_a_restart(own_server):
    service = own_server(budgets=WIDE)
    token = service.mint()
    rewrite(service, f'public_url: "{kb.RESOURCE}"', 'public_url: "http://elsewhere.example/mcp"')
    wait_for_event(service, "config_reloaded", 1)
    assert passes(service, token), "the audience is still the one of the start"


def test_a_cost_is_taken_up(own_server):
    four = NARROW.replace("per_minute: 1, burst: 1", "per_minute: 1, burst: 4")
    service = own_server(budgets=four)
    token = service.mint()
    rewrite(service, four, four + "  costs: {search_kb: 2}\n")
    wait_for_event(service, "config_reloaded", 1)
    assert [passes(service, token) for _ in range(3)] == [True, True, False]


def test_the_log_level_is_taken_up(own_server):
    service = own_server(config="log_level: error\n")
    assert '"level":"info"' not in service.log_text()
    rewrite(service, "log_level: error", "log_level: info")
    wait_for_event(service, "config_reloaded", 1)


REFUSED = [
    ("budgets:\n", "budgets:\n  tenants: {nobody: {per_minute: 9}}\n", "budgets.tenants.nobody"),
    ("budgets:\n", "backend: {max_rate: 59999}\nbudgets:\n", "backend.max_rate"),
    ("burst: 1000", "burst: many", "burst"),
    ("threads: 2\n", "thread: 2\n", "thread"),
    ("threads: 2\n", "log_level: loud\n", "log_level"),
    ("budgets:\n", "redis: {url: \"redis://:r7canarypassword@10.0.0.1\", cache_key_file: k, replicas_max: 2}\nbudgets:\n", "redis.url"),
]


def test_every_refusal_names_its_key_and_none_a_password(own_server):
    service = own_server(budgets=WIDE)
    good, token = service.config.read_text(), service.mint()
    for n, (old, new, key) in enumerate(REFUSED, 1):
        rewrite(service, old, new)
        wait_for_event(service, "config_reload_failed", n)
        assert f"key `{key}`" in service.log_text().splitlines()[-1] and passes(service, token)
        service.config.write_text(good)
        wait_for_event(service, "config_reloaded", n)
    assert service.log_text().count('"event":"config_reload_failed"') == len(REFUSED)
    assert "r7canarypassword" not in service.log_text()


class Mounted:
    """Configuration and policy behind one symbolic link, as Kubernetes mounts them: both change at once."""

    FILES = ("kbgate.yaml", "policy.yaml")

    def __init__(self, service):
        self.home, self.n = service.home, 0
        self.texts = {name: (self.home / name).read_text() for name in self.FILES}
        for name in self.FILES:
            (self.home / name).unlink()
            (self.home / name).symlink_to(f"mounted/{name}")
        self.publish()

    def publish(self, **changes):
        """Each change: a file's stem = (old, new)."""
        self.n += 1
        version = self.home / f"v{self.n}"
        version.mkdir()
        for name, text in self.texts.items():
            old, new = changes.get(name.split(".")[0], ("", ""))
            assert old in text
            self.texts[name] = text.replace(old, new) if old else text
            (version / name).write_text(self.texts[name])
        link = self.home / "mounted.new"
        link.symlink_to(version.name)
        link.rename(self.home / "mounted")


def test_policy_and_budgets_change_at_once(own_server):
    """A tenant that comes, one with another name, one that goes: neither file waits for the other, nothing is an error."""
    service = own_server(start=False)
    mounted = Mounted(service)
    service.start()
    named = "    meagre: {per_minute: 1, burst: 1, per_day: 100}\n"
    steps = (
        ('"meagre": meagre}', '"meagre": meagre, "fresh": fresh}', named, named + "    fresh: {per_minute: 1, burst: 1}\n"),
        ('"fresh": fresh}', '"fresh": other}', "    fresh:", "    other:"),
        (', "fresh": other}', "}", "    other: {per_minute: 1, burst: 1}\n", ""),
    )
    for number, (old, new, budgets, others) in enumerate(steps, 1):
        mounted.publish(policy=(old, new), kbgate=(budgets, others))
        wait_for_event(service, "config_reloaded", number)
        wait_for_event(service, "policy_reloaded", number)
    assert "_reload_failed" not in service.log_text()


def test_budgets_may_name_a_tenant_before_the_policy_does(own_server):
    service = own_server(start=False)
    mounted = Mounted(service)
    service.start()
    mounted.publish(kbgate=("  tenants:\n", "  tenants:\n    fresh: {per_minute: 1, burst: 1}\n"))
    wait_for_event(service, "config_reload_failed", 1)
    assert "fresh" in service.log_text()
    mounted.publish(policy=('"meagre": meagre}', '"meagre": meagre, "fresh": fresh}'))
    wait_for_event(service, "config_reloaded", 1)
    metrics = service.request("GET", "/metrics", admin=True).body.decode()
    assert "\nkbgate_config_reloads_total 1\n" in metrics and "\nkbgate_config_reload_failures_total 1\n" in metrics
