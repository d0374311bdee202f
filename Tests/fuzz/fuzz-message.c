/* libFuzzer: any bytes as a datagram from the kernel, through the parser, the legs, the link table and the judgement. */
#include <stdlib.h>
#include <string.h>

#include "links.h"
#include "message.h"
#include "path.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void use_route(struct route route, const struct links *links)
{
    struct route     single = route;
    struct route_leg leg;
    struct path      path;

    path_judge(&route.destination, false, &route, links_find(links, route.oif), &path);
    while (route_next_leg(&route, &leg)) {
        single.oif = leg.oif;
        single.has_gateway = leg.has_gateway;
        path_judge(&route.destination, true, &single, links_find(links, leg.oif), &path);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char            *bytes = malloc(size); /* to the byte, so that the sanitizer sees one that is read too many */
    const char      *next = bytes;
    struct links     links = LINKS_EMPTY;
    struct message   message;

    if (bytes == NULL)
        return 0;
    memcpy(bytes, data, size);
    for (size_t step; (step = message_parse(next, size, &message)) != 0; next += step, size -= step) {
        if (message.kind == MESSAGE_LINK || message.kind == MESSAGE_LINK_GONE)
            links_apply(&links, &message);
        if (message.kind == MESSAGE_ROUTE)
            use_route(message.route, &links);
    }
    links_clear(&links);
    free(bytes);
    return 0;
}
