/* SPDX-License-Identifier: MIT */
#ifndef REACHABILITY_APPLE_BLOCKS_RUNTIME_H
#define REACHABILITY_APPLE_BLOCKS_RUNTIME_H

/* GNUstep's headers include this file under clang -fblocks. It comes with the runtime libobjc2, which Debian does not
 * have. With gcc's runtime, blocks are those of libBlocksRuntime: copy them with Block_copy, not with a message. */

#if __has_include_next(<objc/blocks_runtime.h>)
#include_next <objc/blocks_runtime.h>
#else
#include <Block.h>
#endif

#endif
