# For what builds Swift programs that use this package. $folder is an empty one; in $folder/libreachability is the tree,
# which is also a git repository with a version. No git server is within reach, whatever this machine's configuration
# says, and no cache: a program builds with what is here, or not at all.

if ! command -v swift >/dev/null; then
    echo "SKIP: no swift on the PATH"
    exit 77
fi
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

# Makes $folder/NAME of the package in DIRECTORY: consumer NAME DIRECTORY path|git
consumer() {
    cp -r "$2" "$folder/$1"
    if [ "$3" = git ]; then
        sed -i "s|\.package(path: .*)|.package(url: \"file://$folder/libreachability\", from: \"0.1.0\")|" \
            "$folder/$1/Package.swift"
    fi
}

swift_build() {
    swift build --cache-path "$folder/cache" --disable-dependency-cache "$@"
}
