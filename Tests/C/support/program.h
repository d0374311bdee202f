/* SPDX-License-Identifier: MIT */
#ifndef TESTS_PROGRAM_H
#define TESTS_PROGRAM_H

/* This test program as a new process: with the name of a PART (unit.h) as its argument, it runs the part instead of the
 * tests. For behaviour that a running test cannot observe, such as the end of a process. */

struct program {
    int status;        /* as of waitpid(2) */
    char output[4096]; /* both stdout and stderr */
};

/* Runs the program to its end. Kills it if it hangs. */
void program_run(const char *part, struct program *ret);

/* Runs a PART. It exits with this status and prints this. */
#define EXPECT_PROGRAM(part, status, output) ((void)(part), program_expect(#part, status, output, __FILE__, __LINE__))
void program_expect(const char *part, int status, const char *output, const char *file, int line);

const char *program_path(void);

/* In a part: the argument after its name, or NULL. */
extern const char *program_argument;

/* For a part, which cannot use assertions: prints the condition and ends the process. */
#define MUST(condition) \
    do { \
        if (!(condition)) \
            program_fail(#condition, __FILE__, __LINE__); \
    } while (0)
_Noreturn void program_fail(const char *condition, const char *file, int line);

#endif
