# Packages of the tool contain the one that `make tool` builds here, so that it is not compiled once more for each kind of
# package. The source archive would give the same: it has the same sources. Sourced by tests that make packages.
# shellcheck shell=bash

# provide_built_tool FOLDER: puts a program `swift` in FOLDER on the PATH, before the toolchain's. It expects what `make tool`
# calls, in a folder with the sources that the tool here was built from.
provide_built_tool() {
    local swift sources=(Package.swift Sources CSources include Tests/TestSupport Tests/*Tests)
    Tests/need-swift >/dev/null || return 0
    swift=$(command -v swift)
    Tests/make-tool || return
    mkdir "$1"
    cp .build/tool/*/release/reachability "$1"
    cat >"$1/swift" <<END
#!/bin/sh
case "\$*" in
*" --traits Tool --static-swift-stdlib "*" --show-bin-path") echo "$1" ;;
*" --traits Tool --static-swift-stdlib "*" --product reachability") for each in ${sources[*]}; do diff -rq "$PWD/\$each" "\$each" || exit; done ;;
*) exec "$swift" "\$@" ;;
esac
END
    chmod +x "$1/swift"
    PATH=$1:$PATH
}
