/* SPDX-License-Identifier: MIT */
#include "support/nameserver.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

#include "support/time_limit.h"
#include "support/unit.h"

#define TIME_LIMIT  15000 /* milliseconds: a query that takes longer has failed */
#define NAME_SIZE   256
#define SIZE        1500
#define REPLY_SIZE  65535 /* over TCP */
#define CONNECTIONS 16
#define DELAYED     256
#define QUERIES     1024

enum { UDP4, UDP6, TCP4, TCP6, SOCKETS };
enum { NO_ERROR = 0, SERVER_FAILURE = 2, NO_SUCH_NAME = 3, REFUSED = 5, SILENCE = 16 };

/* The source of a datagram, and the address at which it arrived: the reply must come from that. */
struct peer {
    int fd;
    struct sockaddr_storage address;
    socklen_t address_length;
    _Alignas(struct cmsghdr) char control[128];
    size_t control_length;
};

struct message {
    uint8_t bytes[REPLY_SIZE];
    size_t length;
};

struct delayed {
    bool used, held;
    int64_t due; /* milliseconds */
    char name[NAME_SIZE];
    struct peer peer;
    struct message reply;
};

struct connection {
    int fd; /* -1: none */
    uint8_t bytes[SIZE];
    size_t length;
};

struct queried {
    char name[NAME_SIZE];
    uint16_t type;
    unsigned count;
};

struct nameserver {
    pthread_t thread;
    pid_t id;
    int wake, news;
    int sockets[SOCKETS]; /* used by the thread alone, like the two below */
    struct connection connections[CONNECTIONS];
    struct delayed delayed[DELAYED];

    pthread_mutex_t lock; /* for all below */
    pthread_cond_t settled;
    bool ready, listens, should_listen, should_end, silent;
    char moves[NAME_SIZE];
    bool moves_fail;
    unsigned failing_type;
    char released_prefix[NAME_SIZE];
    bool releases_prefix;
    struct queried queried[QUERIES];
    size_t queried_count;
    unsigned over_tcp;
};

static int64_t milliseconds(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static bool begins(const char *text, const char *prefix)
{
    return strncmp(text, prefix, strlen(prefix)) == 0;
}

/* ---- Queries and replies ---------------------------------------------------------------------------------------- */

struct query {
    char name[NAME_SIZE], label[64]; /* the whole, and what is before the first dot */
    uint16_t type;
    size_t end;    /* of the question, in the message */
    unsigned turn; /* the number of earlier queries */
    bool over_tcp;
};

static uint16_t get16(const uint8_t *bytes)
{
    return (uint16_t)(bytes[0] << 8 | bytes[1]);
}

static void put16(uint8_t *bytes, unsigned value)
{
    bytes[0] = (uint8_t)(value >> 8);
    bytes[1] = (uint8_t)value;
}

static bool read_query(const uint8_t *bytes, size_t length, struct query *ret)
{
    size_t at = 12, out = 0;

    memset(ret, 0, sizeof *ret);
    if (length < 17 || get16(bytes + 4) != 1)
        return false;
    while (at < length && bytes[at] != 0) {
        const size_t label = bytes[at];

        if (label > 63 || at + 1 + label > length || out + label + 2 > NAME_SIZE)
            return false;
        if (out > 0)
            ret->name[out++] = '.';
        else
            memcpy(ret->label, bytes + at + 1, label);
        memcpy(ret->name + out, bytes + at + 1, label);
        out += label;
        at += 1 + label;
    }
    if (at + 5 > length)
        return false;
    ret->type = get16(bytes + at + 1);
    ret->end = at + 5;
    return true;
}

/* The addresses of a label, separated by blanks; or a failure. */
static int addresses_of(struct nameserver *server, const struct query *query, char ret[REPLY_SIZE])
{
    static const struct {
        const char *label, *addresses;
        int code;
    } rows[] = {
        { "ok", "198.51.100.7 2001:db8:1::7", NO_ERROR },
        { "two", "203.0.113.7 198.51.100.7", NO_ERROR },
        { "v4only", "198.51.100.7", NO_ERROR },
        { "v6only", "2001:db8:1::7", NO_ERROR },
        { "trickle", "198.51.100.7", NO_ERROR },
        { "nodata", "", NO_ERROR },
        { "servfail", "", SERVER_FAILURE },
        { "refused", "", REFUSED },
        { "drop", "", SILENCE },
        { "loop", "", NO_ERROR },
        { "aliases", "", NO_ERROR },
        { "garbage", "", NO_ERROR },
    };
    size_t length = 0;

    ret[0] = '\0';
    if (begins(query->label, "moves") || begins(query->label, "heldmoves")) {
        snprintf(ret, SIZE, "%s", server->moves);
        return server->moves_fail ? SERVER_FAILURE : ret[0] == '\0' ? NO_SUCH_NAME : NO_ERROR;
    }
    if (begins(query->label, "slow") || begins(query->label, "held")) {
        strcpy(ret, "198.51.100.7");
        return NO_ERROR;
    }
    if (strcmp(query->label, "turns") == 0) {
        strcpy(ret, query->turn % 2 == 0 ? "203.0.113.7 198.51.100.7" : "198.51.100.7 203.0.113.7");
        return NO_ERROR;
    }
    if (strcmp(query->label, "trunc") == 0) {
        for (int i = 1; i <= 60; i++)
            length += (size_t)snprintf(ret + length, SIZE - length, "198.51.100.%d ", i);
        return NO_ERROR;
    }
    if (strcmp(query->label, "thousands") == 0) {
        for (int i = 0; i < 4000; i++)
            length += (size_t)snprintf(ret + length, REPLY_SIZE - length, "10.0.%d.%d ", i / 250, i % 250 + 1);
        return NO_ERROR;
    }
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (strcmp(query->label, rows[i].label) != 0)
            continue;
        strcpy(ret, rows[i].addresses);
        return rows[i].code;
    }
    return NO_SUCH_NAME;
}

