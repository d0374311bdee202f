/*
 * libFuzzer: the input is a trivial database.
 *
 * COVERS: pure/tdb.c
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "pure/tdb.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Reads every byte that is reported. */
static void sum_bytes(void *info, struct span key, struct span value)
{
    unsigned *sum = info;

    for (size_t i = 0; i < key.length; i++)
        *sum += (unsigned char)key.start[i];
    for (size_t i = 0; i < value.length; i++)
        *sum += (unsigned char)value.start[i];
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *bytes = malloc(size + 1);
    unsigned sum = 0;

    if (bytes == NULL)
        return 0;
    memcpy(bytes, data, size);
    tdb_each(bytes, size, sum_bytes, &sum);
    free(bytes);
    return 0;
}
