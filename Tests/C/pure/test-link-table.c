/* SPDX-License-Identifier: MIT */
/* The link table, and the kind of each link. No kernel. */
#include <linux/if.h>
#include <linux/if_arp.h>

#include "pure/link.h"
#include "support/unit.h"

/* A whole message about a link; kind NULL: none. */
static struct message about(uint32_t index, const char *name, uint32_t flags, const char *kind)
{
    struct message message = { .kind = MESSAGE_LINK,
                               .link = { .index = index,
                                         .flags = flags,
                                         .hardware = ARPHRD_ETHER,
                                         .mtu = 1500,
                                         .has_name = true,
                                         .has_mtu = true,
                                         .info.has_kind = kind != NULL } };

    snprintf(message.link.name, sizeof message.link.name, "%s", name);
    snprintf(message.link.info.kind, sizeof message.link.info.kind, "%s", kind != NULL ? kind : "");
    return message;
}

static void apply(struct link_table *links, struct message message)
{
    assert_int_equal(reach_link_table_apply(links, &message), 0);
}

TEST(the_link_to_the_local_network_is_the_best_with_the_lowest_index)
{
    static const struct {
        uint32_t flags[4]; /* of links 1 to 4 */
        uint16_t hardware; /* of link 4 */
        uint32_t found;    /* 0: none */
    } rows[] = {
#define UP_LINK (IFF_UP | IFF_RUNNING)
        { { UP_LINK | IFF_LOOPBACK, 0, UP_LINK, UP_LINK }, ARPHRD_ETHER, 3 },
        { { UP_LINK | IFF_LOOPBACK, 0, IFF_UP, UP_LINK }, ARPHRD_ETHER, 4 },
        { { UP_LINK | IFF_LOOPBACK, 0, IFF_UP, UP_LINK }, ARPHRD_PPP, 3 },
        { { UP_LINK | IFF_LOOPBACK, 0, IFF_RUNNING, IFF_UP }, ARPHRD_ETHER, 4 },
        { { UP_LINK | IFF_LOOPBACK, 0, IFF_RUNNING, 0 }, ARPHRD_ETHER, 2 },
        { { IFF_LOOPBACK, UP_LINK | IFF_POINTOPOINT, IFF_POINTOPOINT, UP_LINK }, ARPHRD_NONE, 0 },
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct link_table links = LINK_TABLE_EMPTY;

        for (uint32_t index = 4; index >= 1; index--) {
            struct message message = about(index, "x", rows[i].flags[index - 1], NULL);

            if (index == 4)
                message.link.hardware = rows[i].hardware;
            apply(&links, message);
        }
        const struct link *found = reach_link_table_find_local(&links);
        assert_int_equal(found == NULL ? 0 : found->index, rows[i].found);
        reach_link_table_clear(&links);
    }
    assert_null(reach_link_table_find_local(&LINK_TABLE_EMPTY));
}

TEST(links_are_added_changed_and_deleted)
{
    struct link_table links = LINK_TABLE_EMPTY;

    assert_null(reach_link_table_find(&links, 1));
    apply(&links, about(7, "a", IFF_UP, "veth"));
    apply(&links, about(3, "b", 0, NULL));
    apply(&links, about(5, "c", IFF_UP | IFF_RUNNING, NULL));
    assert_int_equal(links.count, 3);
    assert_string_equal(reach_link_table_find(&links, 3)->name, "b");
    assert_string_equal(reach_link_table_find(&links, 5)->name, "c");
    assert_string_equal(reach_link_table_find(&links, 7)->name, "a");
    assert_string_equal(reach_link_table_find(&links, 7)->kind, "veth");
    assert_true(reach_link_table_find(&links, 7)->complete);
    assert_null(reach_link_table_find(&links, 4));

    apply(&links, about(7, "renamed", 0, "veth"));
    assert_int_equal(links.count, 3);
    assert_string_equal(reach_link_table_find(&links, 7)->name, "renamed");
    assert_int_equal(reach_link_table_find(&links, 7)->flags, 0);

    apply(&links, (struct message){ .kind = MESSAGE_LINK_GONE, .link = { .index = 5 } });
    apply(&links, (struct message){ .kind = MESSAGE_LINK_GONE, .link = { .index = 6 } });
    assert_int_equal(links.count, 2);
    assert_null(reach_link_table_find(&links, 5));
    assert_string_equal(reach_link_table_find(&links, 3)->name, "b");
    assert_string_equal(reach_link_table_find(&links, 7)->name, "renamed");
    reach_link_table_clear(&links);
    assert_int_equal(links.count, 0);
    assert_null(reach_link_table_find(&links, 3));
}

