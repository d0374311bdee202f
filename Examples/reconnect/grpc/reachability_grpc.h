/* gRPC C++: a channel that reconnects when it is worth an attempt, and not only when its back-off is over.
 *
 *     auto channel = grpc::CreateChannel("192.0.2.1:443", credentials);
 *     reachability_grpc::BackoffReset reset(channel, "192.0.2.1");
 *
 * It never holds back an attempt of gRPC. When the host becomes reachable, or its path gets another interface, gateway
 * or source, it resets the back-off, so that gRPC tries at once. If changes go on, it does so once a second. It needs
 * no thread: callbacks come on the library's own, and delays are gRPC's alarms.
 */
#ifndef REACHABILITY_GRPC_H
#define REACHABILITY_GRPC_H

#include <grpcpp/alarm.h>
#include <grpcpp/channel.h>
#include <reachability/reachability.h>

#include <chrono>
#include <memory>
#include <mutex>
#include <random>
#include <stdexcept>
#include <string>

namespace reachability_grpc
{

class BackoffReset
{
  public:
    /* `jitter`: 250 ms are good for many clients of one server, which must not come all at once. */
    explicit BackoffReset(std::shared_ptr<grpc::Channel> channel, const std::string &host,
                          std::chrono::milliseconds jitter = std::chrono::milliseconds(0),
                          std::chrono::milliseconds minimum = std::chrono::seconds(1))
        : state_(std::make_shared<State>())
    {
        SCNetworkReachabilityOptions options = kSCNetworkReachabilityOptionsInitializer;
        SCNetworkReachabilityContext context = kSCNetworkReachabilityContextInitializer;
        SCNetworkReachabilityScheduler scheduler = { 0, nullptr, nullptr, nullptr, perform_here };

        state_->channel = std::move(channel);
        state_->jitter = static_cast<uint64_t>(std::chrono::nanoseconds(jitter).count());
        SCNetworkReachabilityRetryInit(&state_->retry,
                                       static_cast<uint64_t>(std::chrono::nanoseconds(minimum).count()));
        options.nodename = host.c_str();
        options.options = kSCNetworkReachabilityOptionNotifyPath;
        target_ = SCNetworkReachabilityCreateWithOptions(nullptr, &options);
        context.info = new std::shared_ptr<State>(
            state_); /* a callback that has begun may finish after the destructor */
        context.release = release;
        if (!SCNetworkReachabilitySetCallback(target_, changed, &context)) {
            release(context.info);
            fail();
        }
        if (!SCNetworkReachabilitySetScheduler(target_, &scheduler))
            fail();
        changed(target_, 0, context.info); /* what is so now: only changes call back */
    }

    ~BackoffReset()
    {
        SCNetworkReachabilitySetScheduler(target_, nullptr);
        SCNetworkReachabilityRelease(target_);
        std::lock_guard<std::mutex> lock(state_->mutex);
        state_->channel = nullptr;
    }

    BackoffReset(const BackoffReset &) = delete;
    BackoffReset &operator=(const BackoffReset &) = delete;

  private:
    struct State {
        std::mutex mutex;
        std::shared_ptr<grpc::Channel> channel; /* nullptr: the object is gone */
        uint64_t jitter;                        /* nanoseconds */
        SCNetworkReachabilityRetry retry;
        bool is_set = false; /* the alarm */
        grpc::Alarm alarm;
    };

    [[noreturn]] void fail()
    {
        const std::string text = std::string(SCErrorString(SCError())) + " " + SCErrorDetail();

        SCNetworkReachabilityRelease(target_);
        throw std::runtime_error("libreachability: " + text);
    }

    static void release(const void *info)
    {
        delete static_cast<const std::shared_ptr<State> *>(info);
    }

    static void perform_here(void *, void (*work)(void *argument), void *argument)
    {
        work(argument);
    }

    static uint64_t now()
    {
        return static_cast<uint64_t>(
            std::chrono::nanoseconds(std::chrono::steady_clock::now().time_since_epoch()).count());
    }

    static void changed(SCNetworkReachabilityRef target, SCNetworkReachabilityFlags, void *info)
    {
        thread_local std::minstd_rand random{ std::random_device{}() };
        const std::shared_ptr<State> state = *static_cast<std::shared_ptr<State> *>(info);
        SCNetworkReachabilityPath path = kSCNetworkReachabilityPathInitializer;
        std::lock_guard<std::mutex> lock(state->mutex);

        if (!SCNetworkReachabilityGetLastPath(target, &path))
            return;
        SCNetworkReachabilityRetryObserve(&state->retry, &path, now(),
                                          std::uniform_int_distribution<uint64_t>(0, state->jitter)(random));
        reset_when_due(state);
    }

    /* With the lock. */
    static void reset_when_due(const std::shared_ptr<State> &state)
    {
        const uint64_t due = SCNetworkReachabilityRetryGetDue(&state->retry), time = now();

        if (SCNetworkReachabilityRetryTake(&state->retry, time, UINT64_MAX) != kSCNetworkReachabilityWakeNone) {
            if (state->channel != nullptr)
                grpc::experimental::ChannelResetConnectionBackoff(state->channel.get());
            return;
        }
        if (due == UINT64_MAX || state->is_set)
            return;
        state->is_set = true;
        state->alarm = grpc::Alarm(); /* another one, as the callback of the last one may not have returned */
        state->alarm.Set(
            std::chrono::system_clock::now() +
                std::chrono::duration_cast<std::chrono::system_clock::duration>(std::chrono::nanoseconds(due - time)),
            [weak = std::weak_ptr<State>(state)](bool) {
                const std::shared_ptr<State> state = weak.lock();
                if (state == nullptr) /* the object is gone, and its alarm with it */
                    return;
                std::lock_guard<std::mutex> lock(state->mutex);
                state->is_set = false;
                reset_when_due(state);
            });
    }

    std::shared_ptr<State> state_;
    SCNetworkReachabilityRef target_;
};

} // namespace reachability_grpc

#endif
