import Network
import One
import Two

let path = NWPathMonitor().currentPath
guard One.isLoopbackUp(), Two.isLoopbackUp(), One.status(of: path) == .unsatisfied, Two.status(of: path) == .unsatisfied
else { fatalError("the packages do not agree") }
print("all agree")
