/* SPDX-License-Identifier: MIT */
#ifndef REACHABILITY_CONTAINER_OF_H
#define REACHABILITY_CONTAINER_OF_H

/* From a pointer to a member, the structure that contains it. */

#include <stddef.h>

#define container_of(pointer, type, member) ((type *)(void *)((char *)(pointer)-offsetof(type, member)))

#endif
