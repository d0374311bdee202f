// SPDX-License-Identifier: MIT

#ifndef REACHABILITY_ARGUMENTS_H
#define REACHABILITY_ARGUMENTS_H

/* The arguments of this process, the program's name first. They live as long as the process. */
char *_Nullable const *_Nullable reachability_arguments(int *_Nonnull ret_count);

/* The environment of this process: NAME=VALUE, then NULL. */
char *_Nullable const *_Nullable reachability_environment(void);

#endif
