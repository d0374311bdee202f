// SPDX-License-Identifier: MIT

#if os(Linux)
// For `init(reachability:)`, and for those who make socket addresses.
@_exported public import SCReachability
#endif
