// SPDX-License-Identifier: MIT

/* The arguments of the process. Swift's CommandLine reads them from /proc/self/cmdline, and has none where /proc is not
 * mounted. glibc passes them to constructors. */

#ifdef __linux__
#include "arguments.h"

#include <unistd.h>

static int argument_count;
static char **argument_values;

__attribute__((constructor)) static void keep_arguments(int count, char **values)
{
    argument_count = count;
    argument_values = values;
}

char *const *reachability_arguments(int *ret_count)
{
    *ret_count = argument_count;
    return argument_values;
}

char *const *reachability_environment(void)
{
    extern char **environ;

    return environ;
}
#endif
