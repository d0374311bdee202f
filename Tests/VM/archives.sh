# Debian's packages, downloaded and unpacked into folders. Sourced by `packages` and `kernel`.
#
# Nothing here may install a package: a kernel, hostapd or pppd would change this machine. It needs no root.
# shellcheck shell=bash
apt=(-q -y -o Debug::NoLocking=true -o APT::Sandbox::User=root)

skip() {
    echo "SKIP: $*"
    exit 77
}

[ "$(dpkg --print-architecture 2>/dev/null)" = amd64 ] || skip "the emulated machine needs Debian's amd64 packages"

# unpack TREE ARCHIVE...: with Debian's merged /usr, as the machine mounts the tree over this machine's files.
unpack() {
    local tree=$1 name archive
    shift
    rm -rf "$tree"
    for name in bin sbin lib lib64; do
        mkdir -p "$tree/usr/$name"
        ln -s "usr/$name" "$tree/$name"
    done
    for archive; do
        dpkg-deb --fsys-tarfile "$archive" | tar -x -C "$tree" --keep-directory-symlink --no-same-owner
    done
}
