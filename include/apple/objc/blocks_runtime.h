/* SPDX-License-Identifier: MIT */
#ifndef REACHABILITY_APPLE_BLOCKS_RUNTIME_H
#define REACHABILITY_APPLE_BLOCKS_RUNTIME_H

/* GNUstep's headers include this file. It comes with the runtime libobjc2, which Debian does not have. With gcc's
 * runtime, the blocks of clang -fblocks are those of libBlocksRuntime, if that is installed: copy them with Block_copy,
 * not with a message. */

#if __has_include_next(<objc/blocks_runtime.h>)
#include_next <objc/blocks_runtime.h>
#elif __has_include(<Block.h>)
#include <Block.h>
#elif __has_include(<Block/Block.h>)
#include <Block/Block.h> /* of Swift's toolchain */
#endif

#endif
