/* SPDX-License-Identifier: MIT */
/* See race.h. */
#include "support/race.h"

#include <sys/socket.h>

#include "support/expect.h"
#include "support/namespace.h"
#include "support/program.h"

#define ROUTES 4000 /* in a large table */

unsigned race_link, race_other_link;

/* ---- The changes ------------------------------------------------------------------------------------------------ */

static void add_address(struct writer *writer)
{
    unit_check(writer_address(writer, WRITER_ADD, race_link, "192.0.2.2/24"), "address");
    unit_check(
        writer_route(writer, WRITER_ADD, &(struct writer_route){ .prefix = "0.0.0.0/0", .gateway = "192.0.2.1" }),
        "default route");
}

/* Without the address the gateway is not on-link, so the kernel deletes the default route. It sends no message. */
static void delete_address(struct writer *writer)
{
    unit_check(writer_address(writer, WRITER_DELETE, race_link, "192.0.2.2/24"), "address");
}

/* In a large table: a route elsewhere carries that address as its source. The kernel looks for such routes in the whole
 * table, sends the message of the first one, and reads the rest before it reaches the default route. */
static void add_address_twice_used(struct writer *writer)
{
    add_address(writer);
    unit_check(
        writer_route(writer, WRITER_ADD,
                     &(struct writer_route){ .prefix = "9.0.0.0/24", .index = race_other_link, .source = "192.0.2.2" }),
        "route with a source");
}

static void raise_link(struct writer *writer)
{
    unit_check(writer_link_up(writer, race_link, true), "link up");
    unit_check(
        writer_route(writer, WRITER_REPLACE, &(struct writer_route){ .prefix = "198.51.100.0/24", .index = race_link }),
        "the better route");
}

/* The better route dies with its link, without a message, and the default route over the other link takes over. A
 * reply that names the dead link is stale. */
static void lower_link(struct writer *writer)
{
    unit_check(writer_link_up(writer, race_link, false), "link down");
}

const struct race_change race_address_deleted = {
    "address deleted from a large table", delete_address, add_address_twice_used, false, true, 0
};
const struct race_change race_link_lowered = {
    "link down, another route takes over", lower_link, raise_link, true, false, 0
};

static void add_second_pair(void)
{
    namespace_ip("link add name c type veth peer name d; link set dev d up; link set dev c up");
    namespace_ip("address add 203.0.113.2/24 dev c");
    namespace_await_running("c", true);
    race_other_link = writer_index("c");
}

void race_prepare_address_deleted(void)
{
    struct writer writer;
    char prefix[32];

    add_second_pair();
    unit_check(writer_open(&writer), "writer");
    unit_check(writer_batch(&writer), "batch");
    for (unsigned i = 0; i < ROUTES; i++) {
        snprintf(prefix, sizeof prefix, "10.%u.%u.0/24", i >> 8, i & 255);
        unit_check(
            writer_route(&writer, WRITER_ADD, &(struct writer_route){ .prefix = prefix, .index = race_other_link }),
            prefix);
    }
    unit_check(writer_flush(&writer), "the large table");
    delete_address(&writer);
    add_address_twice_used(&writer);
    writer_close(&writer);
}

void race_prepare_link_lowered(void)
{
    add_second_pair();
    namespace_ip("route add default via 203.0.113.1; route add 198.51.100.0/24 dev a");
}

/* ---- The writer's thread ---------------------------------------------------------------------------------------- */

static struct {
    pthread_t thread;
    const struct race_change *change;
    atomic_int wanted, done; /* rounds */
    atomic_bool over;
} writing;

static cpu_set_t given; /* the processors that the process may use */

/* Keeps the calling thread on the first or the second of them. */
static void pin(int number)
{
    cpu_set_t one;
    int processor = -1;

    do
        while (!CPU_ISSET(++processor, &given))
            continue;
    while (number-- > 0);
    CPU_ZERO(&one);
    CPU_SET(processor, &one);
    unit_check(sched_setaffinity(0, sizeof one, &one) == 0 ? 0 : errno, "sched_setaffinity");
}

static void *write_changes(void *argument)
{
    pin(0);
    for (int round = 0; !atomic_load(&writing.over);) {
        if (atomic_load(&writing.wanted) == round) {
            sched_yield();
            continue;
        }
        writing.change->end(argument);
        atomic_store(&writing.done, ++round);
    }
    return NULL;
}

void race_open(const struct race_change *change, struct writer *writer)
{
    unit_check(writer_open(writer), "writer");
    writing.change = change;
    atomic_store(&writing.wanted, 0);
    atomic_store(&writing.done, 0);
    atomic_store(&writing.over, false);
    assert_int_equal(pthread_create(&writing.thread, NULL, write_changes, writer), 0);
}

void race_close(struct writer *writer)
{
    atomic_store(&writing.over, true);
    pthread_join(writing.thread, NULL);
    writer_close(writer);
}

void race_begin_round(void)
{
    atomic_fetch_add(&writing.wanted, 1);
}

bool race_is_round_done(void)
{
    return atomic_load(&writing.done) == atomic_load(&writing.wanted);
}

void race_require(void)
{
    namespace_require();
    if (CPU_COUNT(&given) < 2)
        SKIP("a race takes two processors");
    namespace_ip("link set dev lo up");
    namespace_add_pair();
    race_link = writer_index("a");
    pin(1);
}

void race_start(void)
{
    MUST(sched_getaffinity(0, sizeof given, &given) == 0);
}
