/* SPDX-License-Identifier: MIT */
#ifndef TESTS_RESOLVER_H
#define TESTS_RESOLVER_H

/*
 * The system's resolver as a test would have it: what a name's look-up comes to, and when. A program that is linked
 * with --wrap=getaddrinfo and --wrap=freeaddrinfo gets this one. Needs no test framework, so that benchmarks can use
 * it.
 */

#include <stdbool.h>

struct resolver_reply {
    bool        hangs;     /* until it is let go */
    int         error;     /* EAI_...; 0: none */
    const char *addresses; /* "192.0.2.1 fe80::1%7"; "unix" is one that is no internet address; "": an empty list */
};

/* What the look-up of a name comes to. Called on the resolver's thread, again when the look-up is let go. */
typedef struct resolver_reply resolver_rule(const char *name);

/* Forgets all that was. Also the first call in a child after fork(2). */
void resolver_begin(resolver_rule *rule);

/* Look-ups that hang are answered: those of one name, or (NULL) all, and then none hangs from now on. */
void resolver_let_go(const char *name);

/* How many look-ups were begun: of one name (among the last RESOLVER_LOG), or in all (NULL). */
#define RESOLVER_LOG 256
unsigned resolver_calls(const char *name);

/* The name of a look-up, from 0 in the order in which they began. "": it has not. */
const char *resolver_call(unsigned number);

/* How many threads of the library's there are for look-ups. */
unsigned resolver_threads(void);

/* Each waits, and answers whether it has come to that. */
bool resolver_await_calls(const char *name, unsigned calls); /* at least */
bool resolver_await_hanging(unsigned count);                 /* exactly */
bool resolver_await_threads(unsigned count);                 /* exactly */

/* What was wrong with how the resolver was called, or NULL: two look-ups of a name in one namespace at a time, signals
 * that are not blocked, hints that say otherwise than they should, a list that was freed twice. */
const char *resolver_complaint(void);

/* Whether all lists were freed that were handed out. When there are no threads, none should be missing. */
bool resolver_has_its_lists(void);

#endif