static void add_address(struct message *reply, const struct query *query, const char *text)
{
    const int family = query->type == NAMESERVER_A ? AF_INET : query->type == NAMESERVER_AAAA ? AF_INET6 : AF_UNSPEC;
    const size_t size = family == AF_INET ? 4 : 16;
    uint8_t *record = reply->bytes + reply->length, address[16];

    if (family == AF_UNSPEC || inet_pton(family, text, address) != 1 || reply->length + 12 + size > REPLY_SIZE)
        return;
    put16(record, 0xc00c); /* the name in the question */
    put16(record + 2, query->type);
    put16(record + 4, 1); /* Internet */
    put16(record + 6, 0);
    put16(record + 8, 1); /* a TTL of one second */
    put16(record + 10, (unsigned)size);
    memcpy(record + 12, address, size);
    reply->length += 12 + size;
    put16(reply->bytes + 6, get16(reply->bytes + 6) + 1u);
}

/* An alias of the name at one offset of the reply: "cNNNN", or the name itself. */
static void add_alias(struct message *reply, unsigned owner, unsigned number)
{
    uint8_t *record = reply->bytes + reply->length;
    char label[6];

    put16(record, 0xc000 | owner);
    put16(record + 2, 5); /* CNAME */
    put16(record + 4, 1);
    memset(record + 6, 0, 4);
    if (number == 0) {
        put16(record + 10, 2);
        put16(record + 12, 0xc00c);
        reply->length += 14;
    } else {
        put16(record + 10, 7);
        snprintf(label, sizeof label, "c%04u", number % 10000);
        record[12] = 5;
        memcpy(record + 13, label, 5);
        record[18] = 0;
        reply->length += 19;
    }
    put16(reply->bytes + 6, get16(reply->bytes + 6) + 1u);
}

#define ALIASES 800 /* a compressed name can refer to the first 16 KiB */

/* Replies of a server that wants to do harm. False: the label does not name one. */
static bool add_hostile(struct message *reply, const struct query *query)
{
    unsigned owner = 12;

    if (strcmp(query->label, "loop") == 0) {
        add_alias(reply, owner, 0);
    } else if (strcmp(query->label, "aliases") == 0) {
        for (unsigned i = 1; i <= ALIASES; i++) {
            add_alias(reply, owner, i);
            owner = (unsigned)reply->length - 7;
        }
    } else if (strcmp(query->label, "garbage") == 0) {
        memset(reply->bytes + reply->length, 0xff, 400);
        reply->length += 400;
        put16(reply->bytes + 6, 50);
    } else {
        return false;
    }
    return true;
}

