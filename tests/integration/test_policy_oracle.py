# SPDX-License-Identifier: Apache-2.0
"""The compiled filter against a judge that shares no code with it: the policy is read by PyYAML's own
parser, claims are taken as they stand in the token, and each document is judged by itself, so there is
no filter to get wrong. KB_LONG=1: a million (claims, policy, document) triples; KB_SEED=N repeats a run."""

import json
import os
import random
import subprocess
import time
from pathlib import Path

import pytest
import yaml

import service as kb

HELPER = Path(kb.KBGATE).resolve().parent / "tests" / "policy_filter"
NOW = 1_800_000_000
CALLERS, DOCUMENTS = 6, 12
TRIPLES = 1_000_000 if os.environ.get("KB_LONG") else 50_000

# Names that resemble each other, other kinds of names, the wildcard and YAML's own words.
TENANTS = ["acme", "acme2", "ACME", "globex"]
TENANT_IDS = ["t-1", "t-2", "T-1", "*", "no"]
SCOPES = ["kb:read", "kb:rea", "KB:read", "*", "admin", "legal"]
GROUPS = ["kb:read", "legal", "Legal", "*", "admin", "a b", "caf\u00e9", "null", "1.0", "it's \"x\""]
CLIENTS = ["agent", "agent2", "*", "legal", "true"]
COLLECTIONS = ["kb", "kb2", "KB", "hr", "null"]
DOC_TYPES = ["faq", "faq2", "FAQ", "kb", "no"]
LABELS = ["internal", "public", "public2", "legal", "kb"]


# --- drawing ---


def some(rng, values, most=3):
    return rng.sample(values, rng.choice([0, *range(1, most + 1), *range(1, most + 1)]))


def draw_condition(rng):
    pools = {"scopes_all": SCOPES, "scopes_any": SCOPES, "groups_all": GROUPS, "groups_any": GROUPS, "client_ids_any": CLIENTS}
    names = rng.sample(list(pools), rng.choice([1, 1, 1, 2, 3]))
    return {name: some(rng, pools[name], 2 if name.endswith("all") else 4) for name in names}


def draw_set(rng, values, star=True):
    return ["*"] if star and rng.random() < 0.4 else some(rng, values, 4)


def draw_grant(rng, number):
    grant = {"id": f"g{number}", "tenants": some(rng, TENANTS, 4) or some(rng, TENANTS, 4)}
    if rng.random() < 0.6:
        grant["when"] = draw_condition(rng)
    grant["allow"] = {"collections": draw_set(rng, COLLECTIONS), "doc_types": draw_set(rng, DOC_TYPES), "labels": draw_set(rng, LABELS)}
    return grant


def draw_deny(rng, number):
    deny = {"id": f"d{number}"}
    if rng.random() < 0.6:
        deny["unless"] = draw_condition(rng)
    match = {"collections": draw_set(rng, COLLECTIONS), "doc_types": draw_set(rng, DOC_TYPES), "labels_any": draw_set(rng, LABELS, star=False)}
    deny["match"] = {name: match[name] for name in rng.sample(list(match), rng.choice([1, 1, 2, 3]))}
    return deny


def draw_issuer(rng, name):
    issuer = {
        "iss": f"https://{name}.example.com/",
        "jwks_file": "keys.json",
        "audiences": ["kb"],
        "typ_any": True,
        "claims": {
            "scopes": rng.choice([{"path": "scope", "kind": "space_string"}, {"path": "scp", "kind": "array"}, {"path": "scope", "kind": "string"}]),
            "tenant": {"path": rng.choice(["tid", "org.id", "https://x\\.example/tid"]), "kind": "string"},
        },
        # every tenant is mapped by someone: a grant may name it
        "tenants": dict(zip(rng.sample(TENANT_IDS, len(TENANTS)), rng.sample(TENANTS, len(TENANTS)))),
    }
    if rng.random() < 0.9:
        issuer["claims"]["groups"] = {"path": rng.choice(["groups", "realm.roles", "x\\.y:groups"]), "kind": rng.choice(["array", "array", "space_string"])}
        if rng.random() < 0.7:
            issuer["claims"]["groups"]["overage"] = ["_claim_names", "hasgroups"]
    if rng.random() < 0.5:
        issuer["claims"]["client_id"] = {"path": "azp", "kind": "string"}
    return issuer


