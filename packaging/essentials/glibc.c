// SPDX-License-Identifier: MIT

/* Functions that Swift's and C++'s static libraries call, and for which this machine's glibc would ask for a version
 * newer than 2.34 on the machine where the tool runs. The linker prefers these. */

#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/random.h>

float hypotf(float x, float y);
uint32_t arc4random(void);

/* GLIBC_2.35. A product of two floats is exact in a double, and cannot overflow there. */
float hypotf(float x, float y)
{
    if (isinf(x) || isinf(y))
        return INFINITY;
    return (float)sqrt((double)x * x + (double)y * y);
}

/* GLIBC_2.36, for std::random_device, which the tool does not use. */
uint32_t arc4random(void)
{
    uint32_t number;
    ssize_t size;

    do
        size = getrandom(&number, sizeof number, 0);
    while (size < 0 && errno == EINTR);
    if (size != sizeof number)
        abort();
    return number;
}