/* Whether the reply is truncated over UDP. */
static bool is_long(const struct query *query)
{
    static const char *const labels[] = { "trunc", "trickle", "thousands", "aliases" };

    for (size_t i = 0; i < sizeof labels / sizeof labels[0]; i++)
        if (strcmp(query->label, labels[i]) == 0)
            return true;
    return false;
}

/* False: no reply is sent. */
static bool make_reply(struct nameserver *server, const uint8_t *question, const struct query *query,
                       struct message *ret)
{
    char addresses[REPLY_SIZE], *rest = NULL;
    const int known = addresses_of(server, query, addresses);
    const int code = query->type == server->failing_type ? SERVER_FAILURE : known;
    const bool truncated = is_long(query) && !query->over_tcp;

    if (code == SILENCE || server->silent)
        return false;
    memcpy(ret->bytes, question, query->end);
    ret->length = query->end;
    put16(ret->bytes + 2, 0x8180u | (unsigned)code | (truncated ? 0x0200u : 0));
    memset(ret->bytes + 6, 0, 6);
    if (code != NO_ERROR || truncated || add_hostile(ret, query))
        return true;
    for (char *word = strtok_r(addresses, " ", &rest); word != NULL; word = strtok_r(NULL, " ", &rest))
        add_address(ret, query, word);
    return true;
}

static void note(struct nameserver *server, struct query *query)
{
    struct queried *queried = NULL;

    for (size_t i = 0; i < server->queried_count && queried == NULL; i++)
        if (server->queried[i].type == query->type && strcmp(server->queried[i].name, query->name) == 0)
            queried = &server->queried[i];
    if (queried == NULL && server->queried_count < QUERIES) {
        queried = &server->queried[server->queried_count++];
        memcpy(queried->name, query->name, sizeof queried->name);
        queried->type = query->type;
    }
    if (queried != NULL)
        query->turn = queried->count++;
    server->over_tcp += query->over_tcp;
    (void)!write(server->news, &(uint64_t){ 1 }, sizeof(uint64_t));
}

/* One query. False: it gets no reply. */
static bool consider(struct nameserver *server, const uint8_t *bytes, size_t length, bool over_tcp,
                     struct query *ret_query, struct message *ret)
{
    if (!read_query(bytes, length, ret_query))
        return false;
    ret_query->over_tcp = over_tcp;
    pthread_mutex_lock(&server->lock);
    note(server, ret_query);
    bool replies = make_reply(server, bytes, ret_query, ret);
    pthread_mutex_unlock(&server->lock);
    return replies;
}

/* ---- UDP -------------------------------------------------------------------------------------------------------- */

static void send_reply(struct peer *peer, struct message *reply)
{
    struct iovec part = { .iov_base = reply->bytes, .iov_len = reply->length };
    struct msghdr header = { .msg_name = &peer->address,
                             .msg_namelen = peer->address_length,
                             .msg_iov = &part,
                             .msg_iovlen = 1,
                             .msg_control = peer->control,
                             .msg_controllen = peer->control_length };

    (void)sendmsg(peer->fd, &header, MSG_NOSIGNAL);
}

static void delay(struct nameserver *server, const struct query *query, const struct peer *peer,
                  const struct message *reply)
{
    for (size_t i = 0; i < DELAYED; i++) {
        struct delayed *delayed = &server->delayed[i];

        if (delayed->used)
            continue;
        delayed->used = true;
        delayed->held = begins(query->label, "held");
        delayed->due = milliseconds() + atoi(query->label + strlen("slow"));
        memcpy(delayed->name, query->name, sizeof delayed->name);
        delayed->peer = *peer;
        delayed->reply = *reply;
        return;
    }
}

/* The reply may leave over any interface. */
static void forget_interface(struct msghdr *header)
{
    for (struct cmsghdr *item = CMSG_FIRSTHDR(header); item != NULL; item = CMSG_NXTHDR(header, item))
        if (item->cmsg_level == IPPROTO_IP && item->cmsg_type == IP_PKTINFO)
            ((struct in_pktinfo *)(void *)CMSG_DATA(item))->ipi_ifindex = 0;
}

