/* SPDX-License-Identifier: MIT */
#include "support/fake_sysfs.h"

#include <sys/mount.h>

#include "support/namespace.h"
#include "support/unit.h"

static bool mount_over(void)
{
    return mount("none", "/sys", "sysfs", MS_RDONLY | MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL) == 0;
}

void fake_sysfs_require(void)
{
    static bool entered;

    if (!entered && !namespace_enter_mounts())
        SKIP("no mount namespace can be made here");
    entered = true;
    if (!mount_over())
        SKIP("no sysfs can be mounted here");
}

void fake_sysfs_set_type(const char *interface, const char *type)
{
    char text[64], path[64], name[] = "/tmp/uevent-XXXXXX";
    int length = snprintf(text, sizeof text, "INTERFACE=%s\nDEVTYPE=%s\n", interface, type);
    int fd = mkstemp(name);

    snprintf(path, sizeof path, "/sys/class/net/%s/uevent", interface);
    if (fd < 0 || write(fd, text, (size_t)length) != length || mount(name, path, "none", MS_BIND, NULL) != 0)
        fail_msg("%s: %s", path, strerror(errno));
    close(fd);
    unlink(name);
}
