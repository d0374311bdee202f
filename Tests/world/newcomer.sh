# The first commands of a newcomer, executed as a page has them, in a Debian system with nothing else, with a clock beside each.
# Sourced by the tests newcomer-*. There is no limit of time.
# shellcheck shell=bash

. Tests/world/root.sh
git rev-parse --git-dir >/dev/null 2>&1 || skip "this is no git repository, so there is nothing to clone"
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

fail() {
    echo "$*"
    exit 1
}

# commands_of PAGE FROM KIND [MOST]: sets `commands` to those of the first block of this kind after the line that matches FROM: at
# most three, or MOST.
commands_of() {
    local most=${4:-3}
    # shellcheck disable=SC2016 # these are patterns
    mapfile -t commands < <(sed -n "/$2/,\$p" "$1" | sed -n '/^```'"$3"'$/,/^```$/p' | sed '/^```$/q' | grep -v '^```' |
        if [ "$3" = console ]; then sed -n 's/^\$ //p'; else cat; fi)
    [ "${#commands[@]}" -gt 0 ] || fail "$1 has no commands after $2"
    [ "${#commands[@]}" -le "$most" ] || fail "$1 has more than $most commands after $2: ${#commands[@]}"
}

# new_system [PACKAGE...]: $folder/root, with these packages. A clone there is of the last commit of this repository.
new_system() {
    make_root bookworm minbase bookworm apt
    cp -a build/.roots/bookworm "$folder/root"
    if [ $# != 0 ]; then
        in_root "$folder/root" sh -euc 'apt-get update && exec apt-get install -y --no-install-recommends "$@"' sh "$@" \
            >"$folder/log" 2>&1 || { cat "$folder/log"; fail "no system with $*"; }
    fi
    git clone --quiet --bare --depth 1 "file://$PWD" "$folder/root/source.git"
    cat >"$folder/root/answer" <<'SCRIPT'
[ -p answers ] || mkfifo answers
bash -c "$1" >answers 2>&1 & # bash replaces itself by a single command, so that this ends when it is killed
while read -r line; do
    echo "$line"
    if echo "$line" | grep -qE "$2"; then
        kill $! 2>/dev/null || true
        wait $! || true # for its processor time
        exit # and with this process, the first of its namespace, all others end
    fi
done <answers
exit 1
SCRIPT
}

# new_swift_system: the same with Swift, make, and the packages of swift.org's list for Debian 12. GitHub's repositories are searched
# in /github, which is empty.
new_swift_system() {
    new_system make binutils-gold gcc git libcurl4-openssl-dev libedit-dev libicu-dev libncurses-dev libpython3-dev libsqlite3-dev \
        libstdc++-12-dev libxml2-dev pkg-config tzdata uuid-dev
    mkdir -p "$folder/root/swift"
    printf '[url "file:///github/"]\n    insteadOf = https://github.com/\n' >"$folder/root/etc/gitconfig"
}

# copy_argument_parser: the package that the tool needs, in /github.
copy_argument_parser() {
    mkdir -p "$folder/root/github/apple"
    git clone --quiet --bare https://github.com/apple/swift-argument-parser "$folder/root/github/apple/swift-argument-parser" ||
        skip "the tool's Swift package cannot be fetched here"
}

# step TITLE COMMAND [PATTERN]: executes a command of the newcomer until it ends, or until it prints a line that matches PATTERN. Then
# a row says how many seconds have passed, and how many seconds of processor time it took.
step() {
    local title=$1 command=${2/git clone URL/git clone file:///source.git} TIMEFORMAT='%0R | %0U %0S' status=0 took user system
    if [ -n "${3:-}" ]; then set -- sh /answer "$command" "$3"; else set -- sh -euc "$command"; fi
    { time in_root "$folder/root" "$@" >"$folder/log" 2>&1; } 2>"$folder/time" || status=$?
    [ "$status" = 0 ] || { cat "$folder/log"; fail "$title, exit status $status: $command"; }
    read -r took _ user system <"$folder/time"
    printf '| %-16s | %-100s | %5s | %5s |\n' "$title" "${command/file:\/\/\/source.git/URL}" "$took" $((user + system))
}

# heading: the first two lines of the table.
heading() {
    printf '| %-16s | %-100s | %5s | %5s |\n' newcomer command s "cpu s" --- --- --- ---
}
