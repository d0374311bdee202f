/* SPDX-License-Identifier: MIT */
/* What the library reads from the resolver files. A host name is not looked up here. */
#include <sys/prctl.h>
#include <sys/stat.h>

#include "names/name_servers.h"
#include "support/etc.h"
#include "support/test.h"

static void begin(void)
{
    namespace_require_lo();
    etc_require("192.0.2.53");
}

/* Makes the path a symbolic link to a file with this text, at most 15 characters, and a size of 0. */
static void link_to_file_of_size_0(const char *path, const char *text)
{
    struct stat status;

    assert_int_equal(prctl(PR_SET_NAME, text), 0);
    etc_link(path, "/proc/self/comm");
    assert_int_equal(stat(path, &status), 0);
    assert_int_equal(status.st_size, 0);
}

static void expect_server(const char *text)
{
    const struct sockaddr_storage expected = expect_sockaddr(text);
    const struct address given = reach_address_from_sockaddr((const struct sockaddr *)&expected, &(uint32_t){ 0 });
    const struct address address = reach_address_is_unspecified(&given) ? (struct address){ 0 } : given;
    struct questions *questions;

    assert_int_equal(reach_name_servers_questions(&questions), 0);
    assert_int_equal(questions->count, 1);
    assert_true(reach_address_equal(&questions->items[0].destination, &address));
    reach_questions_release(questions);
}

/* As a link to /proc/net/pnp has, where the kernel writes the name servers that it got by DHCP. */
TEST(a_resolv_conf_of_size_0_is_read_to_its_end)
{
    link_to_file_of_size_0(ETC_RESOLV_CONF, "nameserver ::9");
    expect_server("::9");
}

TEST(a_long_resolv_conf_is_read_to_its_end)
{
    static char text[100001];

    for (size_t i = 0; i < 10000; i++)
        memcpy(text + 10 * i, "# comment\n", 10);
    memcpy(text + sizeof text - 1 - 15, "\nnameserver ::9", 15);
    etc_write(ETC_RESOLV_CONF, text);
    expect_server("::9");
}

/* Without a name server, the question is about the default path. */
TEST(a_directory_and_a_fifo_count_as_empty)
{
    etc_link(ETC_RESOLV_CONF, "/run");
    expect_server("0.0.0.0");
    etc_remove(ETC_RESOLV_CONF);
    assert_int_equal(mkfifo(ETC_RESOLV_CONF, 0600), 0);
    expect_server("0.0.0.0");
}

UNIT(.setup = begin)
