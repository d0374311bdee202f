/* SPDX-License-Identifier: MIT */
/* Name servers that want to do harm: huge replies, aliases without end, nonsense. Each look-up ends, with a result, and
 * the library keeps a small amount of memory. Another name is looked up meanwhile. */
#include <malloc.h>

#include "names/resolver.h"
#include "support/limits.h"
#include "support/names.h"

static struct watcher watcher, other;

static void begin(void)
{
    names_begin();
    etc_set_servers("192.0.2.2", 1);
    watcher_schedule(&other, expect_name("ok.test"));
    EXPECT_CHANGE(&other, R);
}

/* Bytes in use by this process. */
static size_t bytes_in_use(void)
{
    return mallinfo2().uordblks;
}

/* Resolves the name, and then another one. */
static void resolve(const char *name, SCNetworkReachabilityFlags flags)
{
    const size_t before = bytes_in_use();

    NAMES_RESOLVE(&watcher, name, flags);
    names_await_no_thread();
    if (!unit_is_under(NULL)) /* a tool has an allocator of its own */
        assert_in_range(bytes_in_use(), 0, before + RESOLVED_BYTES);
    watcher_stop(&watcher);
    NAMES_RESOLVE(&watcher, "v4only.test", R);
}

TEST(the_first_64_of_thousands_of_addresses_count)
{
    resolve("thousands.test", R);
    watcher_stop(&watcher);
    NAMES_RESOLVE(&watcher, "thousands.test", R);
    assert_int_equal(SCNetworkReachabilityGetResolvedAddresses(watcher.target, NULL, 0), RESOLVER_ADDRESSES_LIMIT);
    assert_true(nameserver_count_tcp(names_server) > 0);
}

TEST(an_alias_of_itself_is_no_address)
{
    resolve("loop.test", 0);
}

TEST(a_chain_of_aliases_is_no_address)
{
    resolve("aliases.test", 0);
    assert_true(nameserver_count_tcp(names_server) > 0);
}

TEST(a_reply_that_comes_byte_by_byte_is_read)
{
    resolve("trickle.test", R);
    watcher_stop(&watcher);
    NAMES_RESOLVE(&watcher, "trickle.test", R);
    EXPECT_ADDRESSES(watcher.target, "198.51.100.7");
    assert_true(nameserver_count_tcp(names_server) > 0);
}

TEST(resolv_conf_may_vanish_during_a_look_up)
{
    watcher_schedule(&watcher, expect_name("held.test"));
    names_await_queries("held.test", 1);
    etc_remove(ETC_RESOLV_CONF);
    assert_int_equal(SCRunLoopPerform(watcher.loop, 0), 0);
    nameserver_release(names_server, "held");
    EXPECT_END(&watcher, R);
    etc_set_servers("192.0.2.2", 1);
    names_settle(&watcher);
    EXPECT_ADDRESSES(watcher.target, "198.51.100.7");
}

TEST(nonsense_is_no_address)
{
    resolve("garbage.test", 0);
}

UNIT(.setup = begin, .cleanup = names_end, .end = names_end_group)
