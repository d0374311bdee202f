// SPDX-License-Identifier: MIT
// The same as consumer.c in C++: it creates a target with options, and reads its path.
#include <cstdio>
#include <cstring>
#include <memory>
#include <reachability/reachability.h>

struct Release {
    void operator()(SCNetworkReachabilityRef target) const
    {
        SCNetworkReachabilityRelease(target);
    }
};

int main(int count, char **arguments)
{
    SCNetworkReachabilityOptions options = kSCNetworkReachabilityOptionsInitializer;
    SCNetworkReachabilityPath path = kSCNetworkReachabilityPathInitializer;

    options.nodename = "127.0.0.1";
    std::unique_ptr<const SCNetworkReachability, Release> target(
        SCNetworkReachabilityCreateWithOptions(nullptr, &options));
    if (!SCNetworkReachabilityGetPath(target.get(), &path)) {
        std::fprintf(stderr, "%s\n", SCErrorString(SCError()));
        return 1;
    }
    return count == 2 && std::strcmp(arguments[1], SCNetworkReachabilityGetVersion()) == 0 && path.addressCount == 1
               ? 0
               : 1;
}
