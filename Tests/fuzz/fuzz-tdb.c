/* libFuzzer: any bytes as a trivial database; the first four are the key that is looked for. */
#include <stdlib.h>
#include <string.h>

#include "tdb.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct span key = { .start = (const char *)data, .length = 4 };
    struct span       value;
    char             *bytes;

    if (size < key.length)
        return 0;
    size -= key.length;
    bytes = malloc(size + 1);
    if (bytes == NULL)
        return 0;
    memcpy(bytes, data + key.length, size);
    if (tdb_find(bytes, size, key, &value) && (value.start < bytes || value.length > size ||
                                               value.start + value.length > bytes + size))
        abort();
    free(bytes);
    return 0;
}