def draw_policy(rng):
    policy = {
        "policy_version": 1,
        "issuers": {name: draw_issuer(rng, name) for name in ("one", "two")[: rng.randint(1, 2)]},
        "grants": [draw_grant(rng, i) for i in range(rng.randint(0, 5))],
    }
    if rng.random() < 0.5:
        policy["denies"] = [draw_deny(rng, i) for i in range(rng.randint(0, 3))]
    if rng.random() < 0.3:
        policy["revoked"] = {"jti": ["j2"], "sub": ["bob"], "client_id": some(rng, CLIENTS, 1)}
    if rng.random() < 0.4:
        policy["limits"] = {"max_scopes": rng.randint(1, 5), "max_groups": rng.randint(1, 5), "max_matched_grants": rng.randint(1, 5)}
    return policy


class Dumper(yaml.SafeDumper):
    def ignore_aliases(self, data):
        return True


def write(rng, policy) -> str:
    return yaml.dump(policy, Dumper=Dumper, default_flow_style=rng.choice([None, True, False]), allow_unicode=rng.random() < 0.5, sort_keys=rng.random() < 0.5)


def steps_of(path):
    return [step.replace("\0", ".") for step in path.replace("\\.", "\0").split(".")]


def place(claims, path, value):
    *parents, last = steps_of(path)
    for step in parents:
        claims = claims.setdefault(step, {})
    claims[last] = value


def draw_values(rng, kind, pool):
    values = some(rng, pool, 4)
    if kind == "space_string":
        return " ".join(rng.sample([v for v in SCOPES], len(values))) if rng.random() < 0.9 else rng.choice(["", " kb:read  admin ", "a\tb"])
    if kind == "string":
        return rng.choice(pool)
    return values


def draw_claims(rng, policy):
    issuer = rng.choice(list(policy["issuers"].values()))
    rules = issuer["claims"]
    claims = {"iss": issuer["iss"], "aud": "kb", "exp": NOW + 600, "sub": rng.choice(["ann", "bob"]), "jti": rng.choice(["j1", "j2"])}
    place(claims, rules["scopes"]["path"], draw_values(rng, rules["scopes"]["kind"], SCOPES))
    place(claims, rules["tenant"]["path"], rng.choice(TENANT_IDS))
    if "groups" in rules:
        place(claims, rules["groups"]["path"], draw_values(rng, rules["groups"]["kind"], GROUPS))
    if rng.random() < 0.8:
        claims["azp" if "client_id" in rules else "client_id"] = rng.choice(CLIENTS)
    if rng.random() < 0.25:
        spoil(rng, claims)
    return claims


def spoil(rng, claims):
    """One thing that an honest issuer would not say, or says rarely."""
    wrong = [None, 7, True, [], {}, "", ["legal", 7], "*", ["*"], {"roles": ["legal"]}]
    name = rng.choice([n for n in claims if n not in ("iss", "aud", "exp")])
    rng.choice([
        lambda: claims.pop(name),
        lambda: claims.update({name: rng.choice(wrong)}),
        lambda: claims.update(hasgroups=rng.choice([True, False, None])),
        lambda: claims.update(_claim_names={"groups": "src"}),
        lambda: claims.update(groups=["legal"]),
        lambda: claims.update(client_id="agent", azp="agent2"),
    ])()


def draw_document(rng):
    def name(pool):
        return rng.choice(pool) if rng.random() < 0.97 else ""

    return [name(COLLECTIONS), name(DOC_TYPES), sorted(some(rng, LABELS, 3))]


# --- the judge ---


class Invalid(Exception):
    """The token says something of the wrong type."""


def find(claims, path):
    for step in steps_of(path):
        if not isinstance(claims, dict):
            raise Invalid
        if step not in claims:
            return None, False
        claims = claims[step]
    return claims, True


def values_at(claims, rule):
    if rule is None:
        return []
    value, there = find(claims, rule["path"])
    if not there:
        return []
    if rule["kind"] == "array":
        if not isinstance(value, list) or not all(isinstance(v, str) for v in value):
            raise Invalid
        return value
    if not isinstance(value, str):
        raise Invalid
    if rule["kind"] == "string":
        return [value]
    if any(not " " <= c <= "~" or c in '"\\' for c in value):
        raise Invalid
    return [word for word in value.split(" ") if word]


def identifier(claims, name):
    value = claims.get(name)
    if name in claims and not (isinstance(value, str) and 1 <= len(value.encode()) <= 256):
        raise Invalid
    return value


