/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "soak/change_kind.h"

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

#define SUCCESSORS 3 /* of 8 changes have a check after them */

const char *const change_prefixes[2][CHANGE_PREFIXES] = {
    { "0.0.0.0/0", "0.0.0.0/0", "0.0.0.0/1", "128.0.0.0/1", "198.51.100.0/24", "198.51.100.7/32", "0.0.0.0/8",
      "192.0.2.2/32", "198.51.100.0/25", "198.51.100.128/26", "198.51.100.8/30", "192.0.2.128/25" },
    { "::/0", "::/0", "::/1", "8000::/1", "2001:db8:1::/48", "2001:db8:1::7/128", "4000::/3", "2001:db8::2/128",
      "2001:db8:1::80/121", "2001:db8:1::/124", "2001:db8:9::/64", "fd00::/8" },
};

const char *const change_actions[] = { "add", "del", "replace", "append" };

static const struct change_kind *const tables[CHANGE_TABLES] = {
    command_changes,   expiry_changes, ipv4_gateway_changes, link_changes,
    neighbour_changes, route_changes,  rule_changes,         silent_changes,
};

static unsigned total_weight(void)
{
    unsigned total = 0;

    for (size_t i = 0; i < COUNT(tables); i++)
        for (const struct change_kind *kind = tables[i]; kind->weight != 0; kind++)
            total += kind->weight;
    return total;
}

/* Returns the kind for a number below the sum of the weights. */
static const struct change_kind *find_kind(unsigned number)
{
    const struct change_kind *kind = tables[0];

    for (size_t i = 0; number >= kind->weight;) {
        number -= kind->weight;
        if ((++kind)->weight == 0 && i + 1 < COUNT(tables))
            kind = tables[++i];
    }
    return kind;
}

static const struct change_kind *take_kind(change *bits)
{
    random_take(bits, 64); /* the functions below use it */
    return find_kind(random_take(bits, total_weight()));
}

bool change_has_successor(change bits)
{
    return random_take(&bits, 8) >= SUCCESSORS;
}

bool change_has_pause(change bits)
{
    random_take(&bits, 8);
    return random_take(&bits, 2) == 0;
}

bool change_is_in_table(change bits, unsigned table)
{
    const struct change_kind *kind = take_kind(&bits);

    for (const struct change_kind *own = tables[table]; own->weight != 0; own++)
        if (own == kind)
            return true;
    return false;
}

bool change_is_about_links(change bits)
{
    const struct change_kind *kind = take_kind(&bits);

    for (const struct change_kind *link = link_changes; link->weight != 0; link++)
        if (link == kind)
            return true;
    return kind->is_about_links;
}

bool change_is_flood(change bits)
{
    return take_kind(&bits)->is_flood;
}

void change_make(change bits, struct world *world, struct change_made *ret)
{
    const struct change_kind *kind = take_kind(&bits);

    ret->text.length = 0;
    ret->text.bytes[0] = ret->prefix[0] = '\0';
    int error = kind->make(bits, world, ret);
    if (error != 0)
        text_add(&ret->text, " # %s", strerror(error));
}
