/* SPDX-License-Identifier: MIT */
#include "flows/flow_changes.h"

#include <arpa/inet.h>
#include <libmnl/libmnl.h>
#include <linux/fib_rules.h>
#include <linux/neighbour.h>
#include <linux/rtnetlink.h>
#include <sys/socket.h>

#include "flows/flow_oracle.h"
#include "support/namespace.h"
#include "support/unit.h"

#define COUNT(array) (sizeof(array) / sizeof(array)[0])
#define TABLE        100

static const char *const links[2] = { "a", "c" }, *const peers[2] = { "b", "d" };
static const char *const gateways[2][2] = { { "192.0.2.1", "203.0.113.1" }, { "2001:db8::1", "2001:db8:c::1" } };
static const char *const addresses[2][2] = { { "192.0.2.2/24", "203.0.113.2/24" },
                                             { "2001:db8::2/64", "2001:db8:c::2/64" } };
static const char *const defaults[2] = { "0.0.0.0/0", "::/0" };
static const char *const prefixes[2] = { "198.51.100.0/24", "2001:db8:1::/48" };

/* ---- Links and addresses ---------------------------------------------------------------------------------------- */

static int set_default(struct flow_world *world, enum writer_action action, unsigned family, unsigned link,
                       unsigned metric, unsigned table)
{
    return writer_route(&world->writer, action,
                        &(struct writer_route){ .prefix = defaults[family],
                                                .gateway = gateways[family][link],
                                                .index = writer_index(links[link]),
                                                .metric = metric,
                                                .table = table });
}

static void restore(struct flow_world *world, unsigned link, struct text *ret)
{
    writer_link_up(&world->writer, writer_index(peers[link]), true);
    writer_link_up(&world->writer, writer_index(links[link]), true);
    for (unsigned family = 0; family < 2; family++) {
        writer_address(&world->writer, WRITER_REPLACE, writer_index(links[link]), addresses[family][link]);
        set_default(world, WRITER_REPLACE, family, link, 10 + 10 * link, 0);
    }
    text_add(ret, "restore %s", links[link]);
}

/* Addresses go and come back, links lose their carrier, or go down with all that is on them. */
static void change_link(struct flow_world *world, uint64_t *bits, struct text *ret)
{
    const unsigned link = random_take(bits, 2), family = random_take(bits, 2), what = random_take(bits, 8);
    const bool up = random_take(bits, 2) == 0;

    if (what < 2) {
        text_add(ret, "addr %s %s dev %s", up ? "replace" : "del", addresses[family][link], links[link]);
        writer_address(&world->writer, up ? WRITER_REPLACE : WRITER_DELETE, writer_index(links[link]),
                       addresses[family][link]);
    } else if (what < 4) {
        text_add(ret, "link set %s %s", peers[link], up ? "up" : "down");
        writer_link_up(&world->writer, writer_index(peers[link]), up);
    } else if (what == 4) {
        text_add(ret, "link set %s down", links[link]);
        writer_link_up(&world->writer, writer_index(links[link]), false);
    } else {
        restore(world, link, ret);
    }
}

/* ---- Routes ----------------------------------------------------------------------------------------------------- */

static void change_default(struct flow_world *world, uint64_t *bits, struct text *ret)
{
    const unsigned family = random_take(bits, 2), link = random_take(bits, 2);
    const unsigned metric = 5 + 5 * random_take(bits, 4), table = random_take(bits, 3) == 0 ? TABLE : 0;
    const enum writer_action action = random_take(bits, 2) == 0 ? WRITER_REPLACE : WRITER_DELETE;

    text_add(ret, "route %s %s via %s metric %u table %u", action == WRITER_REPLACE ? "replace" : "del",
             defaults[family], gateways[family][link], metric, table);
    set_default(world, action, family, link, metric, table);
}

/* A route over both gateways. If the kernel avoids legs that have failed, a default route: the legs of other routes are
 * followed only for targets that share (docs/reliability.md). */
