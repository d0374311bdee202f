/* SPDX-License-Identifier: MIT */
#ifndef TESTS_RESOLVER_H
#define TESTS_RESOLVER_H

/*
 * A resolver for tests: the test decides the result of each look-up, and when it ends. A program that is linked with
 * --wrap=getaddrinfo and --wrap=freeaddrinfo uses it. It needs no test framework, so that benchmarks can use it.
 */

#include <stdbool.h>

struct resolver_reply {
    bool hangs;            /* until resolver_release */
    int error;             /* EAI_...; 0: none */
    const char *addresses; /* "192.0.2.1 fe80::1%7"; "unix" is an address of another family; "": an empty list */
};

/* Decides the result of a look-up. Called on the resolver thread, again when the look-up goes on. */
typedef struct resolver_reply resolver_rule(const char *name);

/* Resets everything. Must be the first call in a child after fork(2). */
void resolver_begin(resolver_rule *rule);

/* A name may be looked up while an older look-up of it goes on: the test edits a file meanwhile. */
void resolver_allow_overtaking(void);

/* Ends hanging look-ups: those of one name, or (NULL) all, and then no later one hangs. */
void resolver_release(const char *name);

/* How many look-ups were started: of one name (among the last RESOLVER_LOG), or of all (NULL). */
#define RESOLVER_LOG 256
unsigned resolver_calls(const char *name);

/* The name of a look-up, numbered from 0 as they started. "": it has not started. */
const char *resolver_call(unsigned number);

/* How many threads the library has for look-ups. */
unsigned resolver_threads(void);

/* Each waits, and returns false after a time limit. */
bool resolver_await_calls(const char *name, unsigned calls); /* at least */
bool resolver_await_hanging(unsigned count);                 /* exactly */
bool resolver_await_threads(unsigned count);                 /* exactly */

/* The first error in the calls of the resolver, or NULL: two look-ups of a name in one namespace at a time, unblocked
 * signals, wrong hints, a list that was freed twice. */
const char *resolver_complaint(void);

/* Whether all lists that were returned have been freed. True if there are no threads. */
bool resolver_has_its_lists(void);

#endif