static void read_datagram(struct nameserver *server, int fd)
{
    struct peer peer = { .fd = fd };
    struct message reply;
    struct query query;
    uint8_t bytes[SIZE];
    struct iovec part = { .iov_base = bytes, .iov_len = sizeof bytes };
    struct msghdr header = { .msg_name = &peer.address,
                             .msg_namelen = sizeof peer.address,
                             .msg_iov = &part,
                             .msg_iovlen = 1,
                             .msg_control = peer.control,
                             .msg_controllen = sizeof peer.control };
    const ssize_t length = recvmsg(fd, &header, MSG_DONTWAIT);

    if (length < 0 || !consider(server, bytes, (size_t)length, false, &query, &reply))
        return;
    forget_interface(&header);
    peer.address_length = header.msg_namelen;
    peer.control_length = header.msg_controllen;
    if (begins(query.label, "slow") || begins(query.label, "held"))
        delay(server, &query, &peer, &reply);
    else
        send_reply(&peer, &reply);
}

static bool is_released(struct nameserver *server, const struct delayed *delayed)
{
    if (!delayed->held)
        return delayed->due <= milliseconds();
    return server->releases_prefix && begins(delayed->name, server->released_prefix);
}

static void send_delayed(struct nameserver *server)
{
    for (size_t i = 0; i < DELAYED; i++) {
        struct delayed *delayed = &server->delayed[i];

        if (delayed->used && is_released(server, delayed)) {
            delayed->used = false;
            send_reply(&delayed->peer, &delayed->reply);
        }
    }
}

/* Milliseconds; -1: for ever. */
static int time_to_next(const struct nameserver *server)
{
    int64_t next = INT64_MAX;

    for (size_t i = 0; i < DELAYED; i++)
        if (server->delayed[i].used && !server->delayed[i].held && server->delayed[i].due < next)
            next = server->delayed[i].due;
    if (next == INT64_MAX)
        return -1;
    next -= milliseconds();
    return next < 0 ? 0 : (int)next;
}

/* ---- TCP -------------------------------------------------------------------------------------------------------- */

static void accept_connection(struct nameserver *server, int listener)
{
    const int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);

    for (size_t i = 0; i < CONNECTIONS && fd >= 0; i++) {
        if (server->connections[i].fd < 0) {
            server->connections[i].fd = fd;
            server->connections[i].length = 0;
            return;
        }
    }
    if (fd >= 0)
        close(fd);
}

static void close_connection(struct connection *connection)
{
    if (connection->fd >= 0)
        close(connection->fd);
    connection->fd = -1;
}

/* `slowly`: one byte in each millisecond. */
static void send_framed(int fd, const uint8_t *bytes, size_t length, bool slowly)
{
    for (size_t sent = 0; slowly && sent + 1 < length; sent++, bytes++) {
        (void)!send(fd, bytes, 1, MSG_NOSIGNAL);
        (void)poll(NULL, 0, 1);
    }
    (void)!send(fd, bytes, slowly ? 1 : length, MSG_NOSIGNAL);
}

/* The first whole question in the buffer. False: there is none. */
static bool reply_to_first_query(struct nameserver *server, struct connection *connection)
{
    const size_t length = connection->length < 2 ? SIZE : 2u + get16(connection->bytes);
    struct message reply;
    struct query query;
    uint8_t framed[2 + REPLY_SIZE];

    if (length > connection->length)
        return false;
    if (consider(server, connection->bytes + 2, length - 2, true, &query, &reply)) {
        put16(framed, (unsigned)reply.length);
        memcpy(framed + 2, reply.bytes, reply.length);
        send_framed(connection->fd, framed, 2 + reply.length, strcmp(query.label, "trickle") == 0);
    }
    connection->length -= length;
    memmove(connection->bytes, connection->bytes + length, connection->length);
    return true;
}

static void read_connection(struct nameserver *server, struct connection *connection)
{
    const ssize_t got = recv(connection->fd, connection->bytes + connection->length,
                             sizeof connection->bytes - connection->length, MSG_DONTWAIT);

    if (got <= 0) {
        close_connection(connection);
        return;
    }
    connection->length += (size_t)got;
    while (reply_to_first_query(server, connection))
        continue;
}

/* ---- The thread ------------------------------------------------------------------------------------------------- */

