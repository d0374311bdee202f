/* SPDX-License-Identifier: MIT */
#ifndef REACHABILITY_SIPHASH_H
#define REACHABILITY_SIPHASH_H

/* SipHash-2-4, a keyed hash: without the key nobody can choose texts whose hashes collide. */

#include <stddef.h>
#include <stdint.h>

#define SIPHASH_KEY_SIZE 16

uint64_t siphash(const void *bytes, size_t length, const unsigned char key[SIPHASH_KEY_SIZE]);

/* The key of this process, which is random: the kernel chose it at exec. Children have the same. */
const unsigned char *siphash_process_key(void);

#endif
