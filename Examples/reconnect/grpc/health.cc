/* A client and a server with gRPC's health service, for reachability_grpc.h:
 *
 *     health serve PORT
 *     health ours|stock ADDRESS PORT    calls until the server has replied, and prints when
 *
 * The first attempt is always made at once. `stock` has gRPC's own back-off alone. */
#include "reachability_grpc.h"

#include <grpcpp/generic/async_generic_service.h>
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/grpcpp.h>
#include <grpcpp/health_check_service_interface.h>

#include <cstdio>
#include <cstdlib>
#include <ctime>

static long long now()
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1000000000LL + time.tv_nsec;
}

/* The health service has callbacks, and this queue is empty: its thread is there to wait for the sockets. While nothing
 * happens, gRPC 1.51's own threads sleep for 100 ms in each 1.1 s. */
static int serve(const char *port)
{
    grpc::EnableDefaultHealthCheckService(true);
    grpc::AsyncGenericService nothing;
    grpc::ServerBuilder       builder;
    void *tag;
    bool is_ok;

    builder.AddListeningPort(std::string("[::]:") + port, grpc::InsecureServerCredentials());
    builder.RegisterAsyncGenericService(&nothing);
    auto queue = builder.AddCompletionQueue();
    auto server = builder.BuildAndStart();
    if (!server)
        return 1;
    std::puts("serving");
    std::fflush(stdout);
    while (queue->Next(&tag, &is_ok))
        ;
    return 0;
}

/* An empty request and reply, without generated code. Not with a callback, for the same reason. */
static bool check(const std::shared_ptr<grpc::Channel> &channel)
{
    grpc::GenericStub     stub(channel);
    grpc::ClientContext   context;
    grpc::Slice           slice;
    grpc::ByteBuffer      request(&slice, 1), reply;
    grpc::CompletionQueue queue;
    grpc::Status          status;
    void *tag;
    bool is_ok;

    context.set_wait_for_ready(true);
    auto call = stub.PrepareUnaryCall(&context, "/grpc.health.v1.Health/Check", request, &queue);
    call->StartCall();
    call->Finish(&reply, &status, nullptr);
    return queue.Next(&tag, &is_ok) && status.ok();
}

int main(int argc, char **argv)
{
    const std::string mode = argc > 2 ? argv[1] : "";

    if (mode == "serve")
        return serve(argv[2]);
    if (argc < 4 || (mode != "ours" && mode != "stock"))
        return std::fputs("health serve PORT | health ours|stock ADDRESS PORT\n", stderr), 64;
    const std::string address = argv[2];
    const bool        is_ipv6 = address.find(':') != std::string::npos;
    auto channel = grpc::CreateChannel((is_ipv6 ? "ipv6:[" + address + "]:" : "ipv4:" + address + ":") + argv[3],
                                       grpc::InsecureChannelCredentials());
    std::unique_ptr<reachability_grpc::BackoffReset> reset;

    if (mode == "ours")
        reset = std::make_unique<reachability_grpc::BackoffReset>(channel, address);
    std::printf("first %lld\n", now());
    std::fflush(stdout);
    if (!check(channel))
        return 1;
    std::printf("done %lld\n", now());
    return 0;
}
