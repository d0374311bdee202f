# Other Debian systems, in folders. Sourced by the tests that build or install in one. They are downloaded once, into
# build/.roots (SwiftPM searches folders that are not hidden), and need root: programs run in them by chroot(8), with namespaces
# of their own.
# shellcheck shell=bash

skip() {
    echo "SKIP: $*"
    exit 77
}

[ "$(id -u)" = 0 ] || skip "only root can make and enter the root folder of another system"
command -v mmdebstrap >/dev/null || skip "no mmdebstrap on the PATH (make deps-world installs it)"

# make_root NAME VARIANT SUITE PACKAGE...: build/.roots/NAME. The variant `minbase` is a whole system; `extract` has only
# the packages, unpacked. ARCHITECTURE=armhf make_root...: of another machine.
make_root() {
    local root=build/.roots/$1 lock
    shift
    mkdir -p build/.roots
    exec {lock}>"$root.lock"
    flock "$lock"
    if [ "$(cat "$root.packages" 2>/dev/null)" != "${ARCHITECTURE:-}$*" ]; then
        rm -rf "$root"
        fill_root "$root" "$@" >"$root.log" 2>&1 || skip "no Debian $2 could be made: $(grep -m1 '^E:' "$root.log")"
        echo "${ARCHITECTURE:-}$*" >"$root.packages"
    fi
    exec {lock}>&-
}

fill_root() { # folder, variant, suite, packages
    local root=$1 variant=$2 suite=$3
    shift 3
    # A copy begins with the lists of packages, and dpkg does not wait there until the disk has each file.
    # mmdebstrap mounts sysfs in the folder. If a program still uses it at the end, it stays mounted. A mount namespace of
    # its own ends with mmdebstrap.
    unshare --mount mmdebstrap --quiet --variant="$variant" --include="$*" --skip=check/empty \
        ${ARCHITECTURE:+--architectures="$ARCHITECTURE"} \
        --skip=cleanup/apt/lists --aptopt='Acquire::Languages "none"' --dpkgopt=force-unsafe-io \
        "$suite" "$root" "$(Tests/debian-mirror)" || return
    mkdir -p "$root"/{proc,sys,dev,tree,build}
    # Their packages' scripts make these links.
    if [ ! -e "$root/bin" ]; then ln -s usr/bin "$root/bin"; fi
    if [ ! -e "$root/bin/sh" ]; then ln -s dash "$root/bin/sh"; fi
}

# copy_root NAME FOLDER: makes FOLDER a copy of build/.roots/NAME. If the kernel allows an overlay, FOLDER has only the files that
# differ.
copy_root() {
    local overlay="lowerdir=$PWD/build/.roots/$1,upperdir=$2,workdir=$2.work"
    mkdir -p "$2/build" "$2.work" "$2.merged"
    if unshare --mount mount -t overlay overlay -o "$overlay" "$2.merged" 2>/dev/null; then
        echo "$overlay" >"$2.overlay"
    else
        rm -rf "$2"
        cp -a "build/.roots/$1" "$2"
    fi
}

# in_root ROOT COMMAND...: runs a command in /build, with this tree at /tree, read-only. If ROOT has a folder /swift, the toolchain
# of this machine is there.
in_root() {
    # shellcheck disable=SC2016 # the inner shell expands it
    unshare --mount --pid --fork --kill-child sh -euc '
        root=$0
        if [ -e "$0.overlay" ]; then
            root=$0.merged
            mount -t overlay overlay -o "$(cat "$0.overlay")" "$root"
        fi
        mount -t proc proc "$root/proc"
        mount --rbind /dev "$root/dev"
        mount --bind . "$root/tree"
        mount -o remount,bind,ro "$root/tree"
        if [ -d "$root/swift" ]; then
            mount --bind "$(dirname "$(readlink -f "$(command -v swift)")")/.." "$root/swift"
            mount -o remount,bind,ro "$root/swift"
        fi
        cd "$root"
        exec chroot . /usr/bin/env -i PATH=/swift/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/build LC_ALL=C.UTF-8 \
            sh -euc "cd /build && exec \"\$@\"" sh "$@"' "$@"
}

# toggle_in_root TITLE ROOT FOLDER: a C program in ROOT, with the library that a package has installed in FOLDER there, sees a
# route change.
toggle_in_root() {
    cc -o "$2/build/watch" Tests/consumers/watch.c -Iinclude "$2$3/libreachability.so.0"
    # shellcheck disable=SC2016 # the inner shell expands it
    Tests/consumers/toggle "$1" "the package" bash -c '. Tests/world/root.sh
        in_root "$0" env LD_LIBRARY_PATH="$1" stdbuf -oL ./watch "${@:2}"' "$2" "$3"
}
