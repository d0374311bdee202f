/* SPDX-License-Identifier: MIT */
#ifndef TESTS_SOAK_SHRINK_H
#define TESTS_SOAK_SHRINK_H

/* Makes an episode that fails as small as possible. */

#include "soak/episode.h"

void shrink_episode(struct episode *episode);

#endif
