/* SPDX-License-Identifier: MIT */
/*
 * Reads the devices of links from sysfs.
 *
 * What this file must never do: use a sysfs that shows another network namespace. A sysfs shows the namespace in which
 * it was mounted, not that of the calling thread.
 */
#ifdef __linux__
#include "kernel/sysfs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/if.h>
#include <linux/if_arp.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/file.h"
#include "kernel/ioctl.h"

#define LINK_FOLDER "/sys/class/net/"
#define PATH_SIZE   128
#define TEXT_SIZE   512 /* of a file; longer files have what we need at the start */

/* What reading one link's device needs, for it and for the links below it. */
struct sysfs_reader {
    int fd;
    bool carried;
    unsigned links_read;
    int error; /* of a file that exists and cannot be read */
};

/* ---- Files ------------------------------------------------------------------------------------------------------ */

static void store_error(struct sysfs_reader *reader, int error)
{
    if (error != 0 && !filestamp_means_absent(error))
        reader->error = error;
}

/* Opens a file in memory, so that is fast. A child that is forked meanwhile has it until exec. */
static int open_file(struct sysfs_reader *reader, const char *path, int flags)
{
    const int fd = file_open(path, flags);

    if (fd < 0)
        store_error(reader, errno);
    return fd;
}

/* Reads the text of a link's file; "": there is none, or none that this process may read. */
static void read_link_file(struct sysfs_reader *reader, const char *name, const char *file, char ret[TEXT_SIZE])
{
    char path[PATH_SIZE];
    ssize_t length = 0;
    int fd;

    snprintf(path, sizeof path, LINK_FOLDER "%s/%s", name, file);
    fd = open_file(reader, path, 0);
    if (fd >= 0) {
        do
            length = read(fd, ret, TEXT_SIZE - 1); /* fails for some files of some devices */
        while (length < 0 && errno == EINTR);
        close(fd);
    }
    ret[length > 0 ? length : 0] = '\0';
}

