/* SPDX-License-Identifier: MIT */
/* Runs a program of pure tests (Tests/C/pure) for a C library for which there is no cmocka: what support/unit.c has,
 * and the functions of cmocka that these tests call. The first failure ends the program. */
#include "support/unit.h"

#include <stdlib.h>
#include <string.h>

static struct unit_test *tests; /* in the order of their lines */
static const char *running;
static jmp_buf after_skip;

void unit_add(struct unit_test *test)
{
    struct unit_test **place = &tests;

    while (*place != NULL && (*place)->line <= test->line)
        place = &(*place)->next;
    test->next = *place;
    *place = test;
}

void unit_check(int error, const char *what)
{
    if (error != 0)
        fail_msg("%s: %s", what, strerror(error));
}

void print_error(const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    vprintf(format, arguments);
    va_end(arguments);
}

void print_message(const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    vprintf(format, arguments);
    va_end(arguments);
}

void _fail(const char *file, int line)
{
    printf("\n%s failed at %s:%d\n", running, file, line);
    exit(1);
}

void _skip(const char *file, int line)
{
    printf("%s:%d: %s is skipped\n", file, line, running);
    longjmp(after_skip, 1);
}

void _assert_true(LargestIntegralType result, const char *expression, const char *file, int line)
{
    if (result)
        return;
    fputs(expression, stdout);
    _fail(file, line);
}

void _assert_int_equal(LargestIntegralType a, LargestIntegralType b, const char *file, int line)
{
    if (a == b)
        return;
    printf("%#llx != %#llx", (unsigned long long)a, (unsigned long long)b);
    _fail(file, line);
}

void _assert_int_not_equal(LargestIntegralType a, LargestIntegralType b, const char *file, int line)
{
    if (a != b)
        return;
    printf("%#llx is not expected", (unsigned long long)a);
    _fail(file, line);
}

void _assert_string_equal(const char *a, const char *b, const char *file, int line)
{
    if (strcmp(a, b) == 0)
        return;
    printf("\"%s\" != \"%s\"", a, b);
    _fail(file, line);
}

void _assert_memory_equal(const void *a, const void *b, size_t size, const char *file, int line)
{
    if (memcmp(a, b, size) == 0)
        return;
    fputs("other bytes", stdout);
    _fail(file, line);
}

static void run(const struct unit_test *test)
{
    running = test->name;
    if (setjmp(after_skip) != 0)
        return;
    if (test->setup != NULL)
        test->setup();
    test->run(test->row);
    if (test->teardown != NULL)
        test->teardown();
}

int main(void)
{
    for (const struct unit_test *test = tests; test != NULL; test = test->next)
        run(test);
    return tests == NULL;
}
