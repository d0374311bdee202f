// SPDX-License-Identifier: MIT

#if Tool
import TestSupport
import Testing

@Suite("Completions", .limited)
struct CompletionTests {
    @Test("bash completes", .installed("bash"))
    func bash() async throws {
        try await expectCompletions(by: ["bash", "-c", bashScript])
    }

    @Test("zsh completes", .installed("zsh"))
    func zsh() async throws {
        try await expectCompletions(by: ["zsh", "-f", "-c", zshScript])
    }

    @Test("fish completes", .installed("fish"))
    func fish() async throws {
        try await expectCompletions(by: ["sh", "-c", fishScript])
    }

    private func expectCompletions(
        by shell: [String], _ location: SourceLocation = #_sourceLocation
    ) async throws {
        let ended = try await RunningProcess(shell + [Tool.path] + expectations.map(\.line)).end()
        #expect(ended.errors == "", sourceLocation: location)
        let answers = ended.output.split(separator: "----\n", omittingEmptySubsequences: false).dropLast()
        try #require(answers.count == expectations.count, "\(ended.output)", sourceLocation: location)
        for (expectation, answer) in zip(expectations, answers) {
            // fish adds a tab and a description to a word.
            let words = answer.split(separator: "\n").compactMap { $0.split(separator: "\t").first }
            #expect(expectation.isMet(Set(words)), "\(expectation.line): \(words)", sourceLocation: location)
        }
    }
}

/// A line with the cursor at its end, and a condition for the words that the shell offers.
private let expectations: [(line: String, isMet: @Sendable (Set<Substring>) -> Bool)] = [
    ("reachability ", { $0.isSuperset(of: ["check", "watch", "wait", "help"]) && !$0.contains("scutil") }),
    ("reachability wa", { $0 == ["watch", "wait"] }),
    (
        "reachability wait --",
        {
            $0 == [
                "--any", "--not", "--for", "--print", "--timeout", "--file", "--netns", "--interface", "--source",
                "--tcp", "--udp",
                "--mark", "--format", "--color", "--flags", "--json",
                "--quiet", "--debug", "--version",
                "--help",
            ]
        }
    ),
    ("reachability watch --json 127.0.0.1 --ex", { $0 == ["--exec", "--exec-initial"] }),
    ("reachability check --interface ", { $0.contains("lo") }),
    ("reachability check --interface l", { $0.contains("lo") && $0.allSatisfy { $0.hasPrefix("l") } }),
    ("reachability check --format ", { $0 == ["text", "json", "tsv"] }),
    // A free value: the shell must not offer names of files.
    ("reachability check --timeout ", { $0.isEmpty }),
    ("reachability check ", { $0.isDisjoint(with: ["Package.swift", "lo"]) }),
]

extension Trait where Self == ConditionTrait {
    fileprivate static func installed(_ shell: String) -> Self {
        .enabled("there is no \(shell) on the PATH") {
            try await RunningProcess(["sh", "-c", "command -v \(shell)"]).end().status == 0
        }
    }
}

// Each script gets the tool and lines. For each line it prints the words that may follow, and a line of dashes.

private let bashScript = """
    source <("$0" --generate-completion-script bash)
    for COMP_LINE; do
        read -ra COMP_WORDS <<<"$COMP_LINE"
        if [[ $COMP_LINE == *' ' ]]; then COMP_WORDS+=(''); fi
        COMP_POINT=${#COMP_LINE} COMP_CWORD=$((${#COMP_WORDS[@]} - 1)) COMPREPLY=()
        _reachability reachability "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
        printf '%s\\n' "${COMPREPLY[@]}" ----
    done
    """

/// zsh completes only in its line editor, which needs a terminal. Every word goes through `compadd`. A function replaces
/// it and prints the words, except with -A, -O or -D, which only fill arrays.
private let zshScript = #"""
    folder=$(mktemp -d)
    trap 'rm -rf $folder' EXIT
    "$0" --generate-completion-script zsh >$folder/_reachability
    print -rl -- "$@" >$folder/lines
    cat >$folder/.zshrc <<'END'
    autoload -Uz compinit && compinit -u -D
    compadd() {
        if [[ -z ${argv[(r)-[AOD]]} ]]; then
            local -a words
            builtin compadd -O words "$@"
            print -rl -u3 -- $words
        fi
        builtin compadd "$@"
    }
    zle-line-init() {
        while IFS= read -r LBUFFER; do
            zle list-choices
            print -u3 -- ----
        done <$ZDOTDIR/lines
        exit
    }
    zle -N zle-line-init
    END
    zmodload zsh/zpty
    exec 3>&1
    export ZDOTDIR=$folder FPATH=$folder:$FPATH
    zpty shell zsh -d -i
    while zpty -r shell; do :; done >/dev/null
    """#

/// fish creates folders for its history in the home folder.
private let fishScript = """
    HOME=$(mktemp -d)
    export HOME
    trap 'rm -rf "$HOME"' EXIT
    "$0" --generate-completion-script fish >"$HOME/completions"
    fish --no-config -c '
        source ~/completions
        for line in $argv
            complete -C $line
            echo ----
        end' "$@"
    """
#endif
