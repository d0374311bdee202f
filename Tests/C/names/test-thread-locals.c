/* SPDX-License-Identifier: MIT */
/*
 * A program with many thread-local variables looks up a name. The C library can put them onto the stack of each thread,
 * the library's small ones, too.
 */
#include "support/etc.h"
#include "support/nameserver.h"
#include "support/test.h"

static _Thread_local char large[240 * 1024];

TEST(a_name_is_looked_up_in_a_program_with_large_thread_local_variables)
{
    struct nameserver *server;
    struct watcher watcher;

    namespace_require_lo();
    namespace_ip("route add local 198.51.100.0/24 dev lo");
    etc_require("127.0.0.1");
    server = nameserver_open();
    large[sizeof large - 1] = 1;
    watcher_schedule(&watcher, expect_name("v4only.example"));
    EXPECT_END(&watcher, R | L | D);
    watcher_stop(&watcher);
    nameserver_close(server);
    assert_int_equal(large[sizeof large - 1], 1);
}
