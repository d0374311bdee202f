/* SPDX-License-Identifier: MIT */
/* What keeps network namespaces. */
#include "support/namespace_users.h"

#include <dirent.h>
#include <linux/sockios.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

struct text {
    char bytes[64];
};

static struct text read_link(const char *format, const char *name)
{
    char path[64];
    struct text text = { "" };

    snprintf(path, sizeof path, format, name);
    (void)!readlink(path, text.bytes, sizeof text.bytes - 1);
    return text;
}

/* The namespace of a thread. */
static struct text namespace_of_thread(const char *name)
{
    return read_link("/proc/self/task/%s/ns/net", name);
}

/* The namespace of a socket, or the one that a descriptor is. */
static struct text namespace_of_descriptor(const char *name)
{
    const int of_socket = ioctl(atoi(name), SIOCGSKNS);
    char number[16];

    if (of_socket < 0)
        return read_link("/proc/self/fd/%s", name);
    snprintf(number, sizeof number, "%d", of_socket);
    struct text text = read_link("/proc/self/fd/%s", number);
    close(of_socket);
    return text;
}

static void print_each(const char *directory, struct text (*namespace_of)(const char *name))
{
    const struct text own = read_link("/proc/%s/ns/net", "thread-self");
    DIR *entries = opendir(directory);

    for (const struct dirent *entry; entries != NULL && (entry = readdir(entries)) != NULL;) {
        const struct text text = entry->d_name[0] == '.' ? own : namespace_of(entry->d_name);

        if (strncmp(text.bytes, "net:[", 5) == 0 && strcmp(text.bytes, own.bytes) != 0)
            printf("| %s/%s: %s\n", directory, entry->d_name, text.bytes);
    }
    if (entries != NULL)
        closedir(entries);
}

void namespace_users_print(void)
{
    print_each("/proc/self/task", namespace_of_thread);
    print_each("/proc/self/fd", namespace_of_descriptor);
}