static void set_legs(struct flow_world *world, enum writer_action action, struct text *ret)
{
    struct writer_route route = { .prefix = world->avoids_failed_legs ? defaults[0] : prefixes[0],
                                  .metric = world->avoids_failed_legs ? 4 : 7 };

    text_add(ret, "route %s %s over both gateways", action == WRITER_REPLACE ? "replace" : "del", route.prefix);
    for (unsigned link = 0; link < 2 && action == WRITER_REPLACE; link++)
        route.legs[link] = (struct writer_leg){ writer_index(links[link]), gateways[0][link] };
    writer_route(&world->writer, action, &route);
}

/* A route to some of the destinations: over a gateway, over both, or of another type. */
static void change_route(struct flow_world *world, uint64_t *bits, struct text *ret)
{
    static const unsigned types[] = { RTN_UNICAST,  RTN_UNICAST,   RTN_UNICAST,
                                      RTN_PROHIBIT, RTN_BLACKHOLE, RTN_UNREACHABLE };
    const unsigned family = random_take(bits, 2), link = random_take(bits, 2), what = random_take(bits, 9);
    struct writer_route route = { .prefix = prefixes[family], .metric = 7 };
    enum writer_action action = WRITER_REPLACE;

    if ((what == 3 && family == 0) || (what < 3 && link == 0 && family == 0 && world->avoids_failed_legs)) {
        set_legs(world, what == 3 ? WRITER_REPLACE : WRITER_DELETE, ret);
        return;
    }
    if (what < 3) {
        action = WRITER_DELETE;
    } else if ((route.type = types[what % COUNT(types)]) == RTN_UNICAST) {
        route.gateway = gateways[family][link];
        route.index = writer_index(links[link]);
    }
    text_add(ret, "route %s %s type %u via %s", action == WRITER_REPLACE ? "replace" : "del", route.prefix, route.type,
             route.gateway != NULL ? route.gateway : "-");
    writer_route(&world->writer, action, &route);
}

/* ---- Rules ------------------------------------------------------------------------------------------------------ */

static int commit(const struct flow_world *world, struct nlmsghdr *header)
{
    char reply[4096];

    header->nlmsg_flags |= NLM_F_REQUEST | NLM_F_ACK;
    assert_int_equal(send(world->writer.fd, header, header->nlmsg_len, 0), header->nlmsg_len);
    assert_true(recv(world->writer.fd, reply, sizeof reply, 0) > 0);
    return -((const struct nlmsgerr *)NLMSG_DATA((struct nlmsghdr *)(void *)reply))->error;
}

static struct nlmsghdr *begin_rule(char *buffer, uint16_t type, unsigned number)
{
    struct nlmsghdr *header = mnl_nlmsg_put_header(buffer);
    struct fib_rule_hdr *info;

    header->nlmsg_type = type;
    header->nlmsg_flags = type == RTM_NEWRULE ? NLM_F_CREATE | NLM_F_EXCL : 0;
    info = mnl_nlmsg_put_extra_header(header, sizeof *info);
    info->family = number % 2 == 0 ? AF_INET : AF_INET6;
    mnl_attr_put_u32(header, FRA_PRIORITY, 100 + number);
    return header;
}

static void put_port(struct nlmsghdr *header, uint16_t type, uint16_t port)
{
    const struct fib_rule_port_range range = { port, port };

    if (port != 0)
        mnl_attr_put(header, type, sizeof range, &range);
}

static int add_rule(const struct flow_world *world, unsigned number, const struct flow_rule *rule, uint8_t action)
{
    _Alignas(struct nlmsghdr) char buffer[512] = { 0 };
    struct nlmsghdr *header = begin_rule(buffer, RTM_NEWRULE, number);
    struct fib_rule_hdr *info = mnl_nlmsg_get_payload(header);
    const struct fib_rule_uid_range root = { 0, 0 };

    info->action = action;
    info->tos = rule->traffic_class;
    if (action == FR_ACT_TO_TBL)
        mnl_attr_put_u32(header, FRA_TABLE, TABLE);
    if (rule->protocol != 0)
        mnl_attr_put_u8(header, FRA_IP_PROTO, rule->protocol);
    if (rule->mark != 0)
        mnl_attr_put_u32(header, FRA_FWMARK, rule->mark);
    if (rule->by_user)
        mnl_attr_put(header, FRA_UID_RANGE, sizeof root, &root);
    put_port(header, FRA_SPORT_RANGE, rule->local_port);
    put_port(header, FRA_DPORT_RANGE, rule->remote_port);
    return commit(world, header);
}

