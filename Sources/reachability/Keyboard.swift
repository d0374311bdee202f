// SPDX-License-Identifier: MIT

import Glibc

/// The terminal that is standard input, or that of the process if standard input is a list of targets. While it is open, keys arrive at once and are not shown.
///
/// It must never change the terminal from the background: the kernel would stop the process.
final class Keyboard {
    /// Of the terminal.
    let descriptor: Int32
    private var original: termios?

    var isOpen: Bool { original != nil }

    init(inputIsList: Bool = false) {
        descriptor = inputIsList ? Glibc.open("/dev/tty", O_RDWR | O_CLOEXEC) : STDIN_FILENO
    }

    func open() {
        var settings = termios()
        guard !isOpen, tcgetpgrp(descriptor) == getpgrp(), tcgetattr(descriptor, &settings) == 0 else { return }
        let original = settings
        settings.c_lflag &= ~tcflag_t(ICANON | ECHO)
        withUnsafeMutableBytes(of: &settings.c_cc) { characters in
            characters[Int(VMIN)] = 1
            characters[Int(VTIME)] = 0
        }
        guard tcsetattr(descriptor, TCSADRAIN, &settings) == 0 else { return }
        self.original = original
    }

    func close() {
        guard var original else { return }
        self.original = nil
        tcsetattr(descriptor, TCSADRAIN, &original)
    }

    /// Call this when there is input. nil: the terminal is gone.
    func keys() -> String? {
        var bytes = [UInt8](repeating: 0, count: 64)
        let count = read(descriptor, &bytes, bytes.count)
        if count < 0, errno == EINTR { return "" }
        return count > 0 ? String(decoding: bytes[..<count], as: UTF8.self) : nil
    }
}
