# shellcheck shell=bash
# Sets "${inside[@]}" to what runs a command in a network namespace of its own. Skips the test if none can be made.

inside=(unshare -n)
if ! "${inside[@]}" true 2>/dev/null; then inside=(unshare -Urn); fi
if ! "${inside[@]}" true 2>/dev/null; then
    echo "SKIP: no network namespace can be made here"
    exit 77
fi
