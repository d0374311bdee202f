/* SPDX-License-Identifier: MIT */
#ifndef TESTS_HOLDERS_H
#define TESTS_HOLDERS_H

/* Prints what of this process keeps other network namespaces than that of the calling thread: threads, sockets and
 * descriptors. For a test that has waited for the end of a namespace in vain. */
void holders_print(void);

#endif
