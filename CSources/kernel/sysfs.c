/* SPDX-License-Identifier: MIT */
/*
 * What this file must never do: believe a sysfs that shows another network namespace. It shows the one in which it was
 * mounted, whichever the calling thread is in.
 */
#include "kernel/sysfs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/filestamp.h"
#include "base/process.h"
#include "kernel/ioctl.h"

#define FOLDER    "/sys/class/net/"
#define PATH_SIZE 128
#define TEXT_SIZE 512 /* what is looked for stands at the start */

struct inquiry {
    int      fd;
    bool     carried;
    unsigned looks;
    int      error; /* something could not be looked at */
};

/* ---- Files ------------------------------------------------------------------------------------------------------ */

static void note(struct inquiry *inquiry, int error)
{
    if (error != 0 && !filestamp_means_absent(error))
        inquiry->error = error;
}

/* A file of an interface: its text, "" when there is none or none for us. */
static void read_text(struct inquiry *inquiry, const char *name, const char *file, char ret[TEXT_SIZE])
{
    char              path[PATH_SIZE];
    struct descriptor descriptor;
    size_t            length;
    int               error;

    ret[0] = '\0';
    snprintf(path, sizeof path, FOLDER "%s/%s", name, file);
    error = descriptor_open(path, 0, &descriptor);
    note(inquiry, error);
    if (error != 0)
        return;
    (void)descriptor_read(&descriptor, ret, TEXT_SIZE - 1, &length); /* some files of some devices cannot be */
    ret[length] = '\0';
    descriptor_close(&descriptor);
}

/* Bytes in hexadecimal, as "c0:00:02:01". Returns how many. */
static size_t parse_bytes(const char *text, unsigned char *ret, size_t size)
{
    size_t count = 0;
    char  *end;

    for (; count < size; text = end + 1) {
        ret[count] = (unsigned char)strtoul(text, &end, 16);
        if (end == text)
            break;
        count++;
        if (*end != ':')
            break;
    }
    return count;
}

/* ---- Whether to believe it -------------------------------------------------------------------------------------- */

/* Two namespaces may have links of one name and one index; hardly of one address, too, where links of that type have
 * one. */
static bool is_shown(struct inquiry *inquiry, const struct link *link)
{
    unsigned char bytes[sizeof(((struct ifreq *)NULL)->ifr_hwaddr.sa_data)];
    char          text[TEXT_SIZE];
    struct ifreq  request = { 0 };

    read_text(inquiry, link->name, "ifindex", text);
    if (strtoul(text, NULL, 10) != link->index)
        return false;
    read_text(inquiry, link->name, "type", text);
    if (strtoul(text, NULL, 10) != link->hardware)
        return false;
    memcpy(request.ifr_name, link->name, sizeof link->name);
    if (ioctl(inquiry->fd, SIOCGIFHWADDR, &request) != 0)
        return false;
    read_text(inquiry, link->name, "address", text);
    return memcmp(bytes, request.ifr_hwaddr.sa_data, parse_bytes(text, bytes, sizeof bytes)) == 0;
}

/* ---- One interface ---------------------------------------------------------------------------------------------- */

/* Which type of device its driver calls it: a line of uevent. "": none. */
static void read_type(struct inquiry *inquiry, const char *name, char ret[16])
{
    static const char key[] = "DEVTYPE=";
    char              text[TEXT_SIZE];
    const char       *line = text;

    ret[0] = '\0';
    read_text(inquiry, name, "uevent", text);
    for (; line != NULL; line = strchr(line, '\n'), line = line == NULL ? NULL : line + 1)
        if (strncmp(line, key, sizeof key - 1) == 0)
            snprintf(ret, 16, "%.*s", (int)strcspn(line + sizeof key - 1, "\n"), line + sizeof key - 1);
}

/* Those without hardware are in one folder. */
static bool is_virtual(const char *name)
{
    char          path[PATH_SIZE], target[512];
    const ssize_t length = (snprintf(path, sizeof path, FOLDER "%s", name), readlink(path, target, sizeof target - 1));

    if (length <= 0)
        return true;
    target[length] = '\0';
    return strstr(target, "/virtual/net/") != NULL;
}