/* Rules hide a lot: most changes delete one. */
static void change_rule(struct flow_world *world, uint64_t *bits, struct text *ret)
{
    static const uint8_t actions[] = { FR_ACT_TO_TBL, FR_ACT_TO_TBL, FR_ACT_PROHIBIT, FR_ACT_UNREACHABLE,
                                       FR_ACT_BLACKHOLE };
    _Alignas(struct nlmsghdr) char buffer[512] = { 0 };
    const unsigned number = random_take(bits, FLOW_RULES);
    struct flow_rule *rule = &world->rules[number];

    if (rule->is_there) {
        text_add(ret, "%srule del priority %u", number % 2 == 1 ? "-6 " : "", 100 + number);
        unit_check(commit(world, begin_rule(buffer, RTM_DELRULE, number)), "rule del");
        rule->is_there = false;
        return;
    }
    memset(rule, 0, sizeof *rule);
    if (random_take(bits, 2) == 0)
        rule->protocol = random_take(bits, 2) == 0 ? IPPROTO_TCP : IPPROTO_UDP;
    if (random_take(bits, 3) == 0)
        rule->local_port = (uint16_t)(1000 + random_take(bits, 4));
    if (random_take(bits, 2) == 0)
        rule->remote_port = random_take(bits, 2) == 0 ? 443 : 80;
    if (random_take(bits, 6) == 0)
        rule->traffic_class = 0x10;
    if (random_take(bits, 6) == 0)
        rule->mark = 1;
    if (random_take(bits, 10) == 0)
        rule->by_user = true;
    uint8_t action = actions[random_take(bits, COUNT(actions))];
    text_add(ret, "%srule add priority %u ipproto %u sport %u dport %u tos 0x%x fwmark %u uid %d action %u",
             number % 2 == 1 ? "-6 " : "", 100 + number, rule->protocol, rule->local_port, rule->remote_port,
             rule->traffic_class, rule->mark, rule->by_user, action);
    unit_check(add_rule(world, number, rule, action), "rule add");
    rule->is_there = true;
}

bool flow_world_hides(const struct flow_world *world, const struct flow_case *flow)
{
    const bool is_socket = flow->kind == FLOW_SOCKET;

    for (unsigned i = flow->family == AF_INET6 ? 1 : 0; i < FLOW_RULES; i += 2) {
        const struct flow_rule *rule = &world->rules[i];

        if (rule->is_there &&
            ((rule->local_port != 0 && flow->local_port == 0) ||
             (rule->traffic_class != 0 && flow->traffic_class == 0 && !is_socket) || (rule->by_user && !is_socket)))
            return true;
    }
    return false;
}

/* ---- Neighbours ------------------------------------------------------------------------------------------------- */

static void delete_neighbour(const struct flow_world *world, unsigned family, unsigned link, const char *address)
{
    _Alignas(struct nlmsghdr) char buffer[512] = { 0 };
    struct nlmsghdr *header = mnl_nlmsg_put_header(buffer);
    struct ndmsg *info;
    uint8_t bytes[16];

    header->nlmsg_type = RTM_DELNEIGH;
    info = mnl_nlmsg_put_extra_header(header, sizeof *info);
    info->ndm_family = family == 1 ? AF_INET6 : AF_INET;
    info->ndm_ifindex = (int)writer_index(links[link]);
    inet_pton(info->ndm_family, address, bytes);
    mnl_attr_put(header, NDA_DST, family == 1 ? 16 : 4, bytes);
    (void)commit(world, header); /* there may be none */
}

