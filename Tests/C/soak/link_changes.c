/* SPDX-License-Identifier: MIT */
/* Changes of links and addresses. */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "soak/change_kind.h"
#include "soak/stack.h"
#include "support/namespace.h"

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

static const char *const links[] = { "a", "c", "lo", "p" };
static const char *const pairs[2][2] = { { "a", "b" }, { "c", "d" } };
static const char *const renamed[2] = { "e", "f" };
static const struct {
    const char *link, *prefix;
} addresses[] = { { "a", "192.0.2.2/24" },     { "a", "192.0.2.3/24" }, { "c", "203.0.113.2/24" },
                  { "c", "192.0.2.2/32" },     { "p", "10.9.0.1/24" },  { "a", "2001:db8::2/64" },
                  { "c", "2001:db8:c::2/64" }, { "a", "fe80::2/64" },   { "c", "fe80::3/64" },
                  { "a", "fd00:2::2/64" } };

static int set_link(change bits, struct world *world, struct change_made *ret)
{
    const char *name = links[random_take(&bits, COUNT(links))];
    const bool up = random_take(&bits, 3) != 0; /* up more often than down: more targets are reachable */

    text_add(&ret->text, "link set dev %s %s", name, up ? "up" : "down");
    return writer_link_up(&world->writer, world_index(name), up);
}

static int set_peer(change bits, struct world *world, struct change_made *ret)
{
    const char *name = pairs[random_take(&bits, 2)][1];
    const bool up = random_take(&bits, 3) != 0;

    text_add(&ret->text, "link set dev %s %s", name, up ? "up" : "down");
    return writer_link_up(&world->writer, world_index(name), up);
}

/* Otherwise little would stay reachable. */
static int restore_link(change bits, struct world *world, struct change_made *ret)
{
    static const char *const restored[] = { "a", "c", "p" };
    const char *link = restored[random_take(&bits, COUNT(restored))];

    text_add(&ret->text, "%s", world_restore_text(link));
    world_restore(world, link);
    return 0;
}

static int replace_pair(change bits, struct world *world, struct change_made *ret)
{
    const char *const *pair = pairs[random_take(&bits, 2)];
    const unsigned index = world_index(pair[0]);

    const unsigned new_index = random_take(&bits, 2) == 0 ? index : 0; /* 0: the kernel chooses */

    text_add(&ret->text, "link del index %u; link add name %s index %u up type veth peer name %s; link set dev %s up",
             index, pair[0], new_index, pair[1], pair[1]);
    if (index != 0)
        writer_link_delete(&world->writer, index);
    writer_link_add_pair_at(&world->writer, new_index, pair[0], pair[1]);
    writer_link_up(&world->writer, writer_index(pair[1]), true);
    return writer_link_up(&world->writer, writer_index(pair[0]), true);
}

static int rename_link(change bits, struct world *world, struct change_made *ret)
{
    const unsigned which = random_take(&bits, 2);
    const char *from = writer_index(pairs[which][0]) != 0 ? pairs[which][0] : renamed[which];
    const char *to = from == renamed[which] ? pairs[which][0] : renamed[which];

    text_add(&ret->text, "link set dev %s name %s", from, to);
    return writer_link_rename(&world->writer, writer_index(from), to);
}

static int move_link(change bits, struct world *world, struct change_made *ret)
{
    const unsigned which = random_take(&bits, 2), index = world_index(pairs[which][0]);

    if (index != 0) {
        text_add(&ret->text, "link set index %u netns other", index);
        return writer_link_move(&world->writer, index, world->other.pid);
    }
    for (unsigned i = 0; i < 2; i++) {
        struct text command = { .length = 0 };

        text_add(&command, "link set dev %s netns %d", i == 0 ? pairs[which][0] : renamed[which], (int)getpid());
        text_add(&ret->text, "%s-netns other %s", i == 0 ? "" : "; ", command.bytes);
        if (namespace_other_try_ip(&world->other, command.bytes))
            return 0;
    }
    return ENODEV;
}

static int change_stack(change bits, struct world *world, struct change_made *ret)
{
    const unsigned number = random_take(&bits, STACK_LINKS);

    (void)world;
    return stack_change(number, random_take(&bits, 3), &ret->text);
}

static int set_tentative(change bits, struct world *world, struct change_made *ret)
{
    const char *prefix = random_take(&bits, 2) == 0 ? "2001:db8::2/64" : "2001:db8::3/64";
    const unsigned index = world_index("a");

    (void)namespace_try_sysctl("net.ipv6.conf.a.accept_dad", "1");
    text_add(&ret->text, "sysctl net.ipv6.conf.a.accept_dad=1; addr del %s dev a; addr add %s dev a", prefix, prefix);
    writer_address(&world->writer, WRITER_DELETE, index, prefix);
    return writer_address_tentative(&world->writer, index, prefix);
}

static int set_address(change bits, struct world *world, struct change_made *ret)
{
    const unsigned which = random_take(&bits, COUNT(addresses));
    const enum writer_action action = random_take(&bits, 3) == 0 ? WRITER_DELETE : WRITER_REPLACE;

    text_add(&ret->text, "addr %s %s dev %s nodad", change_actions[action], addresses[which].prefix,
             addresses[which].link);
    return writer_address(&world->writer, action, world_index(addresses[which].link), addresses[which].prefix);
}

const struct change_kind link_changes[] = {
    { .make = set_link, .weight = 30 },     { .make = set_peer, .weight = 30 },
    { .make = restore_link, .weight = 40 }, { .make = set_address, .weight = 45 },
    { .make = replace_pair, .weight = 2 },  { .make = rename_link, .weight = 3 },
    { .make = move_link, .weight = 2 },     { .make = change_stack, .weight = 6 },
    { .make = set_tentative, .weight = 2 }, { .weight = 0 }
};
