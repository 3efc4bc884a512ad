# SPDX-License-Identifier: Apache-2.0
"""What the documents quote from the program is what the program says."""

import re

import replicas
import service as kb

README = (kb.TOP / "README.md").read_text()


def test_the_configuration_table_is_the_programs():
    quoted = re.search(r"<!-- config-table -->\n(.*?)<!-- /config-table -->", README, re.S).group(1)
    assert quoted.strip() == kb.run("serve", "--help-config").stdout.strip()


def test_the_configuration_examples_are_good(own_server):
    section = README.split("\n## Configuration\n")[1].split("\n## ")[0]
    examples = re.findall(r"```yaml\n(.*?)```", section, re.S)
    assert len(examples) == 2
    server = own_server(start=False)
    (server.home / "keys").mkdir()
    (server.home / "keys" / "redis.password").write_text("secret\n")
    (server.home / "keys" / "cache.key").write_bytes(bytes(32))
    plain = server.config.read_text().replace(kb.BUDGETS, "")
    server.config.write_text(plain + "".join(examples))
    assert "/run/redis/redis.sock" in kb.run("check", "--config", server.config).stdout


def test_the_steps_are_the_runners():
    table = re.search(r"static const struct step STEPS\[\] = \{\n(.*?)\n\};", (kb.TOP / "service/pipeline/runner.c").read_text(), re.S)
    quoted = re.search(r"static const struct step STEPS\[\] = \{\n(.*?)\n\};", README, re.S)
    steps = [re.findall(r'\{"(\w+)", +(\w+), +(\w+)\}', text.group(1)) for text in (table, quoted)]
    assert steps[0] and steps[0] == steps[1]


def test_every_metric_has_its_row(own_server, tmp_path):
    key = tmp_path / "cache.key"
    key.write_bytes(bytes(32))
    server = own_server(config=replicas.redis_config(f"unix://{tmp_path}/nobody.sock", key))  # a start needs no Redis
    documented = set(re.findall(r"`(kbgate_\w+)", (kb.TOP / "docs/design.md").read_text()))
    exported = set(re.findall(r"^# TYPE (\w+)", server.request("GET", "/metrics", admin=True).body.decode(), re.M))
    assert exported and exported == documented


def test_every_option_in_the_readme_exists():
    parts = [f"eval {part}" for part in ("retrieval", "abstain", "scan", "freeze", "lint")]
    for command in ("serve", "stdio", "ingest", "search", "token", "check", *parts):
        known = set(re.findall(r"--([a-z][a-z-]*)", kb.run(*command.split(), "--help").stdout))
        for line in re.findall(rf"^.*kbgate {command} --?.*$", README, re.M):
            used = set(re.findall(r" --([a-z][a-z-]*)", line.split(f"kbgate {command}", 1)[1].split("|")[0].split("#")[0]))
            assert used <= known, (command, used - known, line)


def test_documents_link_to_files_that_exist():
    for page in [kb.TOP / "README.md", *sorted((kb.TOP / "docs").glob("*.md"))]:
        for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text()):
            assert (page.parent / target).exists(), (page.name, target)
