/* SPDX-License-Identifier: MIT */
/*
 * getaddrinfo(3), as the program itself would call it: the system's resolver is the authority.
 *
 * A query to systemd-resolved over varlink could be cancelled. But in version 252 ResolveHostname returns no TTL, and
 * there is no ResolveRecord. It would bring a JSON parser into the library, and a second opinion about what a name
 * means. Behind nss-resolve, getaddrinfo queries systemd-resolved anyway (Tests/world/resolved).
 *
 * What this file must never do: run on a thread of the program. The call cannot be cancelled or limited in time.
 */
#ifdef __linux__
#include "names/resolver.h"

#include <locale.h>
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
#ifdef AI_IDN
    case EAI_IDN_ENCODE: /* no such name can exist */
#endif
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
        item->address = reach_address_from_sockaddr(list->ai_addr, &item->scope);
        item->address = reach_address_to_connect(&item->address);
        count += item->address.family != AF_UNSPEC;
    }
    return count;
}

static bool is_ascii(const char *name)
{
    while (*name != '\0' && (unsigned char)*name < 0x80)
        name++;
    return *name == '\0';
}

/* The resolver is asked for the family alone: for both, it succeeds with the addresses of one after the query for the
 * other has failed.
 *
 * A name of the library is UTF-8, but getaddrinfo converts an international one from the character set of the locale,
 * and a program that has not called setlocale(3) has none. So this thread has a locale of its own meanwhile. */
static int resolve_list(const char *name, int family, struct addrinfo **ret)
{
    struct addrinfo hints = { .ai_family = family, .ai_socktype = SOCK_STREAM };
    locale_t locale, before;
    int error;

    if (is_ascii(name))
        return getaddrinfo(name, NULL, &hints, ret);
#ifdef AI_IDN
    hints.ai_flags = AI_IDN;
    locale = newlocale(LC_CTYPE_MASK, "C.UTF-8", (locale_t)0);
    if (locale == (locale_t)0)
        return EAI_IDN_ENCODE;
    before = uselocale(locale);
    error = getaddrinfo(name, NULL, &hints, ret);
    (void)uselocale(before);
    freelocale(locale);
    return error;
#else
    (void)locale, (void)before, (void)error;
    return EAI_NONAME;
#endif
}

void reach_resolver_resolve(const char *name, int family, struct lookup_result *ret)
{
    struct addrinfo *list = NULL;
    const int error = resolve_list(name, family, &list);

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
void reach_resolver_prepare_thread(void)
{
    if (process_era() != 1)
        memset(&_res, 0, sizeof _res);
}
#endif
