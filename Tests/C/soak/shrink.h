/* SPDX-License-Identifier: MIT */
#ifndef TESTS_SOAK_SHRINK_H
#define TESTS_SOAK_SHRINK_H

/* Removes from an episode that fails what the failure does not need. */

#include "soak/episode.h"

void shrink_episode(struct episode *episode);

#endif
