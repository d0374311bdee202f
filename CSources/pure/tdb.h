/* SPDX-License-Identifier: MIT */
#ifndef REACHABILITY_TDB_H
#define REACHABILITY_TDB_H

/* Trivial databases, as pppd(8) keeps one, from a copy of the file. Pure. */

#include "base/text.h"

/* Tells of each record that is in use, inside `bytes`. Of what is no such database, nothing. */
void tdb_each(const void *bytes, size_t length, void (*take)(void *info, struct span key, struct span value),
              void *info);

#endif