/* Parses a hardware address such as "c0:00:02:01". Returns the number of bytes. */
static size_t parse_hardware_address(const char *text, unsigned char *ret, size_t size)
{
    size_t count = 0;
    char *end;

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

/* ---- Whether sysfs shows the link ------------------------------------------------------------------------------- */

/* Links of two namespaces may have the same name and index. They are unlikely to have the same hardware
 * address too; links of some types have none. */
static bool sysfs_shows(struct sysfs_reader *reader, const struct link *link)
{
    unsigned char bytes[sizeof(((struct ifreq *)NULL)->ifr_hwaddr.sa_data)];
    char text[TEXT_SIZE];
    struct ifreq request = { 0 };

    read_link_file(reader, link->name, "ifindex", text);
    if (strtoul(text, NULL, 10) != link->index)
        return false;
    read_link_file(reader, link->name, "type", text);
    if (strtoul(text, NULL, 10) != link->hardware)
        return false;
    memcpy(request.ifr_name, link->name, sizeof link->name);
    if (ioctl(reader->fd, SIOCGIFHWADDR, &request) != 0)
        return false;
    read_link_file(reader, link->name, "address", text);
    return memcmp(bytes, request.ifr_hwaddr.sa_data, parse_hardware_address(text, bytes, sizeof bytes)) == 0;
}

/* ---- One link --------------------------------------------------------------------------------------------------- */

/* Reads the device type that the driver gives: a line of uevent. "": none. */
static void read_devtype(struct sysfs_reader *reader, const char *name, char ret[16])
{
    static const char key[] = "DEVTYPE=";
    char text[TEXT_SIZE];
    const char *line = text;

    ret[0] = '\0';
    read_link_file(reader, name, "uevent", text);
    for (; line != NULL; line = strchr(line, '\n'), line = line == NULL ? NULL : line + 1)
        if (strncmp(line, key, sizeof key - 1) == 0)
            snprintf(ret, 16, "%.*s", (int)strcspn(line + sizeof key - 1, "\n"), line + sizeof key - 1);
}

/* A link without hardware is in a folder of its own. */
static bool is_virtual(const char *name)
{
    char path[PATH_SIZE], target[512];
    ssize_t length;

    snprintf(path, sizeof path, LINK_FOLDER "%s", name);
    length = readlink(path, target, sizeof target - 1);
    if (length <= 0)
        return true;
    target[length] = '\0';
    return strstr(target, "/virtual/net/") != NULL;
}

/* ---- The link below --------------------------------------------------------------------------------------------- */

static enum device read_device(struct sysfs_reader *reader, const char *name, unsigned depth);

static bool is_running_by_ioctl(const struct sysfs_reader *reader, const char *name)
{
    struct ifreq request = { 0 };

    snprintf(request.ifr_name, sizeof request.ifr_name, "%s", name);
    return ioctl(reader->fd, SIOCGIFFLAGS, &request) == 0 && (request.ifr_flags & IFF_RUNNING) != 0;
}

/* The folder of a link has an entry "lower_NAME" for each link below it. */
static void choose_from_entries(struct sysfs_reader *reader, const char *bytes, size_t length, unsigned depth,
                                struct link_choice *choice)
{
    static const char prefix[] = "lower_";

    while (length > 0 && !link_is_best(choice)) {
        const struct dirent64 *entry = (const void *)bytes;

        if (strncmp(entry->d_name, prefix, sizeof prefix - 1) == 0 && reader->links_read < LINK_READ_LIMIT) {
            const char *lower = entry->d_name + sizeof prefix - 1;

            (void)link_choose(choice, is_running_by_ioctl(reader, lower), read_device(reader, lower, depth));
        }
        bytes += entry->d_reclen;
        length -= entry->d_reclen;
    }
}

/* The best device of the links below. DEVICE_UNKNOWN: there is none. */
static enum device read_lower_device(struct sysfs_reader *reader, const char *name, unsigned depth)
{
    _Alignas(struct dirent64) char bytes[1024];
    struct link_choice choice = { 0 };
    char path[PATH_SIZE];
    ssize_t length;
    int folder;

    snprintf(path, sizeof path, LINK_FOLDER "%s/", name);
    folder = open_file(reader, path, O_DIRECTORY);
    if (folder < 0)
        return DEVICE_UNKNOWN;
    while (!link_is_best(&choice) && (length = getdents64(folder, (void *)bytes, sizeof bytes)) > 0)
        choose_from_entries(reader, bytes, (size_t)length, depth, &choice);
    close(folder);
    return choice.device;
}

/* The device of the port that a bond uses. DEVICE_UNKNOWN: the bond does not name one. */
static enum device read_active_port_device(struct sysfs_reader *reader, const char *name, unsigned depth)
{
    char text[TEXT_SIZE];

    read_link_file(reader, name, "bonding/active_slave", text);
    text[strcspn(text, "\n")] = '\0';
    if (text[0] == '\0' || strlen(text) > 15)
        return DEVICE_UNKNOWN;
    return read_device(reader, text, depth);
}

/* ---- Links that lead out of a container or a virtual machine ---------------------------------------------------- */

static uint32_t read_number(struct sysfs_reader *reader, const char *name, const char *file)
{
    char text[TEXT_SIZE];

    read_link_file(reader, name, file, text);
    return (uint32_t)strtoul(text, NULL, 10);
}

/* The two links of a veth pair name each other in "iflink". If the other one is in another namespace, "iflink" is its
 * index there. This is sure only if no link here has that index. A gretap that was moved here from the namespace of its
 * lower link looks the same, until its kind is known. */
static bool is_half_of_pair(struct sysfs_reader *reader, const char *name)
{
    const uint32_t index = read_number(reader, name, "ifindex"), other = read_number(reader, name, "iflink");
    struct ifreq request = { .ifr_ifindex = (int)other };

    if (other == 0 || other == index || read_number(reader, name, "type") != ARPHRD_ETHER)
        return false;
    if (ioctl(reader->fd, SIOCGIFNAME, &request) != 0)
        return errno == ENODEV;
    return read_number(reader, request.ifr_name, "iflink") == index;
}

/* Of a link without a link below it in this namespace. */
static bool is_cable(struct sysfs_reader *reader, const char *name, const char *devtype)
{
    return devtype[0] != '\0' ? link_kind_is_cable(devtype) : is_half_of_pair(reader, name);
}

/* ---- A link, with those below it -------------------------------------------------------------------------------- */

static enum device read_device(struct sysfs_reader *reader, const char *name, unsigned depth)
{
    char type[16];
    enum device lower;

    reader->links_read++;
    read_devtype(reader, name, type);
    if (strcmp(type, "wlan") == 0)
        return DEVICE_WIFI;
    if (strcmp(type, "wwan") == 0)
        return DEVICE_CELLULAR;
    if (!is_virtual(name))
        return DEVICE_PHYSICAL;
    /* A tunnel does not take over the device that its packets leave by. */
    if (depth == 0 || strcmp(type, "vxlan") == 0)
        return DEVICE_VIRTUAL;
    reader->carried = true; /* also if there is no link below now: one may be added */
    lower = strcmp(type, "bond") == 0 ? read_active_port_device(reader, name, depth - 1) : DEVICE_UNKNOWN;
    if (lower == DEVICE_UNKNOWN)
        lower = read_lower_device(reader, name, depth - 1);
    if (lower != DEVICE_UNKNOWN)
        return lower;
    return is_cable(reader, name, type) ? DEVICE_CABLE : DEVICE_VIRTUAL;
}

int sysfs_read_device(int fd, struct link *link)
{
    struct sysfs_reader reader = { .fd = fd };
    const bool shown = (link->flags & IFF_LOOPBACK) == 0 && sysfs_shows(&reader, link);
    const unsigned depth = link->complete && !link_is_carried(link) ? 0 : LINK_DEPTH;

    link->device = shown ? read_device(&reader, link->name, depth) : DEVICE_NOT_IN_SYSFS;
    if (link->device == DEVICE_VIRTUAL && link->complete && link_kind_is_cable(link->kind) && !link_is_carried(link))
        link->device = DEVICE_CABLE;
    link->carried = reader.carried;
    if (reader.error != 0)
        link->device = DEVICE_UNKNOWN;
    return reader.error;
}
#endif
