// SPDX-License-Identifier: MIT

import Glibc
import NetworkReachability

/// Runs the command of --exec at changes: one at a time, and for each target with its latest state.
final class CommandRunner {
    private let command: String
    private var running: pid_t?
    /// In the order of each target's first change.
    private var waiting: [Run] = []

    private struct Run {
        let target: Target
        /// What the last command for this target has seen; nil: there was none before.
        let previous: TargetState?
        var state: TargetState
        var time: LocalTime
    }

    /// Whether there are changes for which the command has not started yet.
    var isWaiting: Bool { !waiting.isEmpty }

    init(command: String) {
        self.command = command
    }

    /// `previous`: the state before this one; nil: it is the first.
    func run(for target: Target, _ state: TargetState, previous: TargetState?) {
        if let index = waiting.firstIndex(where: { $0.target === target }) {
            waiting[index].state = state
            waiting[index].time = .now
        } else {
            waiting.append(Run(target: target, previous: previous, state: state, time: .now))
        }
        startNext()
    }

    /// Call this after SIGCHLD.
    func commandMayHaveEnded() {
        guard let running, waitpid(running, nil, WNOHANG) != 0 else { return }
        self.running = nil
        startNext()
    }

    private func startNext() {
        while running == nil, !waiting.isEmpty {
            let run = waiting.removeFirst()
            let (child, error) = spawn(variables(of: run))
            if error != 0 { StandardError.write("\(command.escaped): \(String(cString: strerror(error)))") }
            running = child
        }
    }

    /// A missing value is empty: the variables of an outer command would be wrong.
    private func variables(of run: Run) -> [String: String] {
        let path = run.state.path
        return [
            "REACHABILITY_TARGET": run.target.text,
            "REACHABILITY_FLAGS": run.state.status == .pending ? "" : "\(path.flags)",
            "REACHABILITY_STATUS": run.state.status.rawValue,
            "REACHABILITY_REASON": run.state.reasonCode ?? "",
            "REACHABILITY_INTERFACE": path.interface?.name ?? "",
            "REACHABILITY_INTERFACE_TYPE": path.interface?.type.description ?? "",
            "REACHABILITY_GATEWAY": path.gateway?.description ?? "",
            "REACHABILITY_SOURCE": path.source?.description ?? "",
            "REACHABILITY_DESTINATION": path.destination?.description ?? "",
            "REACHABILITY_ADDRESSES": run.state.addresses.map(\.description).joined(separator: " "),
            "REACHABILITY_TIME": run.time.text,
            "REACHABILITY_PREVIOUS_STATUS": run.previous?.status.rawValue ?? "",
            "REACHABILITY_PREVIOUS_REASON": run.previous?.reasonCode ?? "",
        ]
    }

    private func spawn(_ variables: [String: String]) -> (child: pid_t?, error: Int32) {
        let arguments = ["sh", "-c", command].map { $0.withCString { strdup($0) } } + [nil]
        let added = variables.map { name, value in "\(name)=\(value)".withCString { strdup($0) } }
        let inherited = Arguments.environment.filter { entry in
            !variables.keys.contains { strncmp(entry, "\($0)=", $0.utf8.count + 1) == 0 }
        }
        defer { (arguments + added).forEach { free($0) } }
        var child = pid_t()
        let error = posix_spawn(&child, "/bin/sh", nil, nil, arguments, inherited + added + [nil])
        return (error == 0 ? child : nil, error)
    }
}
