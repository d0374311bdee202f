/* SPDX-License-Identifier: MIT */
/*
 * The tool: the time from exec to the first byte of `reachability check 127.0.0.1`. The reference is this program,
 * started again: it makes the same calls of the library in C, and prints one line. `make tool` builds the tool; without
 * it, nothing is measured.
 */
#include <libgen.h>
#include <limits.h>
#include <reachability/reachability.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench.h"

#define BLOCKS       201
#define BLOCKS_SHORT 5
#define ADDRESS      "127.0.0.1"
#define AS_REFERENCE "reference"

extern char **environ;

static int print_line(void)
{
    SCNetworkReachabilityRef target = SCNetworkReachabilityCreateWithName(NULL, ADDRESS);
    SCNetworkReachabilityPath path = { .size = sizeof path };
    char text[128];

    if (target == NULL || !SCNetworkReachabilityGetPath(target, &path))
        return 1;
    SCNetworkReachabilityFlagsGetString(path.flags, text, sizeof text);
    printf("%s  %s  dev %s\n", ADDRESS, text, path.interfaceName);
    SCNetworkReachabilityRelease(target);
    return 0;
}

static double time_to_first_byte(char *program, char *command)
{
    char *const arguments[] = { program, command, ADDRESS, NULL };
    const int64_t start = bench_now();
    posix_spawn_file_actions_t actions;
    int ends[2], status;
    double elapsed;
    pid_t child;
    char byte;

    bench_check(pipe(ends), "pipe");
    bench_check(posix_spawn_file_actions_init(&actions), "posix_spawn_file_actions_init");
    bench_check(posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO), "adddup2");
    bench_check(posix_spawn(&child, program, &actions, NULL, arguments, environ), program);
    close(ends[1]);
    if (read(ends[0], &byte, 1) != 1)
        bench_fail("%s printed nothing", program);
    elapsed = (double)(bench_now() - start);
    close(ends[0]);
    if (waitpid(child, &status, 0) != child || status != 0)
        bench_fail("%s failed", program);
    posix_spawn_file_actions_destroy(&actions);
    return elapsed;
}

int main(int argc, char **argv)
{
    char self[PATH_MAX] = "", tool[PATH_MAX + 32];
    double ours[BLOCKS], reference[BLOCKS];
    size_t blocks;
    struct stat found;
    struct writer writer;
    bool is_short, within;

    if (argc > 1 && strcmp(argv[1], AS_REFERENCE) == 0)
        return print_line();
    is_short = bench_is_short(argc, argv);
    blocks = is_short ? BLOCKS_SHORT : BLOCKS;
    if (readlink("/proc/self/exe", self, sizeof self - 1) < 0)
        bench_fail("/proc/self/exe cannot be read");
    strcpy(tool, self);
    strcat(dirname(dirname(tool)), "/reachability");
    if (stat(tool, &found) != 0) {
        printf("SKIP: the tool is not built (make tool)\n");
        return 0;
    }
    bench_enter_namespace(&writer);
    bench_pin(0);
    for (size_t i = 0; i < blocks; i++) {
        reference[i] = time_to_first_byte(self, AS_REFERENCE);
        ours[i] = time_to_first_byte(tool, "check");
    }
    within = bench_report("first line of the tool", "a C program's", ours, reference, blocks, 3.00);
    return within || is_short ? 0 : 1;
}
