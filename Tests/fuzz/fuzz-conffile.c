/*
 * libFuzzer: the input is resolv.conf, and hosts. Its first line is the name to look up in hosts.
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
    const size_t       count = conffile_servers(text, size, servers);

    abort_unless(count <= CONFFILE_SERVERS);
    for (size_t i = 0; i < count; i++) {
        char address[46];

        address_format(&servers[i].address, address);
        abort_unless(servers[i].address.family == AF_INET || servers[i].address.family == AF_INET6);
        abort_unless(memchr(servers[i].zone, '\0', sizeof servers[i].zone) != NULL);
        abort_unless(servers[i].zone[0] == '\0' || servers[i].scope == 0);
        abort_unless(address_needs_scope(&servers[i].address) || (servers[i].scope == 0 && servers[i].zone[0] == '\0'));
    }
}

static void look_up_first_line(const char *text, size_t size)
{
    const char         *end = memchr(text, '\n', size);
    const size_t        length = end == NULL ? size : (size_t)(end - text);
    char               *name = malloc(length + 1);
    struct hosts_index *index = conffile_index_hosts(text, size);

    abort_unless(name != NULL && index != NULL);
    memcpy(name, text, length);
    name[length] = '\0';
    (void)hosts_index_has(index, name);
    free(index);
    free(name);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size); /* of the exact size, so that the sanitizer reports a read behind the end */

    if (text == NULL)
        return 0;
    memcpy(text, data, size);
    read_servers(text, size);
    look_up_first_line(text, size);
    free(text);
    return 0;
}
