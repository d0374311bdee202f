/* SPDX-License-Identifier: MIT */
#include "soak/network_oracle.h"

#include <arpa/inet.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include "soak/oracle.h"
#include "soak/results.h"
#include "support/denial.h"
#include "support/etc.h"
#include "support/expect.h"

#define LINKS   64
#define SERVERS 3

struct known_link {
    unsigned index, flags, master;
    bool is_vrf;
    char name[IF_NAMESIZE];
};

struct known_links {
    struct known_link items[LINKS];
    size_t count;
};

/* ---- Links ------------------------------------------------------------------------------------------------------ */

static bool has_kind(const struct rtattr *information, const char *kind)
{
    int left = (int)RTA_PAYLOAD(information);

    for (const struct rtattr *at = RTA_DATA(information); RTA_OK(at, left); at = RTA_NEXT(at, left))
        if (at->rta_type == IFLA_INFO_KIND)
            return strncmp(RTA_DATA(at), kind, RTA_PAYLOAD(at)) == 0;
    return false;
}

static void add_link(const struct nlmsghdr *header, void *info)
{
    struct known_links *links = info;
    const struct ifinfomsg *message = NLMSG_DATA(header);
    struct known_link *link = &links->items[links->count];
    int left = (int)IFLA_PAYLOAD(header);

    if (header->nlmsg_type != RTM_NEWLINK || links->count == LINKS)
        return;
    *link = (struct known_link){ .index = (unsigned)message->ifi_index, .flags = message->ifi_flags };
    for (const struct rtattr *at = IFLA_RTA(message); RTA_OK(at, left); at = RTA_NEXT(at, left))
        if (at->rta_type == IFLA_IFNAME)
            snprintf(link->name, sizeof link->name, "%s", (const char *)RTA_DATA(at));
        else if (at->rta_type == IFLA_MASTER)
            memcpy(&link->master, RTA_DATA(at), sizeof link->master);
        else if (at->rta_type == IFLA_LINKINFO)
            link->is_vrf = has_kind(at, "vrf");
    links->count++;
}

static const struct known_link *find_link(const struct known_links *links, unsigned index)
{
    for (size_t i = 0; i < links->count; i++)
        if (links->items[i].index == index)
            return &links->items[i];
    return NULL;
}

/* Packets leave over a bridge or bond, not over its ports. */
static bool may_be_an_uplink(const struct known_links *links, const struct known_link *link)
{
    const struct known_link *master = link->master != 0 ? find_link(links, link->master) : NULL;
    const unsigned usable = IFF_UP | IFF_RUNNING;

    return (link->flags & (usable | IFF_LOOPBACK)) == usable && (master == NULL || master->is_vrf);
}

/* ---- Uplinks -------------------------------------------------------------------------------------------------------
 * */

static bool is_equal(SCNetworkReachabilityFlags flags, SCNetworkReachabilityFlags wanted, const char *what,
                     const char *name, struct text *ret_wrong)
{
    if (flags == wanted)
        return true;
    text_add(ret_wrong, "%s of \"%s\" has flags 0x%x, the oracle 0x%x; ", what, name, flags, wanted);
    return false;
}

static const SCNetworkReachabilityUplink *find_uplink(const SCNetworkReachabilityNetwork *network,
                                                      const SCNetworkReachabilityUplink *uplinks, unsigned index)
{
    for (uint32_t i = 0; i < network->uplinkCount; i++)
        if (uplinks[i].interfaceIndex == index)
            return &uplinks[i];
    return NULL;
}

/* The uplink over the interface that the kernel chooses has the path that it chooses. A VRF has the uplinks of its
 * ports. */
static SCNetworkReachabilityFlags wanted_flags(int family, const SCNetworkReachabilityDefaultPath *chosen,
                                               const struct known_link *link)
{
    if (chosen->flags != 0 && chosen->interfaceIndex == link->index)
        return chosen->flags;
    return link->is_vrf ? 0 : oracle_default_flags(family, link->name);
}

/* `name`: of the interface, "": any. */
static bool source_agrees(int family, const char *name, const SCNetworkReachabilityDefaultPath *path,
                          struct text *ret_wrong)
{
    char text[INET6_ADDRSTRLEN] = "none", wanted_text[INET6_ADDRSTRLEN];
    struct sockaddr_storage wanted;

    if (path->flags == 0 || !oracle_default_source(family, name, &wanted) ||
        results_addresses_agree(&path->source, &wanted))
        return true;
    (void)getnameinfo((const struct sockaddr *)&path->source, sizeof path->source, text, sizeof text, NULL, 0,
                      NI_NUMERICHOST);
    (void)getnameinfo((const struct sockaddr *)&wanted, sizeof wanted, wanted_text, sizeof wanted_text, NULL, 0,
                      NI_NUMERICHOST);
    text_add(ret_wrong, "the source of \"%s\" is %s, a socket's %s; ", name, text, wanted_text);
    return false;
}

/* The uplink that the kernel chooses has its source. */
static bool uplink_source_agrees(int family, const SCNetworkReachabilityDefaultPath *chosen,
                                 const struct known_link *link, const SCNetworkReachabilityDefaultPath *path,
                                 struct text *ret_wrong)
{
    const bool is_chosen = chosen->flags != 0 && chosen->interfaceIndex == link->index;

    return source_agrees(family, is_chosen ? "" : link->name, path, ret_wrong);
}

