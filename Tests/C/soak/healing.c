/* SPDX-License-Identifier: MIT */
#include "soak/healing.h"

#include "support/unit.h"

/* Eight steps to each power of two. */
static unsigned step_of(uint64_t value)
{
    unsigned power = 0;

    while (value >> power >= 16)
        power++;
    return power * 8 + (unsigned)(value >> power);
}

static uint64_t end_of(unsigned step)
{
    return step < 16 ? step : (uint64_t)(step % 8 + 9) << (step / 8 - 1);
}

void healing_add(struct healing *healing, int64_t nanoseconds)
{
    const uint64_t value = nanoseconds > 0 ? (uint64_t)nanoseconds : 0;

    healing->counts[step_of(value)]++;
    healing->total++;
    if (value > healing->longest)
        healing->longest = value;
}

double healing_quantile(const struct healing *healing, double share)
{
    const double wanted = (double)healing->total * share;
    uint64_t sum = 0;
    unsigned step = 0;

    while (step < HEALING_STEPS - 1 && (double)(sum += healing->counts[step]) < wanted)
        step++;
    return (double)end_of(step) / 1e6;
}

void healing_print(const struct healing *healing)
{
    static const double shares[] = { 0.5, 0.9, 0.99, 0.999, 0.9999 };

    print_message("healing time of %llu callbacks, ms:", (unsigned long long)healing->total);
    for (unsigned i = 0; i < sizeof shares / sizeof shares[0]; i++)
        print_message(" %g %% %.3f;", shares[i] * 100, healing_quantile(healing, shares[i]));
    print_message(" longest %.3f\n", (double)healing->longest / 1e6);
}