TEST(a_partial_message_changes_flags_alone)
{
    struct link_table links = LINK_TABLE_EMPTY;
    struct message partial = { .kind = MESSAGE_LINK,
                               .link = { .index = 3, .flags = IFF_UP | IFF_RUNNING, .hardware = ARPHRD_ETHER } };

    apply(&links, about(3, "wlan0", IFF_UP, "veth"));
    apply(&links, partial);
    assert_string_equal(reach_link_table_find(&links, 3)->name, "wlan0");
    assert_string_equal(reach_link_table_find(&links, 3)->kind, "veth");
    assert_int_equal(reach_link_table_find(&links, 3)->mtu, 1500);
    assert_true(reach_link_table_find(&links, 3)->complete);
    assert_true(reach_link_is_running(reach_link_table_find(&links, 3)));

    /* For an unknown link a partial message is incomplete. */
    partial.link.index = 4;
    apply(&links, partial);
    assert_false(reach_link_table_find(&links, 4)->complete);
    apply(&links, about(4, "eth0", IFF_UP, NULL));
    assert_true(reach_link_table_find(&links, 4)->complete);
    reach_link_table_clear(&links);
}

TEST(many_links_stay_in_order)
{
    struct link_table links = LINK_TABLE_EMPTY;
    char name[16];

    for (uint32_t i = 0; i < 500; i++) {
        const uint32_t index = (i * 197) % 499 + 1; /* each once, the last one twice */

        snprintf(name, sizeof name, "l%u", index);
        apply(&links, about(index, name, 0, NULL));
    }
    assert_int_equal(links.count, 499);
    for (size_t i = 1; i < links.count; i++)
        assert_true(links.items[i - 1].index < links.items[i].index);
    for (uint32_t index = 1; index <= 499; index += 2)
        apply(&links, (struct message){ .kind = MESSAGE_LINK_GONE, .link = { .index = index } });
    for (uint32_t index = 1; index <= 499; index++) {
        snprintf(name, sizeof name, "l%u", index);
        if (index % 2 != 0)
            assert_null(reach_link_table_find(&links, index));
        else
            assert_string_equal(reach_link_table_find(&links, index)->name, name);
    }
    reach_link_table_clear(&links);
}

TEST(a_kind_of_link_follows_from_kind_and_hardware)
{
    static const struct {
        const char *kind;
        uint16_t hardware;
        uint32_t flags;
        SCNetworkReachabilityInterfaceType type;
        bool point_to_point;
    } rows[] = {
#define TYPE(type) kSCNetworkReachabilityInterfaceType##type
        { "", ARPHRD_LOOPBACK, IFF_LOOPBACK, TYPE(Loopback), false },
        { "", ARPHRD_ETHER, IFF_BROADCAST, TYPE(WiredEthernet), false },
        { "veth", ARPHRD_ETHER, IFF_BROADCAST, TYPE(Virtual), false },
        { "bridge", ARPHRD_ETHER, IFF_BROADCAST, TYPE(Virtual), false },
        { "bond", ARPHRD_ETHER, IFF_BROADCAST, TYPE(Virtual), false },
        { "vlan", ARPHRD_ETHER, IFF_BROADCAST, TYPE(Virtual), false },
        { "macvlan", ARPHRD_ETHER, IFF_BROADCAST, TYPE(Virtual), false },
        { "vrf", ARPHRD_ETHER, IFF_NOARP, TYPE(Virtual), false },
        { "dummy", ARPHRD_ETHER, IFF_BROADCAST | IFF_NOARP, TYPE(Virtual), false },
        { "vxlan", ARPHRD_ETHER, IFF_BROADCAST, TYPE(Virtual), false },
        { "wwan", ARPHRD_NONE, IFF_POINTOPOINT | IFF_NOARP, TYPE(Cellular), true },
        { "rmnet", ARPHRD_RAWIP, IFF_NOARP, TYPE(Cellular), true },
        { "ppp", ARPHRD_PPP, IFF_POINTOPOINT | IFF_NOARP, TYPE(PointToPoint), true },
        { "", ARPHRD_PPP, IFF_POINTOPOINT | IFF_NOARP, TYPE(PointToPoint), true },
        { "tun", ARPHRD_NONE, IFF_POINTOPOINT | IFF_NOARP, TYPE(Tunnel), true },
        { "tun", ARPHRD_ETHER, IFF_BROADCAST, TYPE(Tunnel), false }, /* tap */
        { "wireguard", ARPHRD_NONE, IFF_POINTOPOINT | IFF_NOARP, TYPE(Tunnel), true },
        { "gre", ARPHRD_IPGRE, IFF_POINTOPOINT | IFF_NOARP, TYPE(Tunnel), true },
        { "gre", ARPHRD_IPGRE, IFF_BROADCAST, TYPE(Tunnel), false }, /* without a remote */
        { "gretap", ARPHRD_ETHER, IFF_BROADCAST, TYPE(Tunnel), false },
        { "ipip", ARPHRD_TUNNEL, IFF_NOARP, TYPE(Tunnel), true },
        { "sit", ARPHRD_SIT, IFF_NOARP, TYPE(Tunnel), true },
        { "ip6tnl", ARPHRD_TUNNEL6, IFF_POINTOPOINT | IFF_NOARP, TYPE(Tunnel), true },
        { "vti", ARPHRD_TUNNEL, IFF_POINTOPOINT | IFF_NOARP, TYPE(Tunnel), true },
        { "vti6", ARPHRD_TUNNEL6, IFF_POINTOPOINT | IFF_NOARP, TYPE(Tunnel), true },
        { "xfrm", ARPHRD_NONE, IFF_NOARP, TYPE(Tunnel), true }, /* never has the flag */
        { "", ARPHRD_NONE, IFF_NOARP, TYPE(Tunnel), true },
        { "", ARPHRD_INFINIBAND, IFF_BROADCAST, TYPE(Other), false },
    };
    struct link_table links = LINK_TABLE_EMPTY;

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct link link = { .index = 1, .flags = rows[i].flags, .hardware = rows[i].hardware };

        snprintf(link.kind, sizeof link.kind, "%s", rows[i].kind);
        snprintf(link.name, sizeof link.name, "%s", "ppp0"); /* the name does not matter */
        assert_int_equal(reach_link_table_put(&links, &link), 0);
        const struct link *put = reach_link_table_find(&links, 1);
        if (put->type != rows[i].type || reach_link_is_point_to_point(put) != rows[i].point_to_point)
            fail_msg("row %zu, kind \"%s\": type %u", i, rows[i].kind, put->type);
    }
    reach_link_table_clear(&links);
}

