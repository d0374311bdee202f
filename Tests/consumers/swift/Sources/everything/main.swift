// Every product in one file, and names of each.

import CReachability
import SCReachability

guard let target = SCNetworkReachabilityCreateWithName(nil, "127.0.0.1") else { fatalError("\(SCError())") }
var flags = SCNetworkReachabilityFlags(rawValue: 0)
guard SCNetworkReachabilityGetFlags(target, &flags) else { fatalError("\(SCError())") }
SCNetworkReachabilitySetDispatchQueue(target, .main)
SCNetworkReachabilitySetDispatchQueue(target, nil)
