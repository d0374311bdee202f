/*  libFuzzer: the input is a datagram from the kernel. It goes through the parser, the link table and
 * reach_path_evaluate.
 *
 * COVERS: pure/message.c pure/route.c pure/link.c
 */
#include <stdlib.h>
#include <string.h>

#include "pure/link.h"
#include "pure/message.h"
#include "pure/path.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void evaluate_route_and_legs(struct route route, const struct link_table *links)
{
    struct route single = route;
    struct route_leg leg;
    struct path path;

    reach_path_evaluate(&route.destination, false, &route, reach_link_table_find(links, route.oif), &path);
    while (reach_route_next_leg(&route, &leg)) {
        single.oif = leg.oif;
        single.has_gateway = leg.has_gateway;
        reach_path_evaluate(&route.destination, true, &single, reach_link_table_find(links, leg.oif), &path);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *bytes = malloc(size); /* of the exact size, so that the sanitizer reports a read behind the end */
    const char *next = bytes;
    struct link_table links = LINK_TABLE_EMPTY;
    struct message message;

    if (bytes == NULL)
        return 0;
    memcpy(bytes, data, size);
    for (size_t step; (step = reach_message_parse(next, size, &message)) != 0; next += step, size -= step) {
        if (message.kind == MESSAGE_LINK || message.kind == MESSAGE_LINK_GONE)
            reach_link_table_apply(&links, &message);
        if (message.kind == MESSAGE_ROUTE)
            evaluate_route_and_legs(message.route, &links);
    }
    reach_link_table_clear(&links);
    free(bytes);
    return 0;
}
