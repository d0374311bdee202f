/* SPDX-License-Identifier: MIT */
#ifndef TESTS_IDLE_H
#define TESTS_IDLE_H

/* Shows that no callback comes, without a wait for a length of time. */

#include <reachability/reachability.h>

/* Drives the loop until nothing is left to do for what has happened so far: no message to read, no delivery, and no
 * deadline that is near. The library evaluates some changes again 5 to 50 ms later: that is waited for. What comes
 * from another thread (a look-up) is not. Returns the number of callbacks, of the first pass that makes one. */
int idle_perform(SCRunLoopRef loop);

#endif