static bool link_agrees(const struct known_links *links, const struct known_link *link,
                        const SCNetworkReachabilityNetwork *network, const SCNetworkReachabilityUplink *uplink,
                        struct text *ret_wrong)
{
    const SCNetworkReachabilityFlags ipv4_flags = uplink != NULL ? uplink->ipv4.flags : 0;
    const SCNetworkReachabilityFlags ipv6_flags = uplink != NULL ? uplink->ipv6.flags : 0;
    SCNetworkReachabilityFlags ipv4 = 0, ipv6 = 0;

    if (may_be_an_uplink(links, link)) {
        ipv4 = wanted_flags(AF_INET, &network->ipv4, link);
        ipv6 = wanted_flags(AF_INET6, &network->ipv6, link);
    } else if (uplink != NULL) { /* the kernel can choose the port of a bridge */
        ipv4 = network->ipv4.interfaceIndex == link->index ? network->ipv4.flags : 0;
        ipv6 = network->ipv6.interfaceIndex == link->index ? network->ipv6.flags : 0;
    }
    if (uplink != NULL && ipv4 == 0 && ipv6 == 0)
        text_add(ret_wrong, "\"%s\" is no uplink; ", link->name);
    if (oracle_ipv6_default_is_group())
        return is_equal(ipv4_flags, ipv4, "IPv4", link->name, ret_wrong);
    if (!is_equal(ipv4_flags, ipv4, "IPv4", link->name, ret_wrong) ||
        !is_equal(ipv6_flags, ipv6, "IPv6", link->name, ret_wrong))
        return false;
    return uplink == NULL ||
           ((ipv4 != 0 || ipv6 != 0) && uplink_source_agrees(AF_INET, &network->ipv4, link, &uplink->ipv4, ret_wrong) &&
            uplink_source_agrees(AF_INET6, &network->ipv6, link, &uplink->ipv6, ret_wrong));
}

static bool uplinks_agree(const SCNetworkReachabilityNetwork *network, const SCNetworkReachabilityUplink *uplinks,
                          struct text *ret_wrong)
{
    struct known_links links = { .count = 0 };

    oracle_dump_links(add_link, &links);
    for (size_t i = 0; i < links.count; i++) {
        const struct known_link *link = &links.items[i];

        if (!link_agrees(&links, link, network, find_uplink(network, uplinks, link->index), ret_wrong))
            return false;
    }
    for (uint32_t i = 0; i < network->uplinkCount; i++)
        if (find_link(&links, uplinks[i].interfaceIndex) == NULL) {
            text_add(ret_wrong, "there is no interface %u; ", uplinks[i].interfaceIndex);
            return false;
        }
    return true;
}

/* ---- Name servers ----------------------------------------------------------------------------------------------- */

/* Reads the file as the soak writes it: a line for each server. Returns their number. */
static size_t read_servers(struct spec *ret)
{
    FILE *file = fopen(ETC_RESOLV_CONF, "re");
    char line[128], text[64];
    size_t count = 0;

    while (file != NULL && count < SERVERS && fgets(line, sizeof line, file) != NULL)
        if (sscanf(line, "nameserver %63s", text) == 1) {
            struct spec_address *address = &ret[count].remote;

            ret[count++] = (struct spec){ .mark = 0 };
            address->family = strchr(text, ':') != NULL ? AF_INET6 : AF_INET;
            assert_int_equal(inet_pton(address->family, text, address->bytes), 1);
        }
    if (file != NULL)
        fclose(file);
    return count;
}

static bool is_server(const struct sockaddr_storage *server, const struct spec_address *wanted)
{
    if (server->ss_family != wanted->family)
        return false;
    return wanted->family == AF_INET
               ? memcmp(&((const struct sockaddr_in *)server)->sin_addr, wanted->bytes, 4) == 0
               : memcmp(&((const struct sockaddr_in6 *)server)->sin6_addr, wanted->bytes, 16) == 0;
}

static bool servers_agree(const SCNetworkReachabilityNetwork *network, struct text *ret_wrong)
{
    struct spec servers[SERVERS];
    const size_t count = read_servers(servers);
    bool reachable = false, known = true, same = network->nameServerCount == count;

    for (size_t i = 0; i < count && same; i++)
        same = is_server(&network->nameServers[i], &servers[i].remote);
    for (size_t i = 0; i < count; i++) {
        SCNetworkReachabilityFlags flags = 0;

        known = oracle_connected_flags(&servers[i], &flags) && known;
        reachable = reachable || (flags & R) != 0;
    }
    if (!same)
        text_add(ret_wrong, "the name servers are not those of the file; ");
    if (known && reachable != network->nameServerIsReachable)
        text_add(ret_wrong, "a name server is %sreachable; ", reachable ? "" : "not ");
    return same && (!known || reachable == network->nameServerIsReachable);
}

bool network_oracle_agrees(const SCNetworkReachabilityNetwork *network, const SCNetworkReachabilityUplink *uplinks,
                           struct text *ret_wrong)
{
    const bool servers = servers_agree(network, ret_wrong);

    if (denial_uses_sockets()) /* the interfaces are not known */
        return servers;
    return is_equal(network->ipv4.flags, oracle_default_flags(AF_INET, ""), "IPv4", "", ret_wrong) &&
           is_equal(network->ipv6.flags, oracle_default_flags(AF_INET6, ""), "IPv6", "", ret_wrong) &&
           source_agrees(AF_INET, "", &network->ipv4, ret_wrong) &&
           (oracle_ipv6_default_is_group() || source_agrees(AF_INET6, "", &network->ipv6, ret_wrong)) &&
           uplinks_agree(network, uplinks, ret_wrong) && servers;
}
