# What is installed searches its libraries where the system does: no RPATH, no RUNPATH. Else a library that somebody puts
# beside a binary is loaded. Sourced by the tests that install.
# shellcheck shell=bash

# expect_no_search_path FOLDER: looks at each program and shared library in it.
expect_no_search_path() {
    local file seen=0
    while IFS= read -r -d '' file; do
        [ "$(head -c 4 "$file" | tr -d '\0')" = $'\x7fELF' ] || continue
        case $file in *.a | *.o) continue ;; esac
        seen=$((seen + 1))
        if readelf --dynamic --wide "$file" | grep -E '\((RPATH|RUNPATH)\)'; then
            echo "^^ $file"
            return 1
        fi
    done < <(find "$1" -type f -print0)
    [ "$seen" -gt 0 ] || { echo "no binary in $1"; return 1; }
}
