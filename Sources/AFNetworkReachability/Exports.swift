// SPDX-License-Identifier: MIT

#if os(Linux)
// For `init(reachability:)`, and for programs that make socket addresses.
@_exported public import SCReachability
#endif
