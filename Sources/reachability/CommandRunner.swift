// SPDX-License-Identifier: MIT

import FoundationEssentials
import Glibc
import NetworkReachability

/// Runs the command of --exec at changes: one at a time, and for each target with its latest state.
final class CommandRunner {
    private let command: String
    private var running: pid_t?
    /// In the order of each target's first change.
    private var waiting: [(target: Target, state: TargetState)] = []

    /// Whether there are changes for which the command has not started yet.
    var isWaiting: Bool { !waiting.isEmpty }

    init(command: String) {
        self.command = command
    }

    func run(for target: Target, _ state: TargetState) {
        if let index = waiting.firstIndex(where: { $0.target === target }) {
            waiting[index].state = state
        } else {
            waiting.append((target, state))
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
            let (target, state) = waiting.removeFirst()
            var environment = ProcessInfo.processInfo.environment
            environment["REACHABILITY_TARGET"] = target.text
            environment["REACHABILITY_FLAGS"] = "\(state.path.flags)"
            environment["REACHABILITY_STATUS"] = state.status.rawValue
            environment["REACHABILITY_REASON"] = state.reasonCode ?? ""
            environment["REACHABILITY_INTERFACE"] = state.path.interface?.name ?? ""
            environment["REACHABILITY_INTERFACE_TYPE"] = state.path.interface?.type.description ?? ""
            let (child, error) = spawn(environment)
            if error != 0 { StandardError.write("\(command.escaped): \(String(cString: strerror(error)))") }
            running = child
        }
    }

    private func spawn(_ environment: [String: String]) -> (child: pid_t?, error: Int32) {
        let arguments = ["sh", "-c", command].map { $0.withCString { strdup($0) } } + [nil]
        let variables = environment.map { name, value in "\(name)=\(value)".withCString { strdup($0) } } + [nil]
        defer { (arguments + variables).forEach { free($0) } }
        var child = pid_t()
        let error = posix_spawn(&child, "/bin/sh", nil, nil, arguments, variables)
        return (error == 0 ? child : nil, error)
    }
}
