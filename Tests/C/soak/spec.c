/* SPDX-License-Identifier: MIT */
#include "soak/spec.h"

#include <arpa/inet.h>
#include <net/if.h>
#include <netinet/in.h>

#include "support/unit.h"

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

/* ---- Drawing ---------------------------------------------------------------------------------------------------- */

/* Destinations: a random number below `spread` is added to the last byte of the address. */
static const struct pool {
    const char *base;
    unsigned spread, weight;
    const char *zone;
} pools[] = {
    { "192.0.2.1", 250, 12, "" },
    { "198.51.100.0", 255, 26, "" },
    { "203.0.113.1", 250, 8, "" },
    { "10.9.0.2", 20, 4, "" },
    { "100.64.7.0", 255, 6, "" },
    { "127.0.0.1", 2, 1, "" },
    { "0.0.0.0", 1, 3, "" },
    { "192.0.2.2", 2, 1, "" },
    { "198.51.100.7", 2, 3, "" },
    { "2001:db8::1", 250, 10, "" },
    { "2001:db8:1::", 255, 18, "" },
    { "2001:db8:c::1", 100, 5, "" },
    { "2001:db8:9::", 200, 5, "" },
    { "fd00:1::", 200, 4, "" },
    { "::1", 1, 1, "" },
    { "2001:db8:1::7", 1, 2, "" },
    { "fe80::9", 4, 1, "a" },
    { "fe80::9", 2, 1, "c" },
    { "::", 1, 1, "" },
    { "224.0.0.251", 1, 1, "" },
    { "192.0.2.255", 1, 1, "" },
    { "10.20.0.9", 1, 1, "" },
    { "10.21.0.9", 1, 1, "" },
    { "10.22.0.9", 1, 1, "" },
    { "10.23.0.9", 1, 1, "" },
    { "10.24.0.9", 1, 1, "" },
    { "10.25.0.9", 1, 1, "" },
    { "10.26.0.9", 1, 1, "" },
    { "10.27.0.9", 1, 1, "" },
    { "10.28.0.9", 1, 1, "" },
    { "10.29.0.9", 1, 1, "" },
    { "2001:db8:5::9", 4, 4, "" },
};

#define SOURCES 4

static const char *const sources[2][SOURCES] = { { "192.0.2.2", "203.0.113.2", "192.0.2.3", "127.0.0.1" },
                                                 { "2001:db8::2", "2001:db8:c::2", "2001:db8::2", "2001:db8::3" } };
static const char *const interfaces[] = { "a", "c", "p", "e", "sr" };

static struct spec_address parse_address(const char *text)
{
    struct spec_address address = { .family = strchr(text, ':') != NULL ? AF_INET6 : AF_INET };

    assert_int_equal(inet_pton(address.family, text, address.bytes), 1);
    return address;
}

static struct spec_address draw_destination(uint64_t *bits)
{
    unsigned total = 0, number;
    const struct pool *pool = pools;

    for (size_t i = 0; i < COUNT(pools); i++)
        total += pools[i].weight;
    for (number = random_take(bits, total); number >= pool->weight; pool++)
        number -= pool->weight;
    struct spec_address address = parse_address(pool->base);
    address.bytes[address.family == AF_INET6 ? 15 : 3] += (uint8_t)random_take(bits, pool->spread);
    address.scope = if_nametoindex(pool->zone);
    return address;
}

void spec_draw(uint64_t *random, struct spec *ret)
{
    uint64_t bits = random_next(random);

    memset(ret, 0, sizeof *ret);
    ret->remote = draw_destination(&bits);
    switch (random_take(&bits, 24)) {
    case 0:
        snprintf(ret->interface, sizeof ret->interface, "%s", interfaces[random_take(&bits, COUNT(interfaces))]);
        break;
    case 1:
        ret->mark = 1 + random_take(&bits, 2);
        break;
    case 2:
        ret->local = parse_address(sources[ret->remote.family == AF_INET6][random_take(&bits, SOURCES)]);
        break;
    case 3: /* the interface of the source, and perhaps another one */
        ret->local = parse_address("fe80::2");
        ret->local.bytes[15] += (uint8_t)random_take(&bits, 2);
        ret->local.scope = if_nametoindex(random_take(&bits, 2) == 0 ? "a" : "c");
        if (random_take(&bits, 2) == 0)
            snprintf(ret->interface, sizeof ret->interface, "%s", interfaces[random_take(&bits, 2)]);
        if (ret->remote.family == AF_INET6)
            break;
        /* fallthrough */
    case 4:
        ret->local = parse_address(sources[ret->remote.family == AF_INET6][random_take(&bits, SOURCES)]);
        snprintf(ret->interface, sizeof ret->interface, "%s", interfaces[random_take(&bits, 2)]);
        break;
    default:
        break;
    }
    if (random_take(&bits, 16) == 0)
        ret->options = kSCNetworkReachabilityOptionNotifyPath;
}

