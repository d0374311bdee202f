// SPDX-License-Identifier: MIT

#if os(Linux)
extension String {
    /// The text that a C function writes as snprintf(3) does: into a buffer of some bytes. It returns the length of the whole
    /// text, which may be another one in the next call.
    package init(_ write: (UnsafeMutablePointer<CChar>?, Int) -> Int) {
        var capacity = 256
        while true {
            var length = 0
            let text = String(unsafeUninitializedCapacity: capacity) { buffer in
                buffer.withMemoryRebound(to: CChar.self) { length = write($0.baseAddress, $0.count) }
                return Swift.min(length, capacity - 1)
            }
            if length < capacity {
                self = text
                return
            }
            capacity = length + 1
        }
    }
}
#endif
