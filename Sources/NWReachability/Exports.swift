// SPDX-License-Identifier: MIT

// `import Network` also exports Dispatch, and sources count on it.

#if os(Linux)
@_exported public import Dispatch
#endif