static const struct link *put(struct link_table *links, uint32_t index, const char *kind, bool complete,
                              enum device device)
{
    struct link link = { .index = index, .hardware = ARPHRD_ETHER, .complete = complete, .device = device };

    snprintf(link.name, sizeof link.name, "l%u", index);
    snprintf(link.kind, sizeof link.kind, "%s", kind);
    assert_int_equal(reach_link_table_put(links, &link), 0);
    return reach_link_table_find(links, index);
}

TEST(a_kind_of_link_follows_from_the_device)
{
    static const struct {
        const char *kind;
        bool complete;
        enum device device;
        SCNetworkReachabilityInterfaceType type;
        bool flags_known, type_known;
    } rows[] = {
        /* Not read yet, or without a result. */
        { "", false, DEVICE_UNKNOWN, TYPE(WiredEthernet), false, false },
        { "", true, DEVICE_UNKNOWN, TYPE(WiredEthernet), false, false },
        { "", true, DEVICE_NOT_IN_SYSFS, TYPE(WiredEthernet), false, false },
        { "veth", true, DEVICE_NOT_IN_SYSFS, TYPE(Virtual), true, true },
        { "tun", true, DEVICE_NOT_IN_SYSFS, TYPE(Tunnel), true, true },
        { "wwan", true, DEVICE_NOT_IN_SYSFS, TYPE(Cellular), true, true },
        { "vlan", true, DEVICE_NOT_IN_SYSFS, TYPE(Virtual), false, false },
        { "bridge", true, DEVICE_NOT_IN_SYSFS, TYPE(Virtual), false, false },
        /* sysfs shows it. */
        { "", false, DEVICE_PHYSICAL, TYPE(WiredEthernet), true, true },
        { "", false, DEVICE_WIFI, TYPE(WiFi), true, true },
        { "", false, DEVICE_CELLULAR, TYPE(Cellular), true, true },
        { "", false, DEVICE_VIRTUAL, TYPE(WiredEthernet), true, false }, /* its kind is not known yet */
        { "veth", true, DEVICE_VIRTUAL, TYPE(Virtual), true, true },
        { "veth", true, DEVICE_CELLULAR, TYPE(Cellular), true, true },
        { "vlan", true, DEVICE_VIRTUAL, TYPE(Virtual), true, false }, /* a tunnel may carry it */
        { "vlan", true, DEVICE_PHYSICAL, TYPE(WiredEthernet), true, true },
        { "vlan", true, DEVICE_WIFI, TYPE(WiFi), true, true },
        { "bond", true, DEVICE_CELLULAR, TYPE(Cellular), true, true },
        { "dsa", true, DEVICE_PHYSICAL, TYPE(WiredEthernet), true, true },
    };
    struct link_table links = LINK_TABLE_EMPTY;

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const struct link *link = put(&links, 1, rows[i].kind, rows[i].complete, rows[i].device);

        if (link->type != rows[i].type || reach_link_flags_are_known(link) != rows[i].flags_known ||
            reach_link_type_is_known(link) != rows[i].type_known)
            fail_msg("row %zu, kind \"%s\": type %u", i, rows[i].kind, link->type);
    }
    reach_link_table_clear(&links);
}