/* ---- Targets ---------------------------------------------------------------------------------------------------- */

static struct sockaddr_storage socket_address(const struct spec_address *address)
{
    struct sockaddr_storage storage = { .ss_family = (sa_family_t)address->family };

    if (address->family == AF_INET) {
        memcpy(&((struct sockaddr_in *)&storage)->sin_addr, address->bytes, 4);
    } else {
        memcpy(&((struct sockaddr_in6 *)&storage)->sin6_addr, address->bytes, 16);
        ((struct sockaddr_in6 *)&storage)->sin6_scope_id = address->scope;
    }
    return storage;
}

SCNetworkReachabilityRef spec_create_target(const struct spec *spec)
{
    const struct sockaddr_storage local = socket_address(&spec->local), remote = socket_address(&spec->remote);
    SCNetworkReachabilityOptions options = kSCNetworkReachabilityOptionsInitializer;

    options.remoteAddress = (const struct sockaddr *)&remote;
    if (spec->local.family != 0)
        options.localAddress = (const struct sockaddr *)&local;
    if (spec->interface[0] != '\0')
        options.interfaceName = spec->interface;
    options.routingMark = spec->mark;
    options.options = spec->options;
    SCNetworkReachabilityRef target = SCNetworkReachabilityCreateWithOptions(NULL, &options);
    if (target == NULL)
        fprintf(stderr, "no target: %s\n", SCErrorString(SCError()));
    return target;
}

/* ---- Description ------------------------------------------------------------------------------------------------ */

static void describe_address(const struct spec_address *address, struct text *ret)
{
    char bytes[INET6_ADDRSTRLEN];

    text_add(ret, "%s", inet_ntop(address->family, address->bytes, bytes, sizeof bytes));
    if (address->scope != 0)
        text_add(ret, "%%%u", address->scope);
}

void spec_describe(const struct spec *spec, struct text *ret)
{
    if (spec->local.family != 0) {
        describe_address(&spec->local, ret);
        text_add(ret, " to ");
    }
    describe_address(&spec->remote, ret);
    if (spec->interface[0] != '\0')
        text_add(ret, " over %s", spec->interface);
    if (spec->mark != 0)
        text_add(ret, " mark %u", spec->mark);
    if (spec->options != 0)
        text_add(ret, " (NotifyPath)");
}

/* ---- Prefixes --------------------------------------------------------------------------------------------------- */

static bool is_in_prefix(const struct spec_address *address, const struct spec_address *prefix, unsigned bits)
{
    const uint8_t mask = (uint8_t)(0xff00 >> bits % 8);

    if (address->family != prefix->family || memcmp(address->bytes, prefix->bytes, bits / 8) != 0)
        return false;
    return bits % 8 == 0 || ((address->bytes[bits / 8] ^ prefix->bytes[bits / 8]) & mask) == 0;
}

bool spec_is_covered(const struct spec *spec, const char *prefix)
{
    char text[INET6_ADDRSTRLEN];
    const char *slash = strchr(prefix, '/');

    snprintf(text, sizeof text, "%.*s", (int)(slash - prefix), prefix);
    struct spec_address network = parse_address(text);
    return spec_is_default_path(spec) || is_in_prefix(&spec->remote, &network, (unsigned)atoi(slash + 1)) ||
           is_in_prefix(&spec->local, &network, (unsigned)atoi(slash + 1));
}

bool spec_is_default_path(const struct spec *spec)
{
    static const uint8_t none[16];

    return memcmp(spec->remote.bytes, none, sizeof none) == 0;
}

bool spec_is_loopback(const struct spec *spec)
{
    static const uint8_t loopback[16] = { [15] = 1 };

    return spec->remote.family == AF_INET ? spec->remote.bytes[0] == 127
                                          : memcmp(spec->remote.bytes, loopback, sizeof loopback) == 0;
}
