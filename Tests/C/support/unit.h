/* SPDX-License-Identifier: MIT */
#ifndef TESTS_UNIT_H
#define TESTS_UNIT_H

/*
 * cmocka, and one main() for all test programs, in unit.c. It runs the tests of a program in the order in which they
 * stand in its file. In the environment, TEST_ONLY picks tests by name, with * and ?; TEST_DENIED names what a sandbox
 * refuses (denial.c: "socket-eperm").
 */

/* What cmocka.h wants before itself, and what most tests call. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "support/wrap.h"

/* A test: TEST(link_down_reports_not_reachable) { ... } */
#define TEST(name) UNIT_TEST(name, .uses_unit = 1)

/* A test with its own set-up and tear-down (either may be NULL) in place of those of the UNIT. */
#define TEST_WITH(set_up, tear_down, name) UNIT_TEST(name, .setup = (set_up), .teardown = (tear_down))

/* A test whose body is run by another function: TEST_BY(child_run, name) { ... } */
#define TEST_BY(run, name) \
    static void name##_body(void); \
    TEST(name) \
    { \
        run(name##_body); \
    } \
    static void name##_body(void)

/* One test for each row of an array of structures, called TEST_ROW by the row's `name`. The body has `row`. */
#define TEST_EACH(test, rows) \
    static void test(const __typeof__((rows)[0]) *row); \
    static void test##_row(const void *row) \
    { \
        test(row); \
    } \
    __attribute__((constructor)) static void test##_add(void) \
    { \
        static struct unit_test tests[sizeof(rows) / sizeof(rows)[0]]; \
        for (size_t i = 0; i < sizeof(rows) / sizeof(rows)[0]; i++) { \
            tests[i] = (struct unit_test){ #test,          __LINE__,          test##_row, \
                                           (rows)[i].name, .row = &(rows)[i], .uses_unit = 1 }; \
            unit_add(&tests[i]); \
        } \
    } \
    static void test(const __typeof__((rows)[0]) *row)

/* The hooks of a program, each may be NULL: UNIT(.setup = ..., .teardown = ...); at most once. */
struct unit {
    void (*start)(void);    /* first in main(), also in a part */
    void (*setup)(void);    /* first in each test; it may skip the test */
    void (*teardown)(void); /* at the end of each test that has not failed until then */
    void (*cleanup)(void);  /* after each test, also one that failed or was skipped */
    void (*end)(void);      /* after the last test */
};
#define UNIT(...) \
    __attribute__((constructor)) static void unit_declare(void) \
    { \
        static const struct unit declared = { __VA_ARGS__ }; \
        unit_set(&declared); \
    }

/* A part: what the program does instead of its tests when its first argument is this name (program.h). The body returns
 * the exit status. */
#define PART(part) \
    static int part(void); \
    __attribute__((constructor)) static void part##_add(void) \
    { \
        static struct unit_part self = { #part, part }; \
        unit_add_part(&self); \
    } \
    static int part(void)

/* Calls a function at the end of the test, before its tear-down; the latest one first. A test that has failed or was
 * skipped calls none. */
struct unit_deferral;
struct unit_deferral *unit_defer(void (*undo)(void *argument), void *argument);
void *unit_cancel(struct unit_deferral *deferral); /* returns the argument */

/* True if the tests run under this tool ("valgrind"; TEST_UNDER in the environment). NULL: under any tool, and so
 * slower. */
bool unit_is_under(const char *tool);

/* A short text, which lasts until the thread has made 15 others. */
__attribute__((format(printf, 1, 2))) const char *unit_text(const char *format, ...);

/* Starts a thread. */
pthread_t unit_thread(void *(*run)(void *), void *argument);

/* Fails the test if a call that returns an errno has failed. */
void unit_check(int error, const char *what);

/* Assertions for the other threads of a test: the first complaint fails the test later. */
void unit_complain_if(bool wrong, const char *what);
const char *unit_complaint(void); /* NULL: none */
void unit_expect_no_complaint(void);

/* Announces a skip as Tests/run counts it, and skips. */
#define SKIP(...) \
    do { \
        print_message("SKIP: " __VA_ARGS__); \
        print_message("\n"); \
        skip(); \
    } while (0)

/* ---- What the macros above use. */

struct unit_test {
    const char *name;
    int line; /* for the order: the compiler chooses the order of constructors */
    void (*run)(const void *row);
    const char *row_name;
    const void *row;
    void (*setup)(void), (*teardown)(void);
    int uses_unit;     /* setup and teardown are those of the UNIT */
    int apart, denial; /* TEST_DENIED */
    pid_t process;     /* the test's own process, and its output */
    FILE *output;
    char *full_name; /* the name with its row; static, as cmocka may print it until the end */
    struct unit_test *next;
};

struct unit_part {
    const char *name;
    int (*play)(void);
    struct unit_part *next;
};

void unit_set(const struct unit *unit);
void unit_add(struct unit_test *test);
void unit_add_part(struct unit_part *part);

#define UNIT_TEST(test, ...) \
    static void test(void); \
    static void test##_row(const void *row) \
    { \
        (void)row; \
        test(); \
    } \
    __attribute__((constructor)) static void test##_add(void) \
    { \
        static struct unit_test self = { #test, __LINE__, test##_row, __VA_ARGS__ }; \
        unit_add(&self); \
    } \
    static void test(void)

#endif
