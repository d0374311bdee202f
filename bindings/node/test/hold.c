/* SPDX-License-Identifier: MIT */
/*
 * For lock.test.js, with LD_PRELOAD: while the FIFO $HOLD exists, a request that the kernel answers when its RTNL lock
 * is free waits until the test opens the FIFO. $HOLD.waits is made first.
 */
#include <fcntl.h>
#include <linux/rtnetlink.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

static int waits_for_rtnl(const struct nlmsghdr *header)
{
    switch (header->nlmsg_type) {
    case RTM_GETSTATS:
    case RTM_GETNEIGH:
    case RTM_GETRULE:
        return 1;
    case RTM_GETLINK:
        return (header->nlmsg_flags & NLM_F_DUMP) == NLM_F_DUMP;
    default:
        return 0;
    }
}

__attribute__((visibility("default"))) ssize_t send(int fd, const void *bytes, size_t length, int flags)
{
    const struct nlmsghdr *header = bytes;
    const char *fifo = getenv("HOLD");
    char waits[4096];

    if (length >= sizeof *header && waits_for_rtnl(header) && fifo != NULL && access(fifo, F_OK) == 0) {
        snprintf(waits, sizeof waits, "%s.waits", fifo);
        close(open(waits, O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
        close(open(fifo, O_RDONLY | O_CLOEXEC));
    }
    return syscall(SYS_sendto, fd, bytes, length, flags, NULL, 0);
}
