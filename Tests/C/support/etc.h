/* SPDX-License-Identifier: MIT */
#ifndef TESTS_ETC_H
#define TESTS_ETC_H

/* The resolver files, in an /etc and a /run that only this process sees: tests can write, replace, link and remove
 * them. The files of the machine do not change. An error fails the test. */

#define ETC_RESOLV_CONF "/etc/resolv.conf"
#define ETC_HOSTS       "/etc/hosts"
#define ETC_NSSWITCH    "/etc/nsswitch.conf"
#define ETC_UPSTREAM    "/run/systemd/resolve/resolv.conf"
#define ETC_ASIDE       "/run/aside/" /* a directory that the resolver does not use by itself */

/* Resets the files: an empty hosts, `hosts: files dns`, an empty /run/aside, and a resolv.conf with one server and a
 * timeout of five seconds. The first call enters a new mount namespace, or skips the test if this machine does not
 * allow that. Call it after namespace_require and before the first thread starts. */
void etc_require(const char *nameserver);

void etc_write(const char *path, const char *text);   /* in place */
void etc_replace(const char *path, const char *text); /* renames a new file over it */
void etc_link(const char *path, const char *target);  /* renames a symbolic link over it */
void etc_mount(const char *path, const char *other);  /* mounts another file over it, as containers do */
void etc_unmount(const char *path);
void etc_remove(const char *path);
void etc_make_directory(const char *path);

/* Writes resolv.conf in place: the servers, separated by blanks, and the timeout. */
void etc_set_servers(const char *servers, int seconds);

#endif
