/* SPDX-License-Identifier: MIT */
#include "support/etc.h"

#include <ftw.h>
#include <sys/mount.h>
#include <sys/stat.h>

#include "support/namespace.h"
#include "support/unit.h"

static void check(bool good, const char *what, const char *path)
{
    if (!good)
        fail_msg("%s %s: %s", what, path, strerror(errno));
}

static void write_new(const char *path, const char *text, int flags)
{
    const int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | flags, 0644);

    check(fd >= 0, "open", path);
    check(write(fd, text, strlen(text)) == (ssize_t)strlen(text), "write", path);
    close(fd);
}

void etc_write(const char *path, const char *text)
{
    write_new(path, text, O_TRUNC);
}

static void name_beside(const char *path, char ret[256])
{
    snprintf(ret, 256, "%s.new", path);
}

void etc_replace(const char *path, const char *text)
{
    char beside[256];

    name_beside(path, beside);
    write_new(beside, text, O_EXCL);
    check(rename(beside, path) == 0, "rename over", path);
}

void etc_link(const char *path, const char *target)
{
    char beside[256];

    name_beside(path, beside);
    check(symlink(target, beside) == 0, "symlink", beside);
    check(rename(beside, path) == 0, "rename over", path);
}

void etc_mount(const char *path, const char *other)
{
    check(mount(other, path, "none", MS_BIND, NULL) == 0, "mount over", path);
}

void etc_unmount(const char *path)
{
    check(umount2(path, MNT_DETACH) == 0, "unmount", path); /* a thread of the library may read the file */
}

void etc_remove(const char *path)
{
    check(unlink(path) == 0, "unlink", path);
}

void etc_make_directory(const char *path)
{
    check(mkdir(path, 0755) == 0, "mkdir", path);
}

void etc_set_servers(const char *servers, int seconds)
{
    char text[512] = "", copy[256], *rest = NULL;
    size_t length = 0;

    snprintf(copy, sizeof copy, "%s", servers);
    for (char *word = strtok_r(copy, " ", &rest); word != NULL; word = strtok_r(NULL, " ", &rest))
        length += (size_t)snprintf(text + length, sizeof text - length, "nameserver %s\n", word);
    snprintf(text + length, sizeof text - length, "options timeout:%d attempts:1\n", seconds);
    etc_write(ETC_RESOLV_CONF, text);
}

/* ---- Private files ---------------------------------------------------------------------------------------------- */

static bool mount_empty(const char *path)
{
    return mount("tmpfs", path, "tmpfs", 0, "mode=755") == 0;
}

/* Keeps the dynamic loader's cache, for the programs that tests run. Clears the machine's domain, which the resolver
 * would append to every name that is not found. */
static bool enter(void)
{
    static char cache[4 * 1024 * 1024];
    const int fd = open("/etc/ld.so.cache", O_RDONLY | O_CLOEXEC);
    ssize_t length = 0;

    if (fd >= 0) {
        length = read(fd, cache, sizeof cache);
        close(fd);
    }
    if (unshare(CLONE_NEWUTS) != 0 || sethostname("test", 4) != 0)
        return false;
    if (!namespace_enter_mounts() || !mount_empty("/etc") || !mount_empty("/run"))
        return false;
    int copy = length > 0 ? open("/etc/ld.so.cache", O_WRONLY | O_CREAT | O_CLOEXEC, 0644) : -1;
    if (copy >= 0) {
        (void)!write(copy, cache, (size_t)length);
        close(copy);
    }
    return true;
}

static int remove_below(const char *path, const struct stat *status, int type, struct FTW *where)
{
    (void)status, (void)type;
    return where->level == 0 ? 0 : remove(path);
}

static void forget(const char *path)
{
    while (umount2(path, MNT_DETACH) == 0)
        continue;
    (void)unlink(path);
}

void etc_require(const char *nameserver)
{
    static bool entered;

    if (!entered) {
        if (!enter())
            SKIP("no mount namespace can be made here");
        entered = true;
        unsetenv("RES_OPTIONS"); /* the environment takes precedence over resolv.conf */
        unsetenv("LOCALDOMAIN");
    }
    forget(ETC_RESOLV_CONF);
    forget(ETC_HOSTS);
    forget(ETC_NSSWITCH);
    (void)nftw("/run", remove_below, 8, FTW_DEPTH | FTW_PHYS);
    etc_make_directory(ETC_ASIDE);
    etc_write(ETC_HOSTS, "");
    etc_write(ETC_NSSWITCH, "hosts: files dns\n");
    etc_set_servers(nameserver, 5);
}
