/* SPDX-License-Identifier: MIT */
#ifndef TESTS_LIMITS_H
#define TESTS_LIMITS_H

/* The counts that tests expect: queries, wake-ups, bytes, calls. They are today's costs. Lower one when a cost falls.
 * Raise one only with a reason beside it. */

/* ---- watch ------------------------------------------------------------------------------------------------------ */

enum {
    /* Queries. A target that can share takes two: the way of its packets, and the route. */
    ONLY_QUERIES = 1,     /* the only target of a loop */
    QUERIES = 2,          /* any other */
    FEW_QUERIES = 8,      /* one of many is queried for all, and a second time 5 ms later */
    RULE_QUERIES = 1,     /* each of many while there is another rule, when their route goes */
    DEFAULT_QUERIES = 24, /* many targets on the default path */

    /* The same for the change of an interface: the first look, the second one, and a sweep each. IPv6 targets and those
     * that cannot share are queried singly. */
    SWEPT_QUERIES = 4 * QUERIES,

    /* Bytes of a target. */
    IDLE_BYTES = 384,
    SCHEDULED_BYTES = 800,
    RESOLVED_BYTES = 64 * 1024, /* with a look-up that had thousands of addresses */

    /* System calls. Since the next hops of all paths are followed, the first path with a gateway joins the group of
     * neighbours; since those of nexthop groups are, the objects are read. A dump of routes takes two more, which make
     * room for one with many legs. */
    FIRST_USE_CALLS = 50,
    DEFAULT_PATH_CALLS = 73,
    DEVICE_CALLS = 62,
};

/* ---- names ------------------------------------------------------------------------------------------------------ */

enum {
    /* Look-ups at once: of all accounts, of a silent domain alone, and of a second one. */
    LOOKUPS = 128,
    FIRST_SHARE = 43,
    SECOND_SHARE = 29,
};

#endif
