/* SPDX-License-Identifier: MIT */
/* main() of every test program. */
#include "support/unit.h"

#include <sys/wait.h>

#include "support/denial.h"
#include "support/namespace.h"
#include "support/outside.h"
#include "support/program.h"

#define MOST_TESTS 256

static struct unit unit;
static struct unit_test *tests; /* in the order of their lines */
static struct unit_part *parts;
static _Atomic(const char *) complaint;
static const char *refusal; /* why no test can run; NULL: they can */

void unit_set(const struct unit *declared)
{
    unit = *declared;
}

void unit_add(struct unit_test *test)
{
    struct unit_test **place = &tests;

    while (*place != NULL && (*place)->line <= test->line)
        place = &(*place)->next;
    test->next = *place;
    *place = test;
}

void unit_add_part(struct unit_part *part)
{
    part->next = parts;
    parts = part;
}

/* ---- What tests use --------------------------------------------------------------------------------------------- */

bool unit_is_under(const char *tool)
{
    const char *under = getenv("TEST_UNDER");

    return under != NULL && (tool == NULL || strcmp(under, tool) == 0);
}

const char *unit_text(const char *format, ...)
{
    static _Thread_local char texts[16][256];
    static _Thread_local unsigned count;
    char *text = texts[count++ % 16];
    va_list arguments;

    va_start(arguments, format);
    assert_in_range(vsnprintf(text, sizeof texts[0], format, arguments), 0, sizeof texts[0] - 1);
    va_end(arguments);
    return text;
}

pthread_t unit_thread(void *(*run)(void *), void *argument)
{
    pthread_t thread;

    assert_int_equal(pthread_create(&thread, NULL, run, argument), 0);
    return thread;
}

void unit_check(int error, const char *what)
{
    if (error != 0)
        fail_msg("%s: %s", what, strerror(error));
}

void unit_complain_if(bool wrong, const char *what)
{
    const char *none = NULL;

    if (wrong)
        atomic_compare_exchange_strong(&complaint, &none, what);
}

const char *unit_complaint(void)
{
    return atomic_load(&complaint);
}

void unit_expect_no_complaint(void)
{
    if (unit_complaint() != NULL)
        fail_msg("%s", unit_complaint());
}

/* ---- One test ---------------------------------------------------------------------------------------------------- */

struct unit_deferral {
    struct unit_deferral *next;
    void (*undo)(void *argument);
    void *argument;
};

static struct unit_deferral *deferrals; /* the latest one first */
static pthread_mutex_t deferrals_lock = PTHREAD_MUTEX_INITIALIZER;

struct unit_deferral *unit_defer(void (*undo)(void *argument), void *argument)
{
    struct unit_deferral *deferral = malloc(sizeof *deferral);

    if (deferral == NULL)
        abort();
    pthread_mutex_lock(&deferrals_lock);
    *deferral = (struct unit_deferral){ deferrals, undo, argument };
    deferrals = deferral;
    pthread_mutex_unlock(&deferrals_lock);
    return deferral;
}

void *unit_cancel(struct unit_deferral *deferral)
{
    void *argument = NULL;

    pthread_mutex_lock(&deferrals_lock);
    for (struct unit_deferral **place = &deferrals; *place != NULL; place = &(*place)->next)
        if (*place == deferral) {
            *place = deferral->next;
            argument = deferral->argument;
            free(deferral);
            break;
        }
    pthread_mutex_unlock(&deferrals_lock);
    return argument;
}

static void undo_deferred(void)
{
    while (deferrals != NULL) {
        const struct unit_deferral last = *deferrals;

        unit_cancel(deferrals);
        last.undo(last.argument);
    }
}

static void drop_deferred(void)
{
    while (deferrals != NULL)
        unit_cancel(deferrals);
}

static void call(void (*function)(void))
{
    if (function != NULL)
        function();
}

/* The set-up runs inside the test, because it may skip the test. */
static void test_body(void **state)
{
    const struct unit_test *test = *state;

    if (refusal != NULL)
        SKIP("%s", refusal);
    drop_deferred();
    atomic_store(&complaint, NULL);
    call(test->uses_unit ? unit.setup : test->setup);
    test->run(test->row);
    undo_deferred();
    call(test->uses_unit ? unit.teardown : test->teardown);
}