/* Learned facts stay until an event that may change them. */
TEST(learned_facts_are_forgotten_when_they_may_have_changed)
{
    static const struct {
        const char *name, *kind; /* of a message about link 1; NULL: a partial one */
        bool stays;
    } rows[] = { { "l1", "", true }, { NULL, NULL, true }, { "other", "", false }, { "l1", "vlan", false } };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct link_table links = LINK_TABLE_EMPTY;
        struct message partial = { .kind = MESSAGE_LINK, .link = { .index = 1, .hardware = ARPHRD_ETHER } };

        put(&links, 1, "", true, DEVICE_CELLULAR);
        apply(&links, rows[i].name == NULL ? partial
                                           : about(1, rows[i].name, 0, rows[i].kind[0] != '\0' ? rows[i].kind : NULL));
        assert_int_equal(reach_link_table_find(&links, 1)->device, rows[i].stays ? DEVICE_CELLULAR : DEVICE_UNKNOWN);
        assert_int_equal(reach_link_table_find(&links, 1)->type == TYPE(Cellular), rows[i].stays);
        reach_link_table_clear(&links);
    }
}

TEST(any_link_may_change_what_carries_another)
{
    struct link_table links = LINK_TABLE_EMPTY;
    struct link bridge;

    bridge = *put(&links, 1, "bridge", true, DEVICE_CELLULAR);
    bridge.carried = true;
    assert_int_equal(reach_link_table_put(&links, &bridge), 0);
    put(&links, 2, "", true, DEVICE_WIFI);
    apply(&links, about(2, "l2", 0, NULL));
    assert_int_equal(reach_link_table_find(&links, 1)->device, DEVICE_CELLULAR); /* that link did not change */
    struct message message = about(2, "l2", 0, NULL);
    message.link.mtu = 9000;
    apply(&links, message);
    assert_int_equal(reach_link_table_find(&links, 1)->device, DEVICE_CELLULAR);
    message.link.master = 1;
    apply(&links, message);
    assert_int_equal(reach_link_table_find(&links, 1)->device, DEVICE_UNKNOWN);
    assert_int_equal(reach_link_table_find(&links, 2)->device, DEVICE_WIFI);
    bridge.carried = true;
    assert_int_equal(reach_link_table_put(&links, &bridge), 0);
    message.link.flags = IFF_RUNNING;
    apply(&links, message);
    assert_int_equal(reach_link_table_find(&links, 1)->device, DEVICE_UNKNOWN);
    assert_int_equal(reach_link_table_put(&links, &bridge), 0);
    apply(&links, (struct message){ .kind = MESSAGE_LINK_GONE, .link = { .index = 5 } });
    assert_int_equal(reach_link_table_find(&links, 1)->device, DEVICE_UNKNOWN);
    reach_link_table_clear(&links);
}

TEST(learned_facts_stay_unless_the_link_changed_meanwhile)
{
    struct link_table links = LINK_TABLE_EMPTY;
    const struct link whole = { .index = 1,
                                .complete = true,
                                .kind = "vlan",
                                .learned = true,
                                .type = TYPE(Tunnel),
                                .device = DEVICE_VIRTUAL,
                                .flags = IFF_UP };
    unsigned version;

    put(&links, 1, "", false, DEVICE_NOT_IN_SYSFS);
    version = links.version;
    apply(&links, (struct message){ .kind = MESSAGE_LINK_GONE, .link = { .index = 5 } });
    reach_link_table_learn(&links, &whole, version);
    assert_int_equal(reach_link_table_find(&links, 1)->device, DEVICE_NOT_IN_SYSFS);
    reach_link_table_learn(&links, &whole, links.version);
    assert_int_equal(reach_link_table_find(&links, 1)->type, TYPE(Tunnel));
    assert_true(reach_link_type_is_known(reach_link_table_find(&links, 1)));
    assert_string_equal(reach_link_table_find(&links, 1)->kind, "vlan");
    assert_int_equal(reach_link_table_find(&links, 1)->flags, 0); /* messages carry these */
    reach_link_table_clear(&links);
}

