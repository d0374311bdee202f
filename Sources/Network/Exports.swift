// SPDX-License-Identifier: MIT

// For sources with `import Network`. A package that uses this gives it another name: see the article "Migrating from
// Network.framework".

#if os(Linux)
@_exported public import NWReachability
#endif
