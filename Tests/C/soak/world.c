/* SPDX-License-Identifier: MIT */
#include "soak/world.h"

#include "support/etc.h"
#include "support/namespace.h"
#include "support/unit.h"

static const char *const pairs[2][2] = { { "a", "b" }, { "c", "d" } };
static const char *const links[] = { "a", "c", "p" };

static const struct {
    const char *link, *prefix;
} addresses[] = { { "a", "192.0.2.2/24" },
                  { "c", "203.0.113.2/24" },
                  { "p", "10.9.0.1/24" },
                  { "a", "2001:db8::2/64" },
                  { "c", "2001:db8:c::2/64" } };

static const struct {
    const char *prefix, *gateway, *link;
} routes[] = { { "0.0.0.0/0", "192.0.2.1", "a" },
               { "::/0", "2001:db8::1", "a" },
               { "198.51.100.0/24", "203.0.113.1", "c" },
               { "2001:db8:1::/48", "2001:db8:c::1", "c" } };

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

void world_restore(struct world *world, const char *link)
{
    const unsigned index = world_index(link);

    for (unsigned i = 0; i < 2; i++)
        if (strcmp(pairs[i][0], link) == 0)
            writer_link_up(&world->writer, writer_index(pairs[i][1]), true);
    writer_link_up(&world->writer, index, true);
    for (size_t i = 0; i < COUNT(addresses); i++)
        if (strcmp(addresses[i].link, link) == 0)
            writer_address(&world->writer, WRITER_REPLACE, index, addresses[i].prefix);
    for (size_t i = 0; i < COUNT(routes); i++)
        if (strcmp(routes[i].link, link) == 0)
            writer_route(
                &world->writer, WRITER_REPLACE,
                &(struct writer_route){ .prefix = routes[i].prefix, .gateway = routes[i].gateway, .index = index });
}

const char *world_restore_text(const char *link)
{
    return link[0] == 'a'   ? "link set dev b up; link set dev a up; addr replace 192.0.2.2/24 dev a; "
                              "addr replace 2001:db8::2/64 dev a nodad; route replace default via 192.0.2.1 dev a; "
                              "route replace ::/0 via 2001:db8::1 dev a"
           : link[0] == 'c' ? "link set dev d up; link set dev c up; addr replace 203.0.113.2/24 dev c; "
                              "addr replace 2001:db8:c::2/64 dev c nodad; "
                              "route replace 198.51.100.0/24 via 203.0.113.1 dev c; "
                              "route replace 2001:db8:1::/48 via 2001:db8:c::1 dev c"
                            : "link set dev p up; addr replace 10.9.0.1/24 dev p";
}

bool world_run(const char *command, struct text *text)
{
    text_add(text, "%s%s", text->length > 0 ? "; " : "", command);
    return namespace_try_ip("%s", command);
}

/* Gateways fail within milliseconds, and others respond for ever. */
static const struct {
    const char *name, *value;
} neighbour_times[] = { { "net.ipv6.neigh.a.retrans_time_ms", "10" },
                        { "net.ipv6.neigh.a.mcast_solicit", "1" },
                        { "net.ipv6.neigh.c.retrans_time_ms", "10" },
                        { "net.ipv6.neigh.c.mcast_solicit", "1" },
                        { "net.ipv4.neigh.a.retrans_time_ms", "10" },
                        { "net.ipv4.neigh.c.retrans_time_ms", "10" },
                        { "net.ipv4.neigh.a.base_reachable_time_ms", "3600000" },
                        { "net.ipv4.neigh.c.base_reachable_time_ms", "3600000" } };

void world_print(void)
{
    print_message("sysctl net.ipv6.conf.default.accept_dad=0 net.ipv6.conf.default.addr_gen_mode=1 "
                  "net.ipv6.conf.default.router_probe_interval=1\n"
                  "link set dev lo up\n");
    for (unsigned i = 0; i < 2; i++)
        print_message("link add name %s type veth peer name %s\n", pairs[i][0], pairs[i][1]);
    for (size_t i = 0; i < sizeof neighbour_times / sizeof neighbour_times[0]; i++)
        print_message("sysctl %s=%s\n", neighbour_times[i].name, neighbour_times[i].value);
    print_message("tuntap add p mode tun # and a process that holds it open\n");
    print_message("addr add fe80::b/64 dev b nodad # and a router that sends from it\n");
    for (unsigned i = 0; i < 3; i++)
        print_message("%s\n", world_restore_text(links[i]));
}

static void open_writer(void *writer)
{
    writer_open(writer);
}

void world_open(struct world *ret)
{
    namespace_require();
    etc_require("192.0.2.53");
    ret->mounts = 0;
    /* Nothing changes by itself: no duplicate address detection, no automatic link-local addresses. */
    namespace_sysctl("net.ipv6.conf.default.accept_dad", "0");
    namespace_sysctl("net.ipv6.conf.default.addr_gen_mode", "1");
    namespace_sysctl("net.ipv6.conf.default.router_solicitations", "0");
    namespace_sysctl("net.ipv6.conf.default.router_probe_interval", "1"); /* except gateways that fail */
    namespace_aside(open_writer, &ret->writer);
    assert_true(ret->writer.fd >= 0);
    writer_link_up(&ret->writer, writer_index("lo"), true);
    for (unsigned i = 0; i < 2; i++)
        writer_link_add_pair(&ret->writer, pairs[i][0], pairs[i][1]);
    for (size_t i = 0; i < sizeof neighbour_times / sizeof neighbour_times[0]; i++)
        (void)namespace_try_sysctl(neighbour_times[i].name, neighbour_times[i].value);
    ret->tun = namespace_add_tun("p");
    writer_address(&ret->writer, WRITER_ADD, writer_index("b"), "fe80::b/64");
    (void)router_start(&ret->router, "b", "a"); /* a sandbox may refuse it */
    namespace_other_open(&ret->other);
    for (unsigned i = 0; i < 3; i++)
        world_restore(ret, links[i]);
}

void world_close(struct world *world)
{
    writer_close(&world->writer);
    namespace_other_close(&world->other);
    if (world->router.fd >= 0)
        close(world->router.fd);
    if (world->tun >= 0)
        close(world->tun);
}

unsigned world_index(const char *name)
{
    const char renamed[2] = { (char)(name[0] == 'a' ? 'e' : 'f'), '\0' };
    const unsigned index = writer_index(name);

    return index != 0 || (name[0] != 'a' && name[0] != 'c') || name[1] != '\0' ? index : writer_index(renamed);
}

unsigned long world_drops(void)
{
    FILE *table = fopen("/proc/thread-self/net/netlink", "re");
    char line[256];
    unsigned long drops = 0, value;

    if (table == NULL)
        return 0;
    while (fgets(line, sizeof line, table) != NULL)
        if (sscanf(line, "%*s %*u %*s %*x %*s %*s %*s %*s %lu", &value) == 1)
            drops += value;
    fclose(table);
    return drops;
}
