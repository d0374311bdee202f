// SPDX-License-Identifier: MIT

// `import Network` also exports Dispatch, and sources count on it. With Apple's SDK, Foundation brings `@Observable`; here it
// does not, and models that wrap a monitor import only Foundation and Network.

#if os(Linux)
@_exported public import Dispatch
@_exported public import Observation
#elseif canImport(Darwin)
// There, this module is Network.framework itself: one import line on every platform. Not `canImport` of that module: this
// package has a target of that name.
@_exported public import Network
#endif
