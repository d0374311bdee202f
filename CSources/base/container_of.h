/* SPDX-License-Identifier: MIT */
#ifndef REACHABILITY_CONTAINER_OF_H
#define REACHABILITY_CONTAINER_OF_H

/* The structure that a member is part of. */

#include <stddef.h>

#define container_of(pointer, type, member) ((type *)(void *)((char *)(pointer)-offsetof(type, member)))

#endif
