/* SPDX-License-Identifier: MIT */
/*
 * Changes that the kernel does not announce: address labels, IPsec policies, route_localnet. The next change of an
 * address shows them (docs/reliability.md). And changes of resolv.conf, also by a mount over it.
 */
#include <errno.h>
#include <net/if.h>
#include <stdio.h>
#include <string.h>

#include "soak/change_kind.h"
#include "support/etc.h"
#include "support/namespace.h"

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

/* Of both families: an IPv4 address says nothing of IPv6. */
static void change_addresses(struct text *text)
{
    static const char *const links[] = { "a", "c", "p", "lo" };
    char name[IF_NAMESIZE], command[96];

    for (unsigned i = 0; i < COUNT(links); i++)
        if (if_indextoname(world_index(links[i]), name) != NULL) {
            snprintf(command, sizeof command, "addr replace 10.98.0.%u/32 dev %s", 1 + i, name);
            (void)world_run(command, text);
        }
    (void)world_run("addr replace 2001:db8:98::1/128 dev lo", text);
}

static int finish(bool done, int error, struct change_made *ret)
{
    change_addresses(&ret->text);
    return done ? 0 : error;
}

/* The label of an address decides for which destinations it is the source. */
static int set_label(change bits, struct world *world, struct change_made *ret)
{
    static const char *const prefixes[] = { "2001:db8::/64", "2001:db8:c::/64", "2001:db8:1::/48", "2001:db8::3/128",
                                            "fd00:2::/64" };
    const char *prefix = prefixes[random_take(&bits, COUNT(prefixes))];
    const bool adds = random_take(&bits, 3) != 0;
    char command[96];

    (void)world;
    snprintf(ret->prefix, sizeof ret->prefix, "::/0");
    if (adds)
        snprintf(command, sizeof command, "addrlabel add prefix %s label %u", prefix, 77 + random_take(&bits, 2));
    else
        snprintf(command, sizeof command, "addrlabel del prefix %s", prefix);
    return finish(world_run(command, &ret->text), EINVAL, ret);
}

/* Sources for which the labels decide. */
static int add_source(change bits, struct world *world, struct change_made *ret)
{
    static const char *const sources[] = { "2001:db8::3/64", "2001:db8::4/64", "fd00:2::2/64" };
    char name[IF_NAMESIZE], command[96];

    (void)world;
    if (if_indextoname(world_index("a"), name) == NULL)
        return ENODEV;
    snprintf(ret->prefix, sizeof ret->prefix, "::/0");
    snprintf(command, sizeof command, "addr replace %s dev %s nodad", sources[random_take(&bits, COUNT(sources))],
             name);
    return world_run(command, &ret->text) ? 0 : EINVAL;
}

static int set_policy(change bits, struct world *world, struct change_made *ret)
{
    static const char *const blocked[] = { "198.51.100.0/25", "100.64.0.0/10", "192.0.2.128/25", "2001:db8:1::/64",
                                           "2001:db8:9::/64" };
    const char *prefix = blocked[random_take(&bits, COUNT(blocked))];
    const bool adds = random_take(&bits, 2) == 0;
    char command[96];

    (void)world;
    snprintf(ret->prefix, sizeof ret->prefix, "%s", prefix);
    snprintf(command, sizeof command, "xfrm policy %s dir out dst %s%s", adds ? "update" : "delete", prefix,
             adds ? " action block" : "");
    return finish(world_run(command, &ret->text), EINVAL, ret);
}

/* Whether packets from 127.0.0.1 may leave the machine. */
static int set_localnet(change bits, struct world *world, struct change_made *ret)
{
    static const char *const names[] = { "net.ipv4.conf.all.route_localnet", "net.ipv4.conf.a.route_localnet",
                                         "net.ipv4.conf.c.route_localnet" };
    const char *name = names[random_take(&bits, COUNT(names))];
    const char *value = random_take(&bits, 2) == 0 ? "1" : "0";

    (void)world;
    text_add(&ret->text, "sysctl %s=%s", name, value);
    return finish(namespace_try_sysctl(name, value), ENOENT, ret);
}

/* ---- Name servers ----------------------------------------------------------------------------------------------- */

static const char *const servers[] = { "192.0.2.53",     "198.51.100.53",           "198.51.100.7 2001:db8:1::53",
                                       "2001:db8:9::53", "203.0.113.53 192.0.2.53", "" };

static void write_servers(const char *path, const char *addresses)
{
    char file[256] = "# servers\n", first[64], second[64];
    size_t length = strlen(file);
    int count = sscanf(addresses, "%63s %63s", first, second);

    if (count >= 1)
        length += (size_t)snprintf(file + length, sizeof file - length, "nameserver %s\n", first);
    if (count == 2)
        snprintf(file + length, sizeof file - length, "nameserver %s\n", second);
    etc_write(path, file);
}

static int write_resolv_conf(change bits, struct world *world, struct change_made *ret)
{
    const char *addresses = servers[random_take(&bits, COUNT(servers))];

    (void)world;
    text_add(&ret->text, "# %s names the servers \"%s\"", ETC_RESOLV_CONF, addresses);
    write_servers(ETC_RESOLV_CONF, addresses);
    return 0;
}

/* A mount is noticed with the next change of a file. */
static void touch_hosts(void)
{
    static bool is_long;

    is_long = !is_long;
    etc_write(ETC_HOSTS, is_long ? "# another text\n" : "# a text\n");
}

/* A container's start or a VPN's script mounts a file over resolv.conf. */
static int mount_resolv_conf(change bits, struct world *world, struct change_made *ret)
{
    static const char *const files[] = { ETC_ASIDE "first", ETC_ASIDE "second" };
    const char *file = files[random_take(&bits, COUNT(files))];
    const char *addresses = servers[random_take(&bits, COUNT(servers))];

    if (world->mounts > 0 && random_take(&bits, 2) == 0) {
        text_add(&ret->text, "umount %s", ETC_RESOLV_CONF);
        etc_unmount(ETC_RESOLV_CONF);
        touch_hosts();
        world->mounts--;
        return 0;
    }
    text_add(&ret->text, "mount --bind %s %s # the servers \"%s\"", file, ETC_RESOLV_CONF, addresses);
    write_servers(file, addresses);
    etc_mount(ETC_RESOLV_CONF, file);
    touch_hosts();
    world->mounts++;
    return 0;
}

const struct change_kind silent_changes[] = { { .make = set_label, .weight = 4, .is_about_links = true },
                                              { .make = add_source, .weight = 4, .is_about_links = true },
                                              { .make = set_policy, .weight = 4, .is_about_links = true },
                                              { .make = set_localnet, .weight = 3, .is_about_links = true },
                                              { .make = write_resolv_conf, .weight = 3 },
                                              { .make = mount_resolv_conf, .weight = 4 },
                                              { .weight = 0 } };
