# shellcheck shell=bash
# Functions for the scripts in languages/. Sourcing this makes a temporary $folder, and installs the library in
# $folder/root. pkg-config finds it there, and so does the dynamic loader.

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
# With DESTDIR, `make install` does not run ldconfig. Only one ldconfig may run at a time.
make --no-print-directory -s install DESTDIR=/ PREFIX="$folder/root" >"$folder/install.log" 2>&1 ||
    { cat "$folder/install.log"; exit 1; }
export PKG_CONFIG_PATH=$folder/root/lib/pkgconfig LD_LIBRARY_PATH=$folder/root/lib
# What the languages write besides: caches and settings.
export HOME=$folder XDG_CACHE_HOME=$folder/cache

fail() {
    echo "$*"
    exit 1
}

# Skips if none of the programs is on the PATH: need PROGRAM... PACKAGE (by Debian's name)
need() {
    local name
    for name in "${@:1:$#-1}"; do command -v "$name" >/dev/null && return; done
    echo "SKIP: no $1 on the PATH (package ${*: -1})"
    exit 77
}

# Skips if a file that a package installs is missing: need_file FILE PACKAGE
need_file() {
    if [ ! -e "$1" ]; then
        echo "SKIP: no $1 (package $2)"
        exit 77
    fi
}

# Runs a command that must succeed and print nothing.
silent() {
    local output
    output=$("$@" 2>&1) || { echo "$output"; fail "$1 failed"; }
    [ -z "$output" ] || { echo "$output"; fail "$1 printed this"; }
}

# Runs a command, and shows its output only if it fails.
quiet() {
    "$@" >"$folder/output" 2>&1 || { cat "$folder/output"; fail "$1 failed"; }
}
