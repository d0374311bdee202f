/* libFuzzer: any bytes as resolv.conf and as hosts; the first line of them is the name that is looked for. */
#include <stdlib.h>
#include <string.h>

#include "pure/conffile.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool good)
{
    if (!good)
        abort();
}

static void read_servers(const char *text, size_t size)
{
    struct server servers[CONFFILE_SERVERS];
    const size_t  count = conffile_servers(text, size, servers);

    check(count <= CONFFILE_SERVERS);
    for (size_t i = 0; i < count; i++) {
        char address[46];

        address_format(&servers[i].address, address);
        check(servers[i].address.family == AF_INET || servers[i].address.family == AF_INET6);
        check(memchr(servers[i].zone, '\0', sizeof servers[i].zone) != NULL);
        check(servers[i].zone[0] == '\0' || servers[i].scope == 0);
        check(address_is_of_link(&servers[i].address) || (servers[i].scope == 0 && servers[i].zone[0] == '\0'));
    }
}

static void look_for_name(const char *text, size_t size)
{
    const char         *end = memchr(text, '\n', size);
    const size_t        length = end == NULL ? size : (size_t)(end - text);
    char               *name = malloc(length + 1);
    struct hosts_index *index = conffile_index_hosts(text, size);

    check(name != NULL && index != NULL);
    memcpy(name, text, length);
    name[length] = '\0';
    (void)hosts_index_has(index, name);
    free(index);
    free(name);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size); /* to the byte, so that the sanitizer sees one that is read too many */

    if (text == NULL)
        return 0;
    memcpy(text, data, size);
    read_servers(text, size);
    look_for_name(text, size);
    free(text);
    return 0;
}
