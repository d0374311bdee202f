/* SPDX-License-Identifier: MIT */
/*
 * libFuzzer: the input is what a program passes to the Create calls: a name, the name of an interface, the bytes of a
 * socket address. The description of the target is one text without control characters in each line.
 *
 * COVERS: api/create.c api/strings.c pure/address.c pure/escape.c pure/question.c
 */
#include <reachability/reachability.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_text(const char *text)
{
    for (; *text != '\0'; text++)
        if (((unsigned char)*text < 0x20 && *text != '\n') || *text == 0x7f)
            abort();
}

static void describe(SCNetworkReachabilityRef target)
{
    struct sockaddr_storage addresses[2];
    char text[4096], piece[7];
    size_t length;

    if (target == NULL)
        return;
    length = SCNetworkReachabilityGetDescription(target, text, sizeof text);
    if (length >= sizeof text * 4 || strnlen(text, sizeof text) == sizeof text)
        abort();
    check_text(text);
    if (SCNetworkReachabilityGetDescription(target, piece, sizeof piece) != length || strlen(piece) >= sizeof piece)
        abort();
    if (SCNetworkReachabilityGetResolvedAddresses(target, addresses, 2) > 2)
        abort();
    SCNetworkReachabilityRelease(target);
}

/* Returns a copy with a NUL at its end, of the exact size. */
static char *copy_text(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1);

    if (text == NULL)
        abort();
    memcpy(text, data, size);
    text[size] = '\0';
    return text;
}

/* The first half is the name, the second half an interface. */
static void create_from_text(const uint8_t *data, size_t size)
{
    SCNetworkReachabilityOptions options = kSCNetworkReachabilityOptionsInitializer;
    char *name = copy_text(data, size), *half = copy_text(data, size / 2),
         *interface = copy_text(data + size / 2, size - size / 2);

    describe(SCNetworkReachabilityCreateWithName(NULL, name));
    options.nodename = half;
    options.interfaceName = interface;
    describe(SCNetworkReachabilityCreateWithOptions(NULL, &options));
    free(name);
    free(half);
    free(interface);
}

static void create_from_sockaddr(const uint8_t *data, size_t size)
{
    SCNetworkReachabilityOptions options = kSCNetworkReachabilityOptionsInitializer;
    struct sockaddr *address = malloc(size > 0 ? size : 1); /* of the exact size */

    if (address == NULL)
        abort();
    memcpy(address, data, size);
    options.remoteAddress = address;
    options.remoteAddressLength = (socklen_t)size;
    if (size > 0)
        describe(SCNetworkReachabilityCreateWithOptions(NULL, &options));
    options.localAddress = address;
    options.localAddressLength = (socklen_t)size;
    if (size > 0)
        describe(SCNetworkReachabilityCreateWithOptions(NULL, &options));
    free(address);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static SCNetworkReachabilityRef keeper; /* keeps the sockets open */

    if (keeper == NULL)
        keeper = SCNetworkReachabilityCreateWithName(NULL, "127.0.0.1");
    if (size == 0)
        return 0;
    (*data % 2 == 0 ? create_from_text : create_from_sockaddr)(data + 1, size - 1);
    return 0;
}
