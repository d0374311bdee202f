# Functions for scripts that build Swift programs with this package. Sourcing this makes a temporary $folder, and in
# $folder/libreachability a copy of the tree, which is also a git repository with a version. No git server can be reached
# and there is no cache: a program builds with these files alone, or fails.

Tests/need-swift || exit
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
mkdir "$folder/libreachability"
tar -c --exclude=./build --exclude=./.build --exclude=./.git --exclude=./Package.resolved . |
    tar -x -C "$folder/libreachability"

cat >"$folder/gitconfig" <<END
[url "file://$folder/nowhere/"]
    insteadOf = https://
    insteadOf = git@
    insteadOf = ssh://
[user]
    name = nobody
    email = nobody@example.com
END
export GIT_CONFIG_GLOBAL=$folder/gitconfig GIT_CONFIG_NOSYSTEM=1 GIT_CONFIG_COUNT=0
git -C "$folder/libreachability" init -q
git -C "$folder/libreachability" add -A
git -C "$folder/libreachability" commit -qm "The tree"
git -C "$folder/libreachability" tag 0.1.0

# Copies the package in DIRECTORY to $folder/NAME. It depends on the library by its path, or on the git repository:
# make_consumer NAME DIRECTORY path|git
make_consumer() {
    cp -r "$2" "$folder/$1"
    if [ "$3" = git ]; then
        sed -i "s|\.package(path: .*)|.package(url: \"file://$folder/libreachability\", from: \"0.1.0\")|" \
            "$folder/$1/Package.swift"
    fi
}

# Without an index, which is for editors.
swift_build() {
    swift build --cache-path "$folder/cache" --disable-dependency-cache --disable-index-store "$@"
}
