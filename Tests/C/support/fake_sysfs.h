/* SPDX-License-Identifier: MIT */
#ifndef TESTS_FAKE_SYSFS_H
#define TESTS_FAKE_SYSFS_H

/* A sysfs(5) that only this process sees, in a mount namespace of its own. An error fails the test. */

/* Mounts a sysfs for the network namespace of the calling thread, or skips the test if this machine does not allow it.
 * Call it after namespace_require and before the first thread starts. */
void fake_sysfs_require(void);

/* Sets the device type of an interface ("wlan", "wwan") until the next fake_sysfs_require. */
void fake_sysfs_set_type(const char *interface, const char *type);

#endif
