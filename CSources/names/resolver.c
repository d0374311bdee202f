/* SPDX-License-Identifier: MIT */
/*
 * getaddrinfo(3), as the program itself would call it: the system's resolver is the authority.
 *
 * What this file must never do: run on a thread of the program. The call cannot be cancelled or limited in time.
 */
#include "names/resolver.h"

#include <netdb.h>
#include <netinet/in.h>
#include <resolv.h>
#include <string.h>

#include "base/process.h"

static enum lookup_outcome outcome_from_error(int error)
{
    switch (error) {
    case 0:
        return LOOKUP_FOUND;
    case EAI_NONAME:
    case EAI_NODATA:
    case EAI_ADDRFAMILY:
        return LOOKUP_NO_SUCH_NAME;
    default:
        return LOOKUP_FAILED;
    }
}

static size_t copy_addresses(const struct addrinfo *list, struct found_address ret[RESOLVER_ADDRESSES_LIMIT])
{
    size_t count = 0;

    for (; list != NULL && count < RESOLVER_ADDRESSES_LIMIT; list = list->ai_next) {
        struct found_address *item = &ret[count];

        item->scope = 0;
        item->address = address_from_sockaddr(list->ai_addr, &item->scope);
        count += item->address.family != AF_UNSPEC;
    }
    return count;
}

void resolver_resolve(const char *name, struct lookup_result *ret)
{
    const struct addrinfo hints = { .ai_socktype = SOCK_STREAM };
    struct addrinfo      *list = NULL;
    const int             error = getaddrinfo(name, NULL, &hints, &list);

    ret->outcome = outcome_from_error(error);
    if (error == 0) {
        ret->count = copy_addresses(list, ret->items);
        freeaddrinfo(list);
        if (ret->count == 0)
            ret->outcome = LOOKUP_NO_SUCH_NAME;
    }
}

/* glibc keeps a thread's name server sockets in that thread's memory. A new thread of a child can get the memory of one
 * of the parent's threads, with these sockets. So it starts from zero. The inherited sockets are not closed: other
 * files may have their numbers by now. */
void resolver_prepare_thread(void)
{
    if (process_era() != PROCESS_FIRST_ERA)
        memset(&_res, 0, sizeof _res);
}
