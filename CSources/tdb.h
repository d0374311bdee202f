/* SPDX-License-Identifier: MIT */
#ifndef REACHABILITY_TDB_H
#define REACHABILITY_TDB_H

/* Trivial databases, as pppd(8) keeps one, from a copy of the file. Pure. */

#include "util.h"

/* The value of a key, inside `bytes`. False: there is none, or that is no such database. */
bool tdb_find(const void *bytes, size_t length, struct span key, struct span *ret);

#endif