static void set_neighbour(struct flow_world *world, uint64_t *bits, struct text *ret)
{
    static const uint16_t states[] = { NUD_REACHABLE, NUD_REACHABLE, NUD_STALE,     NUD_FAILED,
                                       NUD_FAILED,    NUD_PROBE,     NUD_PERMANENT, NUD_NONE };
    const unsigned family = random_take(bits, 2), link = random_take(bits, 2);
    const uint16_t state = states[random_take(bits, COUNT(states))];
    const char *address = gateways[family][link];

    if (link == 0 && random_take(bits, 3) == 0)
        address = flow_remotes[family][2]; /* on the link of a */
    text_add(ret, "neigh replace %s dev %s state 0x%x", address, links[link], state);
    if (state == NUD_NONE) {
        delete_neighbour(world, family, link, address);
        return;
    }
    /* The kernel announces a failure only of an entry that was valid. */
    if (state == NUD_FAILED)
        writer_neighbour(&world->writer, writer_index(links[link]), address, NUD_REACHABLE);
    writer_neighbour(&world->writer, writer_index(links[link]), address, state);
}

/* A packet, whose next hop may fail for that: nobody responds on these links. */
static void send_packet(struct flow_world *world, uint64_t *bits, struct text *ret)
{
    const unsigned family = random_take(bits, 2);
    struct flow_case flow = { .family = family == 1 ? AF_INET6 : AF_INET, .protocol = IPPROTO_UDP, .remote_port = 9 };
    const char *remote = flow_remotes[family][random_take(bits, FLOW_REMOTES)];

    (void)world;
    inet_pton(flow.family, remote, flow.remote);
    text_add(ret, "a packet to %s", remote);
    int fd = flow_case_connect(&flow, false, NULL);
    if (fd < 0)
        return;
    (void)!send(fd, "x", 1, MSG_DONTWAIT);
    close(fd);
}

bool flow_world_is_asking(int family)
{
    bool asking = false;
    uint8_t bytes[16];

    for (unsigned link = 0; link < 2; link++) {
        inet_pton(family, gateways[family == AF_INET6][link], bytes);
        asking = asking || flow_oracle_neighbour(family, writer_index(links[link]), bytes) == NUD_INCOMPLETE;
    }
    return asking;
}

/* ---- The world -------------------------------------------------------------------------------------------------- */

void flow_world_open(struct flow_world *ret, uint64_t bits)
{
    static const char *const families[] = { "ipv4", "ipv6" };
    char name[64];
    struct text unused = { .length = 0 };

    memset(ret, 0, sizeof *ret);
    namespace_require();
    namespace_sysctl("net.ipv6.conf.default.accept_dad", "0");
    namespace_sysctl("net.ipv6.conf.default.addr_gen_mode", "1");
    namespace_sysctl("net.ipv6.conf.default.router_solicitations", "0");
    ret->avoids_failed_legs = random_take(&bits, 2) == 1;
    namespace_sysctl("net.ipv4.fib_multipath_use_neigh", ret->avoids_failed_legs ? "1" : "0");
    namespace_sysctl("net.ipv4.fib_multipath_hash_policy", random_take(&bits, 2) == 0 ? "0" : "1");
    unit_check(writer_open(&ret->writer), "writer_open");
    writer_link_up(&ret->writer, writer_index("lo"), true);
    for (unsigned i = 0; i < 2; i++) {
        unit_check(writer_link_add_pair(&ret->writer, links[i], peers[i]), "link add");
        for (unsigned family = 0; family < 2; family++) {
            snprintf(name, sizeof name, "net.%s.neigh.%s.retrans_time_ms", families[family], links[i]);
            namespace_sysctl(name, "10");
            snprintf(name, sizeof name, "net.%s.neigh.%s.mcast_solicit", families[family], links[i]);
            namespace_sysctl(name, "1");
            snprintf(name, sizeof name, "net.%s.neigh.%s.base_reachable_time_ms", families[family], links[i]);
            namespace_sysctl(name, "3600000");
        }
        restore(ret, i, &unused);
    }
}

void flow_world_close(struct flow_world *world)
{
    writer_close(&world->writer);
}

void flow_world_change(struct flow_world *world, uint64_t bits, struct text *ret)
{
    static void (*const changes[])(struct flow_world * world, uint64_t * bits, struct text * ret) = {
        change_link, change_link, change_default, change_default, change_route,  change_route, change_rule,
        change_rule, change_rule, set_neighbour,  set_neighbour,  set_neighbour, send_packet,  send_packet,
    };

    *ret = (struct text){ .length = 0 };
    changes[random_take(&bits, COUNT(changes))](world, &bits, ret);
}