static int open_socket(int family, int type)
{
    const int one = 1;
    const int fd = socket(family, type | SOCK_CLOEXEC, 0);
    struct sockaddr_in in = { .sin_family = AF_INET, .sin_port = htons(53) };
    struct sockaddr_in6 in6 = { .sin6_family = AF_INET6, .sin6_port = htons(53) };
    bool good = fd >= 0 && setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one) == 0;

    if (family == AF_INET)
        good = good && setsockopt(fd, IPPROTO_IP, IP_PKTINFO, &one, sizeof one) == 0 &&
               bind(fd, (struct sockaddr *)&in, sizeof in) == 0;
    else
        good = good && setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &one, sizeof one) == 0 &&
               setsockopt(fd, IPPROTO_IPV6, IPV6_RECVPKTINFO, &one, sizeof one) == 0 &&
               bind(fd, (struct sockaddr *)&in6, sizeof in6) == 0;
    if (good && type == SOCK_STREAM)
        good = listen(fd, CONNECTIONS) == 0;
    if (good || fd < 0)
        return fd;
    close(fd);
    return -1;
}

/* Whether all could be opened. */
static bool open_sockets(struct nameserver *server)
{
    bool good = true;

    server->sockets[UDP4] = open_socket(AF_INET, SOCK_DGRAM);
    server->sockets[UDP6] = open_socket(AF_INET6, SOCK_DGRAM);
    server->sockets[TCP4] = open_socket(AF_INET, SOCK_STREAM);
    server->sockets[TCP6] = open_socket(AF_INET6, SOCK_STREAM);
    for (size_t i = 0; i < SOCKETS; i++)
        good = good && server->sockets[i] >= 0;
    return good;
}

static void close_sockets(struct nameserver *server)
{
    for (size_t i = 0; i < SOCKETS; i++) {
        if (server->sockets[i] >= 0)
            close(server->sockets[i]);
        server->sockets[i] = -1;
    }
    for (size_t i = 0; i < CONNECTIONS; i++)
        close_connection(&server->connections[i]);
    for (size_t i = 0; i < DELAYED; i++)
        server->delayed[i].used = false;
}

/* Carries out a command. False: to end. */
static bool obey(struct nameserver *server)
{
    uint64_t value;

    (void)!read(server->wake, &value, sizeof value);
    pthread_mutex_lock(&server->lock);
    bool goes_on = !server->should_end;
    if (server->listens && (!server->should_listen || !goes_on))
        close_sockets(server);
    if (!server->listens && server->should_listen && goes_on)
        server->should_listen = open_sockets(server);
    server->listens = server->should_listen;
    send_delayed(server);
    server->releases_prefix = false;
    server->ready = true;
    pthread_cond_broadcast(&server->settled);
    pthread_mutex_unlock(&server->lock);
    return goes_on;
}

static void serve_once(struct nameserver *server)
{
    struct pollfd pollers[1 + SOCKETS + CONNECTIONS];

    pollers[0] = (struct pollfd){ .fd = server->wake, .events = POLLIN };
    for (size_t i = 0; i < SOCKETS; i++)
        pollers[1 + i] = (struct pollfd){ .fd = server->sockets[i], .events = POLLIN };
    for (size_t i = 0; i < CONNECTIONS; i++)
        pollers[1 + SOCKETS + i] = (struct pollfd){ .fd = server->connections[i].fd, .events = POLLIN };
    (void)poll(pollers, 1 + SOCKETS + CONNECTIONS, time_to_next(server));
    for (size_t i = 0; i < CONNECTIONS; i++)
        if (server->connections[i].fd >= 0 && pollers[1 + SOCKETS + i].revents != 0)
            read_connection(server, &server->connections[i]);
    for (size_t i = 0; i < SOCKETS; i++) {
        if ((pollers[1 + i].revents & POLLIN) == 0)
            continue;
        if (i == UDP4 || i == UDP6)
            read_datagram(server, server->sockets[i]);
        else
            accept_connection(server, server->sockets[i]);
    }
}

static void *serve(void *argument)
{
    struct nameserver *server = argument;

    server->id = gettid();
    while (obey(server))
        serve_once(server);
    return NULL;
}

/* ---- Orders ----------------------------------------------------------------------------------------------------- */

/* Makes the thread do what was set under the lock. The caller holds the lock. */
static void order_locked(struct nameserver *server)
{
    server->ready = false;
    (void)!write(server->wake, &(uint64_t){ 1 }, sizeof(uint64_t));
    while (!server->ready)
        pthread_cond_wait(&server->settled, &server->lock);
}

