/* SPDX-License-Identifier: MIT */
#ifndef TESTS_ETC_H
#define TESTS_ETC_H

/* The files of the resolver, as this process sees them: in /etc and /run of its own, so that they can be written,
 * replaced, linked and removed. The machine's are not touched. What goes wrong fails the test. */

#define ETC_RESOLV_CONF "/etc/resolv.conf"
#define ETC_HOSTS       "/etc/hosts"
#define ETC_NSSWITCH    "/etc/nsswitch.conf"
#define ETC_UPSTREAM    "/run/systemd/resolve/resolv.conf"
#define ETC_ASIDE       "/run/aside/" /* a directory that nobody would look at for its own sake */

/* Puts the files back as a test finds them: hosts without a line, `hosts: files dns`, nothing in /run but the empty
 * directory, and a resolv.conf that names one server and gives it five seconds. The first call goes into a mount
 * namespace of the process's own; where this machine does not allow that, the test is skipped. Before the first thread
 * is started, and after namespace_require. */
void etc_require(const char *nameserver);

void etc_write(const char *path, const char *text);   /* in place */
void etc_replace(const char *path, const char *text); /* by a new file that is renamed over it */
void etc_link(const char *path, const char *target);  /* by a symbolic link, likewise */
void etc_mount(const char *path, const char *other);  /* another file is mounted over it, as containers have it */
void etc_remove(const char *path);
void etc_make_directory(const char *path);

/* Sets resolv.conf, in place: the servers, separated by blanks, and how many seconds one has. */
void etc_set_servers(const char *servers, int seconds);

#endif
