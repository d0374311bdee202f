/* SPDX-License-Identifier: MIT */
#ifndef TESTS_NAMESERVER_H
#define TESTS_NAMESERVER_H

/*
 * A name server for tests, on port 53 of every address of one network namespace, IPv4 and IPv6, UDP and TCP. The first
 * label of the name decides the reply:
 *
 *   ok        198.51.100.7 and 2001:db8:1::7         nx        no such name, as any name that is not listed here
 *   two       203.0.113.7 and 198.51.100.7           nodata    the name has no address
 *   v4only    198.51.100.7                           servfail  the server fails
 *   v6only    2001:db8:1::7                          refused   the server refuses
 *   turns     as two, each time in the other order   drop      no reply
 *   trunc     truncated over UDP; over TCP 60 of 198.51.100.0/24
 *   thousands truncated over UDP; over TCP 4000 of 10.0.0.0/16
 *   loop      an alias of itself                     garbage   a header, and bytes 0xff
 *   trickle   truncated over UDP; over TCP as v4only, one byte after the other
 *   aliases   truncated over UDP; over TCP a chain of 800 aliases without an address
 *   moves...  the addresses of nameserver_move
 *   slowN     as v4only, N milliseconds later
 *   held...   as v4only, after nameserver_release; heldmoves... likewise as moves
 */

#include <stdbool.h>
#include <sys/types.h>

enum nameserver_type { NAMESERVER_A = 1, NAMESERVER_AAAA = 28 };

struct nameserver;

/* Starts a server in the network namespace of the calling thread, on a new thread. */
struct nameserver *nameserver_open(void);
void nameserver_close(struct nameserver *server);

/* The thread's id, by which ip(8) knows the namespace: `netns ID`. */
pid_t nameserver_thread(const struct nameserver *server);

/* Stopped: the kernel replies that the port is closed. Silent: queries are read and get no reply. */
void nameserver_stop(struct nameserver *server);
void nameserver_start(struct nameserver *server);
void nameserver_silence(struct nameserver *server, bool silent);

/* The addresses of moves..., separated by blanks. "": there is no such name; NULL: the server fails. */
void nameserver_move(struct nameserver *server, const char *addresses);

/* The server fails for all queries of this type; 0: of none. */
void nameserver_fail(struct nameserver *server, unsigned type);

/* Replies to the queries for names with this prefix that it holds. Later ones are held again. */
void nameserver_release(struct nameserver *server, const char *prefix);

/* How often a name was queried; `name` NULL: any. */
unsigned nameserver_count(struct nameserver *server, const char *name, enum nameserver_type type);
unsigned nameserver_count_tcp(struct nameserver *server);

/* A descriptor for poll(2) that is readable after a query, until nameserver_take_news. */
int nameserver_news(const struct nameserver *server);
void nameserver_take_news(const struct nameserver *server);

/* Waits until a name was queried this many times. A time limit fails the test. */
void nameserver_await(struct nameserver *server, const char *name, enum nameserver_type type, unsigned count);

#endif