static void listen_or_not(struct nameserver *server, bool should)
{
    pthread_mutex_lock(&server->lock);
    server->should_listen = should;
    order_locked(server);
    bool does = server->listens;
    pthread_mutex_unlock(&server->lock);
    if (does != should)
        fail_msg("the name server cannot listen");
}

struct nameserver *nameserver_open(void)
{
    struct nameserver *server = calloc(1, sizeof *server);

    assert_non_null(server);
    server->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    server->news = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    assert_true(server->wake >= 0 && server->news >= 0);
    for (size_t i = 0; i < SOCKETS; i++)
        server->sockets[i] = -1;
    for (size_t i = 0; i < CONNECTIONS; i++)
        server->connections[i].fd = -1;
    pthread_mutex_init(&server->lock, NULL);
    pthread_cond_init(&server->settled, NULL);
    assert_int_equal(pthread_create(&server->thread, NULL, serve, server), 0);
    listen_or_not(server, true);
    return server;
}

void nameserver_close(struct nameserver *server)
{
    pthread_mutex_lock(&server->lock);
    server->should_end = true;
    order_locked(server);
    pthread_mutex_unlock(&server->lock);
    pthread_join(server->thread, NULL);
    pthread_cond_destroy(&server->settled);
    pthread_mutex_destroy(&server->lock);
    close(server->wake);
    close(server->news);
    free(server);
}

pid_t nameserver_thread(const struct nameserver *server)
{
    return server->id;
}

void nameserver_stop(struct nameserver *server)
{
    listen_or_not(server, false);
}

void nameserver_start(struct nameserver *server)
{
    listen_or_not(server, true);
}

void nameserver_silence(struct nameserver *server, bool silent)
{
    pthread_mutex_lock(&server->lock);
    server->silent = silent;
    pthread_mutex_unlock(&server->lock);
}

void nameserver_move(struct nameserver *server, const char *addresses)
{
    pthread_mutex_lock(&server->lock);
    server->moves_fail = addresses == NULL;
    snprintf(server->moves, sizeof server->moves, "%s", addresses == NULL ? "" : addresses);
    pthread_mutex_unlock(&server->lock);
}

void nameserver_fail(struct nameserver *server, unsigned type)
{
    pthread_mutex_lock(&server->lock);
    server->failing_type = type;
    pthread_mutex_unlock(&server->lock);
}

void nameserver_release(struct nameserver *server, const char *prefix)
{
    pthread_mutex_lock(&server->lock);
    snprintf(server->released_prefix, sizeof server->released_prefix, "%s", prefix);
    server->releases_prefix = true;
    order_locked(server);
    pthread_mutex_unlock(&server->lock);
}

/* ---- Counting --------------------------------------------------------------------------------------------------- */

unsigned nameserver_count(struct nameserver *server, const char *name, enum nameserver_type type)
{
    unsigned count = 0;

    pthread_mutex_lock(&server->lock);
    for (size_t i = 0; i < server->queried_count; i++)
        if (server->queried[i].type == type && (name == NULL || strcmp(server->queried[i].name, name) == 0))
            count += server->queried[i].count;
    pthread_mutex_unlock(&server->lock);
    return count;
}

unsigned nameserver_count_tcp(struct nameserver *server)
{
    pthread_mutex_lock(&server->lock);
    unsigned count = server->over_tcp;
    pthread_mutex_unlock(&server->lock);
    return count;
}

int nameserver_news(const struct nameserver *server)
{
    return server->news;
}

void nameserver_take_news(const struct nameserver *server)
{
    uint64_t value;

    (void)!read(server->news, &value, sizeof value);
}

void nameserver_await(struct nameserver *server, const char *name, enum nameserver_type type, unsigned count)
{
    const int64_t end = milliseconds() + time_limit_of(TIME_LIMIT);
    struct pollfd poller = { .fd = server->news, .events = POLLIN };

    while (nameserver_count(server, name, type) < count) {
        const int64_t left = end - milliseconds();

        if (left <= 0)
            fail_msg("%s was queried %u times, not %u", name, nameserver_count(server, name, type), count);
        (void)poll(&poller, 1, left < 0 ? 0 : (int)left);
        nameserver_take_news(server);
    }
}
