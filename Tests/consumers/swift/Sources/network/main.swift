// Code as it is written for Apple's Network. The program ends when everything has been called.

import Foundation
import Network

func check(_ condition: Bool, _ what: String) {
    guard !condition else { return }
    print("failed: \(what)")
    exit(1)
}

let done = DispatchGroup()

// A monitor with a handler, which another object wraps.
let monitor = NWPathMonitor(requiredInterfaceType: .loopback)
check(monitor.currentPath.status == .unsatisfied, "a monitor that is not started is not satisfied")
done.enter()
monitor.pathUpdateHandler = { path in
    check(path.status == .satisfied, "lo is up")
    check(path.availableInterfaces.first?.type == .loopback, "lo is a loopback interface")
    check(describe(path)["status"] == "satisfied", "a path has a description")
    done.leave()
}
let wrapped = monitor.pathUpdateHandler
monitor.pathUpdateHandler = { path in
    wrapped?(path)
    monitor.cancel()
}
monitor.start(queue: DispatchQueue(label: "monitor"))

// A model, which posts a notification.
let model = ConnectivityModel()
done.enter()
let token = NotificationCenter.default.addObserver(
    forName: ConnectivityModel.didChange, object: model, queue: .main
) { _ in
    check(model.isConnected == (model.connection != .none), "the model has a state")
    model.stop()
    done.leave()
}
model.start()

// An asynchronous sequence.
done.enter()
Task {
    for await path in NWPathMonitor(prohibitedInterfaceTypes: [.cellular, .other]) {
        check(!path.usesInterfaceType(.cellular), "a prohibited type is not used")
        break
    }
    done.leave()
}

check(isPrivate(.hostPort(host: "10.1.2.3", port: 443)), "10.1.2.3 is private")
check(
    !isPrivate(.hostPort(host: NWEndpoint.Host("192.0.2.1"), port: NWEndpoint.Port(rawValue: 80)!)), "and this is not")

done.notify(queue: .main) { exit(0) }
DispatchQueue.main.asyncAfter(deadline: .now() + 20) { check(false, "everything is called") }
RunLoop.main.run()
