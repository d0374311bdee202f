# Packages of the tool contain the one that `make tool` builds here, so that it is not compiled once more for each kind of
# package: deb-tool compiles that of the source archive. Sourced by tests that make packages.
# shellcheck shell=bash

# provide_built_tool FOLDER: puts a program `swift` in FOLDER on the PATH, before the toolchain's. It expects what `make tool`
# calls, in a folder with a whole package.
provide_built_tool() {
    local swift
    Tests/need-swift >/dev/null || return 0
    swift=$(command -v swift)
    make --no-print-directory -s tool >"$1.log" 2>&1 || { cat "$1.log"; return 1; }
    mkdir "$1"
    cp .build/tool/*/release/reachability "$1"
    cat >"$1/swift" <<END
#!/bin/sh
case "\$*" in
*" --traits Tool --static-swift-stdlib "*" --show-bin-path") echo "$1" ;;
*" --traits Tool --static-swift-stdlib "*" --product reachability") "$swift" package describe >/dev/null ;;
*) exec "$swift" "\$@" ;;
esac
END
    chmod +x "$1/swift"
    PATH=$1:$PATH
}
