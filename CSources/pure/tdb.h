/* SPDX-License-Identifier: MIT */
#ifndef REACHABILITY_TDB_H
#define REACHABILITY_TDB_H

/* Trivial databases (tdb), such as the database of pppd(8). */

#include "base/text.h"

/* Reports each record in use in a copy of the file. Key and value point into `bytes`. Reports nothing if the file is
 * not a trivial database. */
void tdb_each(const void *bytes, size_t length, void (*report)(void *info, struct span key, struct span value),
              void *info);

#endif
