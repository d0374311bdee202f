/* SPDX-License-Identifier: MIT */
#include "delayserver.h"

#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <unistd.h>

#include "bench.h"

#define DELAY   (100 * INT64_C(1000000)) /* nanoseconds */
#define DELAYED 4096
#define SIZE    512

/* ---- Files ------------------------------------------------------------------------------------------------------ */

static bool mount_file(const char *path, const char *text)
{
    char name[] = "/tmp/benchmark-XXXXXX";
    int fd = mkstemp(name);
    FILE *file = fd < 0 ? NULL : fdopen(fd, "w");
    bool mounted;

    if (file == NULL)
        return false;
    fputs(text, file);
    fclose(file);
    mounted = mount(name, path, "", MS_BIND, "") == 0;
    unlink(name);
    return mounted;
}

bool delayserver_mount(const char *options)
{
    char text[128];

    snprintf(text, sizeof text, "nameserver 127.0.0.1\noptions %s\n", options);
    return unshare(CLONE_NEWNS) == 0 && mount("", "/", "", MS_REC | MS_PRIVATE, "") == 0 &&
           mount_file("/etc/resolv.conf", text) && mount_file("/etc/nsswitch.conf", "hosts: files dns\n") &&
           mount_file("/etc/hosts", "127.0.0.1 localhost\n");
}

/* ---- Replies ---------------------------------------------------------------------------------------------------- */

struct reply {
    int64_t due;
    struct sockaddr_in peer;
    size_t length;
    uint8_t bytes[SIZE];
};

/* All delays are the same, so the replies are due in their order. */
static struct {
    int socket;
    struct reply delayed[DELAYED];
    size_t first, count;
} server;

/* Turns a query into its reply: an address, if it is for IPv4, else none. */
static void make_reply(struct reply *reply)
{
    static const uint8_t record[] = { 0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4, 198, 51, 100, 7 };
    size_t end = 12;

    while (end < reply->length && reply->bytes[end] != 0)
        end += 1u + reply->bytes[end];
    end += 5;
    if (end > reply->length || end + sizeof record > SIZE)
        bench_fail("a query that is none");
    reply->bytes[2] |= 0x80;
    reply->bytes[3] = 0x80;
    memset(reply->bytes + 6, 0, 6); /* also drops the additional records */
    reply->length = end;
    if (reply->bytes[end - 3] != 1) /* AAAA */
        return;
    reply->bytes[7] = 1;
    memcpy(reply->bytes + end, record, sizeof record);
    reply->length += sizeof record;
}

static void send_reply(const struct reply *reply)
{
    (void)!sendto(server.socket, reply->bytes, reply->length, 0, (const struct sockaddr *)&reply->peer,
                  sizeof reply->peer);
}

static void receive(void)
{
    struct reply query;
    socklen_t size = sizeof query.peer;
    const ssize_t got = recvfrom(server.socket, query.bytes, SIZE, MSG_DONTWAIT, (struct sockaddr *)&query.peer, &size);

    if (got < 17)
        return;
    query.length = (size_t)got;
    if (memcmp(query.bytes + 13, "drop", 4) == 0)
        return;
    query.due = bench_now() + (memcmp(query.bytes + 13, "slow", 4) == 0 ? DELAY : 0);
    make_reply(&query);
    if (query.bytes[13] != 's')
        send_reply(&query);
    else if (server.count < DELAYED)
        server.delayed[(server.first + server.count++) % DELAYED] = query;
}

static void *serve(void *unused)
{
    for (;;) {
        const struct reply *next = &server.delayed[server.first];
        struct pollfd poller = { .fd = server.socket, .events = POLLIN };
        const int64_t wait = server.count == 0 ? -1 : (next->due - bench_now()) / 1000000 + 1;

        (void)poll(&poller, 1, (int)(server.count > 0 && wait < 0 ? 0 : wait));
        for (; server.count > 0 && server.delayed[server.first].due <= bench_now(); server.count--) {
            send_reply(&server.delayed[server.first]);
            server.first = (server.first + 1) % DELAYED;
        }
        if (poller.revents != 0)
            receive();
    }
    return unused;
}

void delayserver_start(void)
{
    const struct sockaddr_in address = { .sin_family = AF_INET,
                                         .sin_port = htons(53),
                                         .sin_addr = { htonl(INADDR_LOOPBACK) } };
    const int size = 1 << 20;
    pthread_t thread;

    server.socket = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    (void)setsockopt(server.socket, SOL_SOCKET, SO_RCVBUF, &size, sizeof size);
    if (server.socket < 0 || bind(server.socket, (const struct sockaddr *)&address, sizeof address) != 0)
        bench_fail("the name server cannot listen: %s", strerror(errno));
    bench_check(pthread_create(&thread, NULL, serve, NULL), "the name server's thread");
}
