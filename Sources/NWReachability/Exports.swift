// SPDX-License-Identifier: MIT

// `import Network` also exports Dispatch, and sources count on it. With Apple's SDK, Foundation brings `@Observable`; here it
// does not, and models that wrap a monitor import only Foundation and Network.

#if os(Linux)
@_exported public import Dispatch
@_exported public import Observation
#endif
