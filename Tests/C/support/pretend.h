/* SPDX-License-Identifier: MIT */
#ifndef TESTS_PRETEND_H
#define TESTS_PRETEND_H

/* sysfs(5) as this process sees it, in a mount namespace of its own. What goes wrong fails the test. */

/* Shows the network namespace that the calling thread is in now. After namespace_require, and before the first thread is
 * started; where this machine does not allow it, the test is skipped. */
void pretend_require(void);

/* Has an interface say that its driver calls it a device of this type: "wlan", "wwan". Until the next pretend_require. */
void pretend_type(const char *interface, const char *type);

#endif