/* ---- What carries it -------------------------------------------------------------------------------------------- */

static enum device carrier_of(struct inquiry *inquiry, const char *name, unsigned depth);

static bool is_running(const struct inquiry *inquiry, const char *name)
{
    struct ifreq request = { 0 };

    snprintf(request.ifr_name, sizeof request.ifr_name, "%s", name);
    return ioctl(inquiry->fd, SIOCGIFFLAGS, &request) == 0 && (request.ifr_flags & IFF_RUNNING) != 0;
}

/* Every link below it has an entry "lower_NAME". */
static void consider_entries(struct inquiry *inquiry, const char *bytes, size_t length, unsigned depth,
                             struct link_choice *choice)
{
    static const char prefix[] = "lower_";

    while (length > 0 && !link_is_best(choice)) {
        const struct dirent64 *entry = (const void *)bytes;

        if (strncmp(entry->d_name, prefix, sizeof prefix - 1) == 0 && inquiry->looks < LINK_LOOKS) {
            const char *lower = entry->d_name + sizeof prefix - 1;

            (void)link_choose(choice, is_running(inquiry, lower), carrier_of(inquiry, lower, depth));
        }
        bytes += entry->d_reclen;
        length -= entry->d_reclen;
    }
}

/* DEVICE_UNKNOWN: nothing carries it. */
static enum device best_lower(struct inquiry *inquiry, const char *name, unsigned depth)
{
    _Alignas(struct dirent64) char bytes[1024];
    struct link_choice             choice = { 0 };
    struct descriptor              folder;
    char                           path[PATH_SIZE];
    ssize_t                        length;
    int                            error;

    snprintf(path, sizeof path, FOLDER "%s/", name);
    error = descriptor_open(path, O_DIRECTORY, &folder);
    note(inquiry, error);
    if (error != 0)
        return DEVICE_UNKNOWN;
    while (!link_is_best(&choice) && (length = getdents64(folder.fd, bytes, sizeof bytes)) > 0)
        consider_entries(inquiry, bytes, (size_t)length, depth, &choice);
    descriptor_close(&folder);
    return choice.device;
}

/* A bond names the one of its ports that it uses. */
static enum device active_port(struct inquiry *inquiry, const char *name, unsigned depth)
{
    char text[TEXT_SIZE];

    read_text(inquiry, name, "bonding/active_slave", text);
    text[strcspn(text, "\n")] = '\0';
    if (text[0] == '\0' || strlen(text) > 15)
        return DEVICE_UNKNOWN;
    return carrier_of(inquiry, text, depth);
}

static enum device carrier_of(struct inquiry *inquiry, const char *name, unsigned depth)
{
    char        type[16];
    enum device carrier;

    inquiry->looks++;
    read_type(inquiry, name, type);
    if (strcmp(type, "wlan") == 0)
        return DEVICE_WIFI;
    if (strcmp(type, "wwan") == 0)
        return DEVICE_CELLULAR;
    if (!is_virtual(name))
        return DEVICE_PHYSICAL;
    /* A tunnel is not what its packets leave over. */
    if (depth == 0 || strcmp(type, "vxlan") == 0)
        return DEVICE_VIRTUAL;
    inquiry->carried = true; /* or will be */
    carrier = strcmp(type, "bond") == 0 ? active_port(inquiry, name, depth - 1) : DEVICE_UNKNOWN;
    if (carrier == DEVICE_UNKNOWN)
        carrier = best_lower(inquiry, name, depth - 1);
    return carrier == DEVICE_UNKNOWN ? DEVICE_VIRTUAL : carrier;
}

int sysfs_read_device(int fd, struct link *link)
{
    struct inquiry inquiry = { .fd = fd };
    const bool     shown = (link->flags & IFF_LOOPBACK) == 0 && is_shown(&inquiry, link);
    const unsigned depth = link->complete && !link_is_carried(link) ? 0 : LINK_DEPTH;

    link->device = shown ? carrier_of(&inquiry, link->name, depth) : DEVICE_NOT_IN_SYSFS;
    link->carried = inquiry.carried;
    if (inquiry.error != 0)
        link->device = DEVICE_UNKNOWN;
    return inquiry.error;
}
