import CReachability

var flags: SCNetworkReachabilityFlags = []
guard let target = SCNetworkReachabilityCreateWithName(nil, "127.0.0.1"),
    SCNetworkReachabilityGetFlags(target, &flags)
else { fatalError(String(cString: SCErrorString(SCError()))) }
print(flags.rawValue)