/* After the port of a bond was learned, the next message about it changes nothing. */
TEST(learned_facts_replace_all_older_ones)
{
    static const struct link wholes[] = {
        { .index = 2, .complete = true, .master = 1 },
        { .index = 2, .complete = true, .kind = "bond", .active = 3, .carried = true },
    };

    for (size_t i = 0; i < sizeof wholes / sizeof wholes[0]; i++) {
        const struct link *whole = &wholes[i];
        struct link_table links = LINK_TABLE_EMPTY;
        struct link bridge = *put(&links, 1, "bridge", true, DEVICE_CELLULAR);
        struct message message = about(2, "l2", 0, whole->kind);

        bridge.carried = true;
        assert_int_equal(reach_link_table_put(&links, &bridge), 0);
        put(&links, 2, "", false, DEVICE_NOT_IN_SYSFS);
        reach_link_table_learn(&links, whole, links.version);
        message.link.mtu = 9000;
        message.link.master = whole->master;
        message.link.info.active = whole->active;
        apply(&links, message);
        assert_int_equal(reach_link_table_find(&links, 1)->device, DEVICE_CELLULAR);
        assert_true(reach_link_table_find(&links, 2)->learned);
        reach_link_table_clear(&links);
    }
}

TEST(a_running_device_is_chosen_before_a_better_one)
{
    static const struct {
        bool running;
        enum device device;
        bool chosen, best;
    } rows[] = {
        { false, DEVICE_NOT_IN_SYSFS, true, false }, { false, DEVICE_PHYSICAL, true, false },
        { false, DEVICE_PHYSICAL, false, false },    { true, DEVICE_NOT_IN_SYSFS, true, false },
        { true, DEVICE_CELLULAR, true, false },      { true, DEVICE_VIRTUAL, false, false },
        { false, DEVICE_PHYSICAL, false, false },    { true, DEVICE_WIFI, true, false },
        { true, DEVICE_PHYSICAL, true, true },       { true, DEVICE_PHYSICAL, false, true },
    };
    struct link_choice choice = { 0 };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (reach_link_choose(&choice, rows[i].running, rows[i].device) != rows[i].chosen ||
            reach_link_is_best(&choice) != rows[i].best)
            fail_msg("row %zu", i);
}

TEST(up_and_running_are_different_flags)
{
    static const struct {
        uint32_t flags;
        bool up, running;
    } rows[] = { { 0, false, false },
                 { IFF_UP, true, false },
                 { IFF_RUNNING, false, true },
                 { IFF_UP | IFF_RUNNING, true, true },
                 { IFF_UP | IFF_LOWER_UP | IFF_DORMANT, true, false } };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const struct link link = { .flags = rows[i].flags };

        assert_int_equal(reach_link_is_up(&link), rows[i].up);
        assert_int_equal(reach_link_is_running(&link), rows[i].running);
    }
}

static void set_device(struct link_table *links, uint32_t index, enum device device)
{
    struct link link = *reach_link_table_find(links, index);

    link.device = device;
    assert_int_equal(reach_link_table_put(links, &link), 0);
}

TEST(a_device_is_taken_from_another_table_for_the_same_link)
{
    static const struct {
        const char *name, *other_name;
        enum device device;
        bool is_taken;
    } rows[] = { { "a", "a", DEVICE_WIFI, true },
                 { "a", "a", DEVICE_PHYSICAL, true },
                 { "a", "b", DEVICE_WIFI, false },
                 { "a", "a", DEVICE_VIRTUAL, false },
                 { "a", "a", DEVICE_NOT_IN_SYSFS, false } };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct link_table links = LINK_TABLE_EMPTY, other = LINK_TABLE_EMPTY;

        apply(&links, about(2, rows[i].name, IFF_UP, NULL));
        apply(&other, about(2, rows[i].other_name, IFF_UP, NULL));
        apply(&other, about(3, "c", IFF_UP, NULL));
        set_device(&other, 2, rows[i].device);
        assert_int_equal(reach_link_table_take_devices(&links, &other, false), rows[i].is_taken);
        assert_int_equal(reach_link_table_find(&links, 2)->device, DEVICE_UNKNOWN);
        assert_int_equal(reach_link_table_take_devices(&links, &other, true), rows[i].is_taken);
        assert_int_equal(reach_link_table_find(&links, 2)->device, rows[i].is_taken ? rows[i].device : DEVICE_UNKNOWN);
        reach_link_table_clear(&links);
        reach_link_table_clear(&other);
    }
}
