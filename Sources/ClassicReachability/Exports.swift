// SPDX-License-Identifier: MIT

#if os(Linux)
// For the flags, and for programs that make socket addresses.
@_exported public import SCReachability
#endif
