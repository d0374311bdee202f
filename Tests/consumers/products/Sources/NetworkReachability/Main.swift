import NetworkReachability

@main
struct Main {
    static func main() async throws {
        let local = try ReachabilityMonitor(address: "127.0.0.1", options: ReachabilityOptions(settleTime: .seconds(1)))
        for await path in local {
            print(path, path.interface?.name ?? "-")
            break
        }
        let script = ReachabilityScript(.unreachable(.noCarrier))
        let monitor = ReachabilityMonitor(script: script)
        let observation = monitor.observe { path in
            if !path.isReachable { script.play(.reachable) }
        }
        try await monitor.waitUntilReachable(timeout: .seconds(50))
        observation.cancel()
        do throws(ReachabilityError) {
            _ = try ReachabilityMonitor(host: "https://example.com")
        } catch {
            print(error, error.code == .invalidHost)
        }
    }
}
