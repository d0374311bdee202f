// SPDX-License-Identifier: MIT
// A program in C++ as it is written for macOS: a class around a target, on the main run loop. It prints the flags of
// 192.0.2.1, waits for their change, and prints them again.
#include <CoreFoundation/CFRunLoop.h>
#include <CoreFoundation/CFString.h>
#include <SystemConfiguration/SCNetworkReachability.h>
#include <TargetConditionals.h>

#include <arpa/inet.h>
#include <netinet/in.h>

#include <cstring>
#include <functional>
#include <iostream>
#include <stdexcept>
#include <string>

// As headers of other classes declare it, without the system's headers.
typedef const struct __SCNetworkReachability *SCNetworkReachabilityRef;
struct __CFRunLoop;

namespace net
{

class Reachability
{
  public:
    using Handler = std::function<void(SCNetworkReachabilityFlags)>;

    explicit Reachability(const std::string &host)
        : reference_(SCNetworkReachabilityCreateWithName(nullptr, host.c_str()))
    {
        if (!reference_)
            throw std::invalid_argument(SCErrorString(SCError()));
    }

    explicit Reachability(const sockaddr *address)
        : reference_(SCNetworkReachabilityCreateWithAddress(kCFAllocatorDefault, address))
    {
        if (!reference_)
            throw std::invalid_argument(SCErrorString(SCError()));
    }

    Reachability(const Reachability &) = delete;
    Reachability &operator=(const Reachability &) = delete;

    ~Reachability()
    {
        stop();
        CFRelease(reference_);
    }

    bool start(CFRunLoopRef loop, CFStringRef mode, Handler handler)
    {
        SCNetworkReachabilityContext context = { 0, nullptr, nullptr, nullptr, copyDescription };

        context.info = this;
        handler_ = std::move(handler);
        if (!SCNetworkReachabilitySetCallback(reference_, callback, &context))
            return false;
        loop_ = loop;
        mode_ = mode;
        return SCNetworkReachabilityScheduleWithRunLoop(reference_, loop, mode);
    }

    void stop()
    {
        if (!loop_)
            return;
        SCNetworkReachabilitySetCallback(reference_, nullptr, nullptr);
        SCNetworkReachabilityUnscheduleFromRunLoop(reference_, loop_, mode_);
        loop_ = nullptr;
    }

    SCNetworkReachabilityFlags flags() const
    {
        SCNetworkReachabilityFlags flags = 0;

        if (!SCNetworkReachabilityGetFlags(reference_, &flags))
            throw std::runtime_error(SCErrorString(SCError()));
        return flags;
    }

  private:
    static void callback(SCNetworkReachabilityRef, SCNetworkReachabilityFlags flags, void *info) noexcept
    {
        static_cast<Reachability *>(info)->handler_(flags);
    }

    static CFStringRef copyDescription(__unused const void *info)
    {
        return CFSTR("net::Reachability");
    }

    SCNetworkReachabilityRef reference_;
    CFRunLoopRef loop_ = nullptr;
    CFStringRef mode_ = nullptr;
    Handler handler_;
};

} // namespace net

int main()
{
    sockaddr_in address;

    std::memset(&address, 0, sizeof(address));
    address.sin_len = sizeof(address);
    address.sin_family = AF_INET;
    inet_pton(AF_INET, "192.0.2.1", &address.sin_addr);
    try {
        net::Reachability host(reinterpret_cast<const sockaddr *>(&address));
        SCNetworkReachabilityFlags after = kSCNetworkReachabilityFlagsReachable;
#if TARGET_OS_IPHONE
        const bool isCellular = host.flags() & kSCNetworkReachabilityFlagsIsWWAN;
#else
        const bool isCellular = false;
#endif

        if (!(net::Reachability("127.0.0.1").flags() & kSCNetworkReachabilityFlagsIsLocalAddress) || isCellular)
            throw std::runtime_error("127.0.0.1 is not local");
        if (!host.start(CFRunLoopGetMain(), kCFRunLoopCommonModes, [&](SCNetworkReachabilityFlags flags) {
                after = flags;
                CFRunLoopStop(CFRunLoopGetMain());
            }))
            throw std::runtime_error(SCErrorString(SCError()));
        std::cout << "before " << std::showbase << std::hex << host.flags() << std::endl;
        if (CFRunLoopRunInMode(kCFRunLoopDefaultMode, 20, false) != kCFRunLoopRunStopped)
            throw std::runtime_error("no callback came");
        std::cout << "after " << after << std::endl;
        return after & kSCNetworkReachabilityFlagsReachable ? 1 : 0;
    } catch (const std::exception &error) {
        std::cerr << error.what() << std::endl;
        return 1;
    }
}
