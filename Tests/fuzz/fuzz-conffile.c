/*
 * libFuzzer: the input is resolv.conf.
 *
 * COVERS: pure/conffile.c
 */
#include <stdlib.h>
#include <string.h>

#include "pure/conffile.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void abort_unless(bool good)
{
    if (!good)
        abort();
}

static void read_servers(const char *text, size_t size)
{
    struct name_server servers[CONFFILE_SERVERS];
    const size_t count = reach_conffile_servers(text, size, servers);

    abort_unless(count <= CONFFILE_SERVERS);
    for (size_t i = 0; i < count; i++) {
        char address[46];

        reach_address_format(&servers[i].address, address);
        abort_unless(servers[i].address.family == AF_INET || servers[i].address.family == AF_INET6);
        abort_unless(memchr(servers[i].zone, '\0', sizeof servers[i].zone) != NULL);
        abort_unless(servers[i].zone[0] == '\0' || servers[i].scope == 0);
        abort_unless(reach_address_needs_scope(&servers[i].address) ||
                     (servers[i].scope == 0 && servers[i].zone[0] == '\0'));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size); /* of the exact size, so that the sanitizer reports a read behind the end */

    if (text == NULL)
        return 0;
    memcpy(text, data, size);
    read_servers(text, size);
    free(text);
    return 0;
}
