// SPDX-License-Identifier: MIT

// For sources with `import SystemConfiguration`. A package that uses this gives it another name: see the article "Unchanged
// sources".

#if os(Linux)
@_exported public import SCReachability
#endif
