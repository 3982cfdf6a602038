# Sourced by the scripts in this folder: starts a debug build of the server and sets $url, $data and $server.
# The server ends, and its data goes, when the script does.

admin_key=an-admin-key-for-this-run-only service_key=a-service-key-for-this-run-only

start_server() { # SETTINGS
    data=$(mktemp -d)
    ROPELINE_ADMIN_KEY=$admin_key ROPELINE_SERVICE_KEY=$service_key "${CARGO_TARGET_DIR:-target}/debug/ropeline" \
        --config "$1" --data "$data" --listen 127.0.0.1:0 >"$data/out" 2>"$data/log" &
    server=$!
    # It writes its files until it has ended.
    trap 'kill $server 2>/dev/null; wait $server || true; rm -rf "$data"' EXIT
    url=
    for _ in $(seq 100); do
        url=$(sed -n 's/^ *listening *//p' "$data/out")
        [[ -n $url ]] && curl --silent --fail --output /dev/null "$url/readyz" && return
        sleep 0.1
    done
    cat "$data/log" >&2
    exit 1
}

# A new place in the line.
new_token() {
    curl --silent --fail -X POST "$url/api/v1/queue/tokens" | sed 's/.*"token":"\([^"]*\)".*/\1/'
}

# The login of a new buyer.
new_login() {
    curl --silent --fail -X POST "$url/user" --json '{"name":"Kim"}' | sed 's/.*"accessToken":"\([^"]*\)".*/\1/'
}
