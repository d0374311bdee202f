/* SPDX-License-Identifier: MIT */
#ifndef TESTS_NAMESPACE_USERS_H
#define TESTS_NAMESPACE_USERS_H

/* Prints what of this process keeps other network namespaces than that of the calling thread: threads, sockets and
 * descriptors. For a test that has waited for the end of a namespace in vain. */
void namespace_users_print(void);

#endif
