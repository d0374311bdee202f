// C++20: watch HOST [CHANGES] prints the flags of a host, and those after each change. No callback: the program waits
// for the run loop, and then gets the targets that changed.
#include <charconv>
#include <cstddef>
#include <cstdio>
#include <limits>
#include <memory>
#include <reachability/reachability.h>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <type_traits>

namespace
{

/// A call of the library failed. The code is that of SCError(): an errno, or a kSCStatus... constant.
class Error : public std::system_error
{
    struct Category : std::error_category {
        const char *name() const noexcept override
        {
            return "reachability";
        }
        std::string message(int code) const override
        {
            return SCErrorString(code);
        }
    };

  public:
    explicit Error(const char *call) : std::system_error(SCError(), category(), call)
    {
    }

    static const std::error_category &category()
    {
        static const Category one;
        return one;
    }
};

struct Release {
    void operator()(SCNetworkReachabilityRef target) const
    {
        SCNetworkReachabilityRelease(target);
    }
    void operator()(SCRunLoopRef loop) const
    {
        SCRunLoopRelease(loop);
    }
};

using Target = std::unique_ptr<const SCNetworkReachability, Release>;
using Loop = std::unique_ptr<std::remove_pointer_t<SCRunLoopRef>, Release>;

/// A schedule of a target on a loop. It keeps neither alive.
class Schedule
{
  public:
    Schedule(const Target &target, const Loop &loop) : target_(target.get()), loop_(loop.get())
    {
        if (!SCNetworkReachabilityScheduleWithRunLoop(target_, loop_, kSCRunLoopDefaultMode))
            throw Error("ScheduleWithRunLoop");
    }
    Schedule(const Schedule &) = delete;
    Schedule &operator=(const Schedule &) = delete;
    ~Schedule()
    {
        SCNetworkReachabilityUnscheduleFromRunLoop(target_, loop_, kSCRunLoopDefaultMode);
    }

  private:
    SCNetworkReachabilityRef target_;
    SCRunLoopRef loop_;
};

std::string text_of(SCNetworkReachabilityFlags flags)
{
    std::string text(SCNetworkReachabilityFlagsGetString(flags, nullptr, 0), ' ');

    SCNetworkReachabilityFlagsGetString(flags, text.data(), text.size() + 1);
    return text;
}

void watch(const char *host, int changes)
{
    const Target target(SCNetworkReachabilityCreateWithName(nullptr, host));
    if (!target)
        throw Error("CreateWithName");
    const Loop loop(SCRunLoopCreate());
    if (!loop)
        throw Error("SCRunLoopCreate");
    const Schedule schedule(target, loop);

    const auto print = [host](SCNetworkReachabilityFlags flags) {
        std::printf("%s: 0x%08x  %s\n", host, flags, text_of(flags).c_str());
        std::fflush(stdout);
    };
    SCNetworkReachabilityFlags flags = 0;
    if (!SCNetworkReachabilityGetFlags(target.get(), &flags))
        throw Error("GetFlags");
    print(flags);
    while (changes > 0) {
        if (SCRunLoopPerform(loop.get(), -1) < 0)
            throw Error("SCRunLoopPerform");
        while (const Target changed{ SCRunLoopCopyNextChange(loop.get(), &flags) }) {
            print(flags);
            changes--;
        }
    }
}

} // namespace

int main(int count, char **words)
{
    const std::span arguments(words, static_cast<std::size_t>(count));
    int changes = std::numeric_limits<int>::max();

    if (arguments.size() > 2) {
        const std::string_view number(arguments[2]);
        std::from_chars(number.data(), number.data() + number.size(), changes);
    }
    try {
        watch(arguments.size() > 1 ? arguments[1] : "192.0.2.1", changes);
    } catch (const Error &error) {
        std::fprintf(stderr, "%s\n", error.what());
        return 1;
    }
}
