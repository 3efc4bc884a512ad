# SPDX-License-Identifier: Apache-2.0
# For scripts that measure a running kbgate, which source it: build, corpus, keys, policy, servers.
# It makes the folder $work and, when the script ends, stops what was started and removes that.

name=${0##*/}
die() { echo "tests/bench/$name: $1" >&2; exit "${2:-1}"; }
usage() { sed -n '2,${/^#/!q;s/^# \{0,1\}//p}' "$0"; }
is_number() { [[ $1 =~ ^[1-9][0-9]{0,6}$ ]]; }

build() { # PRESET TARGET
    { [ -f "build/$1/build.ninja" ] || cmake --preset "$1" >/dev/null; } &&
        cmake --build --preset "$1" --target "$2" >&2 || die "the build failed; see above"
}

work=$(mktemp -d)
children=()
cleanup() {
    [ ${#children[@]} = 0 ] || { kill -TERM "${children[@]}"; wait "${children[@]}"; } 2>/dev/null || true
    rm -rf "$work"
}
trap cleanup EXIT
trap 'exit 130' INT TERM HUP

make_store() { # KBGATE CHUNKS: $work/store and $work/words.txt, the words of its text
    echo "ingesting $2 chunks" >&2
    python3 "$here/corpus.py" "$2" "$work/corpus.jsonl" "$work/words.txt"
    "$1" ingest --store "$work/store" "$work/corpus.jsonl" --collection bench --doc-type article \
        --label public >"$work/ingest.log" 2>&1 || { cat "$work/ingest.log" >&2; die "ingest failed"; }
    rm "$work/corpus.jsonl"
}

coordinate() { # FIRST_BYTE: the last 64 bytes of the public key are x and y
    openssl pkey -in "$work/token.pem" -pubout -outform DER | tail -c "$1" | head -c 32 |
        openssl base64 -A | tr '+/' '-_' | tr -d '='
}

make_keys() { # and the policy
    umask 077
    for key in fence audit cache; do
        openssl rand -out "$work/$key.key" 32
    done
    openssl genpkey -quiet -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out "$work/token.pem"
    printf '{"keys":[{"kty":"EC","crv":"P-256","alg":"ES256","kid":"bench","x":"%s","y":"%s"}]}\n' \
        "$(coordinate 64)" "$(coordinate 32)" >"$work/jwks.json"
    cat >"$work/policy.yaml" <<'POLICY'
policy_version: 1
issuers:
  bench:
    iss: "http://127.0.0.1/bench"
    jwks_file: jwks.json
    audiences: ["http://127.0.0.1/mcp"]
    algs: [ES256]
    typ_any: true
    development: true
    claims:
      scopes: {path: scope, kind: space_string}
      tenant: {path: tid, kind: string}
    tenants: {"bench": bench}
grants:
  - id: all
    tenants: [bench]
    when: {scopes_all: ["kb:read"]}
    allow: {collections: ["*"], doc_types: ["*"], labels: ["*"]}
challenge_scopes: ["kb:read"]
POLICY
}

write_config() { # NAME LIMITS: $work/NAME.yaml; LIMITS of a tenant and of a subject; more lines from standard input
    { cat <<CONFIG
listen: "127.0.0.1:0"
admin_listen: "127.0.0.1:0"
public_url: "http://127.0.0.1/mcp"
policy_file: policy.yaml
store: store
fence_key_file: fence.key
audit_key_file: audit.key
token_key_file: token.pem
budgets:
  tenant: $2
  subject: $2
CONFIG
      cat; } >"$work/$1.yaml"
}

mint() { # KBGATE NAME: $work/token
    "$1" token --config "$work/$2.yaml" --tenant bench --sub bench --scope kb:read --ttl 1d >"$work/token"
}

serve() { # KBGATE NAME: waits until it serves; sets pid, port, admin
    local listening
    mkfifo "$work/$2.listening"
    "$1" serve --config "$work/$2.yaml" >"$work/$2.listening" 2>"$work/$2.log" &
    pid=$!
    children+=("$pid")
    read -r listening <"$work/$2.listening" || { cat "$work/$2.log" >&2; die "kbgate does not serve"; }
    port=$(port_of listening "$listening") admin=$(port_of admin "$listening")
}
port_of() { sed -E "s/.*\"$1\":\"[^\"]*:([0-9]+)\".*/\1/" <<<"$2"; }
