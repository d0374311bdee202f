/* SPDX-License-Identifier: MIT */
#ifndef REACHABILITY_ESCAPE_H
#define REACHABILITY_ESCAPE_H

/* Text that a program or the network has chosen, made safe for terminals and logs: control characters are escaped. */

#include <stdbool.h>

#define ESCAPE_SIZE 9 /* of the longest piece: \xc2\x80 and the NUL */

/* Reads the next character of UTF-8 text: *text moves behind it. Writes it to `ret`, escaped as in C if it is a control
 * character (C0, DEL, C1), a byte that is not UTF-8, or a backslash. Returns false at the end of the text. */
bool reach_escape_next(const char **text, char ret[ESCAPE_SIZE]);

#endif
