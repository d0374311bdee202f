/* SPDX-License-Identifier: MIT */
#ifndef TESTS_TEST_H
#define TESTS_TEST_H

/* What most tests of the library use. */

#include <arpa/inet.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include "support/callbacks.h"
#include "support/child.h"
#include "support/descriptors.h"
#include "support/idle.h"
#include "support/namespace.h"
#include "support/program.h"
#include "support/time_limit.h"
#include "support/watcher.h"
#include "support/writer.h"

#endif