class Caller:
    def __init__(self, policy, claims):
        issuer = next(i for i in policy["issuers"].values() if i["iss"] == claims["iss"])
        rules, limits = issuer["claims"], policy.get("limits", {})
        self.sub, self.jti = identifier(claims, "sub"), identifier(claims, "jti")
        self.client = identifier(claims, "azp" if "client_id" in rules else "client_id")
        if self.sub is None:
            raise Invalid
        self.scopes = values_at(claims, rules["scopes"])
        if len(self.scopes) > limits.get("max_scopes", 128):
            raise Invalid
        groups = values_at(claims, rules.get("groups"))
        signs = rules.get("groups", {}).get("overage", [])
        left_out = len(groups) > limits.get("max_groups", 256) or any(claims.get(s, False) is not False for s in signs)
        self.groups = None if left_out else groups
        self.tenant = self.tenant_of(issuer, claims)

    @staticmethod
    def tenant_of(issuer, claims):
        try:
            value, _ = find(claims, issuer["claims"]["tenant"]["path"])
        except Invalid:  # no tenant is no documents, and no reason to refuse the token
            return None
        return issuer["tenants"].get(value) if isinstance(value, str) else None

    def meets(self, condition):
        return all(self.meets_one(name, wanted) for name, wanted in condition.items())

    def meets_one(self, name, wanted):
        have = {"scopes": self.scopes, "groups": self.groups, "client_ids": [self.client]}[name.rsplit("_", 1)[0]]
        if have is None or not wanted:
            return False
        found = [value in have for value in wanted]
        return all(found) if name.endswith("_all") else any(found)

    def is_revoked(self, policy):
        revoked = policy.get("revoked", {})
        return self.jti in revoked.get("jti", []) or self.sub in revoked.get("sub", []) or self.client in revoked.get("client_id", [])


def holds(names, value):
    return names == ["*"] or value in names


def grant_shows(allow, collection, doc_type, labels):
    every = allow["labels"] == ["*"] or (labels and all(label in allow["labels"] for label in labels))
    return holds(allow["collections"], collection) and holds(allow["doc_types"], doc_type) and bool(every)


def deny_hides(match, collection, doc_type, labels):
    return (
        ("collections" not in match or holds(match["collections"], collection))
        and ("doc_types" not in match or holds(match["doc_types"], doc_type))
        and ("labels_any" not in match or any(label in match["labels_any"] for label in labels))
    )


def may_see(policy, caller, document):
    collection, doc_type, labels = document
    if not collection or not doc_type or caller.tenant is None:
        return False
    grants = [g for g in policy["grants"] if caller.tenant in g["tenants"] and caller.meets(g.get("when", {}))]
    denies = [d for d in policy.get("denies", []) if "unless" not in d or not caller.meets(d["unless"])]
    return (
        len(grants) <= policy.get("limits", {}).get("max_matched_grants", 64)
        and any(grant_shows(g["allow"], *document) for g in grants)
        and not any(deny_hides(d["match"], *document) for d in denies)
    )


def judge(policy, claims, documents) -> str:
    try:
        caller = Caller(policy, claims)
    except Invalid:
        return "invalid"
    if caller.is_revoked(policy):
        return "revoked"
    return "".join("01"[may_see(policy, caller, document)] for document in documents)


# --- the test ---


@pytest.mark.security
@pytest.mark.timeout(3600)
def test_the_compiled_filter_agrees_with_a_naive_judge_on_every_document():
    assert HELPER.exists(), f"no {HELPER}: build the target policy_filter"
    seed = int(os.environ.get("KB_SEED", time.time()))
    print(f"seed {seed}")
    rng = random.Random(seed)
    seen = {"0": 0, "1": 0, "invalid": 0, "revoked": 0}
    with subprocess.Popen([HELPER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as helper:
        for _ in range(TRIPLES // (CALLERS * DOCUMENTS)):
            drawn = draw_policy(rng)
            text = write(rng, drawn)
            callers = [draw_claims(rng, drawn) for _ in range(CALLERS)]
            documents = [draw_document(rng) for _ in range(DOCUMENTS)]
            helper.stdin.write(json.dumps({"policy": text, "now": NOW, "callers": callers, "docs": documents}) + "\n")
            helper.stdin.flush()
            policy = yaml.load(text, yaml.SafeLoader)
            answers = helper.stdout.readline().split()
            assert len(answers) == CALLERS, f"seed {seed}: {helper.stderr.read()}\n{text}"
            for claims, answer in zip(callers, answers):
                expected = judge(policy, claims, documents)
                assert answer == expected, f"seed {seed}: {json.dumps(claims)}\n{documents}\n{text}"
                for outcome in answer if answer[0] in "01" else [answer]:
                    seen[outcome] += 1
        helper.stdin.close()
    assert helper.returncode == 0
    print(seen)
    total = seen["0"] + seen["1"]
    assert total > TRIPLES / 2 and total / 50 < seen["1"] < total / 2 and seen["invalid"] and seen["revoked"], f"not all outcomes were drawn: {seen}"