static int clean_up(void **state)
{
    (void)state;
    call(unit.cleanup);
    return 0;
}

static int end_unit(void **state)
{
    (void)state;
    call(unit.end);
    return 0;
}

static struct CMUnitTest test_for_cmocka(struct unit_test *test)
{
    if (test->row_name != NULL && test->full_name == NULL &&
        asprintf(&test->full_name, "%s_%s", test->name, test->row_name) < 0)
        abort();
    return (struct CMUnitTest){ test->full_name != NULL ? test->full_name : test->name, test_body, NULL, clean_up,
                                test };
}

/* ---- All tests --------------------------------------------------------------------------------------------------- */

/* Runs the tests from the first to the one before `end`. */
static int run_range(struct unit_test *first, const struct unit_test *end, const enum denial *denial)
{
    struct CMUnitTest all[MOST_TESTS] = { { 0 } };
    size_t count = 0;

    if (denial != NULL) {
        namespace_set_aside();
        if (!denial_impose(*denial))
            refusal = "no seccomp filter works here";
    }
    for (struct unit_test *test = first; test != end; test = test->next) {
        if (count == MOST_TESTS)
            abort();
        all[count++] = test_for_cmocka(test);
    }
    int status = _cmocka_run_group_tests(program_invocation_short_name, all, count, NULL, end_unit);
    if (denial != NULL)
        namespace_end_aside();
    return status;
}

static void start_apart(struct unit_test *test)
{
    test->output = tmpfile();
    if (test->output == NULL)
        abort();
    fflush(NULL);
    test->process = fork();
    if (test->process == 0) {
        const enum denial denial = test->denial;

        dup2(fileno(test->output), STDOUT_FILENO);
        dup2(fileno(test->output), STDERR_FILENO);
        exit(run_range(test, test->next, &denial));
    }
}

/* Prints the output of the test. Returns its exit status. */
static int finish_apart(const struct unit_test *test)
{
    char text[4096];
    size_t length;
    int status = 0;

    while (test->process > 0 && waitpid(test->process, &status, 0) < 0)
        if (errno != EINTR)
            return 1;
    rewind(test->output);
    while ((length = fread(text, 1, sizeof text, test->output)) > 0)
        fwrite(text, 1, length, stdout);
    fclose(test->output);
    if (test->process < 0 || status != 0)
        printf("# %s: wait status 0x%x\n", test->name, (unsigned)status);
    return test->process > 0 && WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

/* Each in a process of its own, as no denial can be taken back. They mostly wait, so all run at the same time; under
 * valgrind they need the processor, and a few do. */
static int run_apart(void)
{
    const int at_once = unit_is_under("valgrind") ? 4 : MOST_TESTS;
    struct unit_test *next = tests;
    int status = 0, running = 0;

    for (const struct unit_test *test = tests; test != NULL; test = test->next) {
        for (; next != NULL && running < at_once; next = next->next, running++)
            start_apart(next);
        status |= finish_apart(test);
        running--;
    }
    return status;
}

static int play(const char *name)
{
    for (const struct unit_part *part = parts; part != NULL; part = part->next)
        if (strcmp(part->name, name) == 0)
            return part->play();
    fprintf(stderr, "there is no part %s\n", name);
    return 64;
}

int main(int count, char **arguments)
{
    const char *only = getenv("TEST_ONLY"), *denied = getenv("TEST_DENIED");
    enum denial denial = DENIAL_NONE;

    call(unit.start);
    if (count > 1) {
        program_argument = arguments[2];
        return play(arguments[1]);
    }
    if (only != NULL)
        cmocka_set_test_filter(only);
    if (denied != NULL && !denial_find(denied, &denial)) {
        fprintf(stderr, "TEST_DENIED: there is no denial %s\n", denied);
        return 64;
    }
    outside_open();
    const int status = tests->apart ? run_apart() : run_range(tests, NULL, denied != NULL ? &denial : NULL);
    outside_close();
    return status;
}
