// SPDX-License-Identifier: MIT

#if os(Linux)
// For the flags, and for those who make socket addresses.
@_exported public import SCReachability
#endif
