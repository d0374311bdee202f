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

#include <algorithm>
#include <chrono>
#include <cstring>
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
    using Clock = std::chrono::steady_clock;

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
        state_->jitter = jitter;
        state_->minimum = minimum;
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
        std::chrono::milliseconds jitter, minimum;
        SCNetworkReachabilityPath last = kSCNetworkReachabilityPathInitializer;
        bool has_last = false, was_lost = false;
        bool is_wanted = false; /* a reset. A loss takes it back */
        bool is_due = false;    /* the alarm is set */
        Clock::time_point not_before;
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

    static bool leaves_otherwise(const SCNetworkReachabilityPath &a, const SCNetworkReachabilityPath &b)
    {
        return a.interfaceIndex != b.interfaceIndex || std::memcmp(&a.gateway, &b.gateway, sizeof a.gateway) != 0 ||
               std::memcmp(&a.source, &b.source, sizeof a.source) != 0;
    }

    static void changed(SCNetworkReachabilityRef target, SCNetworkReachabilityFlags, void *info)
    {
        const std::shared_ptr<State> state = *static_cast<std::shared_ptr<State> *>(info);
        SCNetworkReachabilityPath path = kSCNetworkReachabilityPathInitializer;
        std::lock_guard<std::mutex> lock(state->mutex);

        if (!SCNetworkReachabilityGetLastPath(target, &path) || path.reason == kSCNetworkReachabilityReasonNamePending)
            return;
        if (!(path.flags & kSCNetworkReachabilityFlagsReachable)) {
            state->was_lost = true;
            state->is_wanted = false;
            return;
        }
        if (state->was_lost || (state->has_last && leaves_otherwise(state->last, path)))
            reset_soon(state);
        state->was_lost = false;
        state->has_last = true;
        state->last = path;
    }

    /* With the lock. */
    static void reset_soon(const std::shared_ptr<State> &state)
    {
        thread_local std::minstd_rand random{ std::random_device{}() };
        const double part = std::uniform_real_distribution<double>()(random);
        const Clock::time_point now = Clock::now();
        const Clock::duration delay = std::max(std::chrono::duration_cast<Clock::duration>(state->jitter * part),
                                               state->not_before - now);

        state->is_wanted = true;
        if (state->is_due)
            return;
        if (delay <= Clock::duration::zero()) {
            reset(*state);
            return;
        }
        state->is_due = true;
        state->alarm = grpc::Alarm(); /* another one, as the callback of the last one may not have returned */
        state->alarm.Set(std::chrono::system_clock::now() + delay, [weak = std::weak_ptr<State>(state)](bool) {
            const std::shared_ptr<State> state = weak.lock(); /* nullptr: the object is gone, and its alarm with it */
            if (state == nullptr)
                return;
            std::lock_guard<std::mutex> lock(state->mutex);
            state->is_due = false;
            if (state->is_wanted)
                reset(*state);
        });
    }

    static void reset(State &state)
    {
        state.is_wanted = false;
        state.not_before = Clock::now() + state.minimum;
        if (state.channel != nullptr)
            grpc::experimental::ChannelResetConnectionBackoff(state.channel.get());
    }

    std::shared_ptr<State> state_;
    SCNetworkReachabilityRef target_;
};

} // namespace reachability_grpc

#endif
