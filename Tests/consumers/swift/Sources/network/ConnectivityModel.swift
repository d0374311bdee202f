// Code as it is written for Apple's Network: a model that other code observes.

import Foundation
import Network

final class ConnectivityModel: @unchecked Sendable {
    enum Connection: String {
        case wifi, cellular, ethernet, other, none
    }

    static let didChange = Notification.Name("ConnectivityModelDidChange")

    private let monitor: NWPathMonitor
    private let queue = DispatchQueue(label: "ConnectivityModel", qos: .utility)
    private let lock = NSLock()
    private var _isConnected = false
    private var _connection = Connection.none

    var isConnected: Bool {
        lock.lock()
        defer { lock.unlock() }
        return _isConnected
    }

    var connection: Connection {
        lock.lock()
        defer { lock.unlock() }
        return _connection
    }

    init(monitor: NWPathMonitor = NWPathMonitor()) {
        self.monitor = monitor
    }

    func start() {
        monitor.pathUpdateHandler = { [weak self] path in
            guard let self = self else { return }
            self.lock.lock()
            self._isConnected = path.status == .satisfied
            self._connection = ConnectivityModel.connection(of: path)
            self.lock.unlock()
            DispatchQueue.main.async {
                NotificationCenter.default.post(name: ConnectivityModel.didChange, object: self)
            }
        }
        monitor.start(queue: queue)
    }

    func stop() {
        monitor.cancel()
    }

    private static func connection(of path: NWPath) -> Connection {
        guard path.status != .unsatisfied else { return .none }
        if path.usesInterfaceType(.wifi) {
            return .wifi
        } else if path.usesInterfaceType(.cellular) {
            return .cellular
        } else if path.usesInterfaceType(.wiredEthernet) {
            return .ethernet
        }
        return .other
    }
}
