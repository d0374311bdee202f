/* SPDX-License-Identifier: MIT */
#ifndef TESTS_LIMITS_H
#define TESTS_LIMITS_H

/* The counts that tests expect: queries, wake-ups, bytes, calls. They are today's costs. Lower one when a cost falls.
 * Raise one only with a reason beside it. */

/* ---- names ------------------------------------------------------------------------------------------------------ */

enum {
    /* Look-ups at once: of all accounts, of a silent domain alone, and of a second one. */
    LOOKUPS = 128,
    FIRST_SHARE = 43,
    SECOND_SHARE = 29,
};

#endif
