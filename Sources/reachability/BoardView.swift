// SPDX-License-Identifier: MIT

/// Which part of the board is shown: the first row, the selected one, the filter, or the details of one target.
struct BoardView {
    /// The number of the target whose details are shown.
    private(set) var detail: Int?
    private(set) var filter = ""
    private(set) var isTyping = false
    /// The place in the order of the rows; nil before the first key.
    private(set) var selection: Int?
    private(set) var first = 0

    /// Obeys a key. `order`: the rows that pass the filter; `room`: how many of them the screen shows. Returns false if the
    /// user wants to leave.
    mutating func obey(_ key: BoardKey, order: [Int], room: Int) -> Bool {
        if isTyping {
            type(key)
            return true
        }
        switch key {
        case .character("q"), .character("Q"): return false
        case .escape where detail != nil, .enter where detail != nil: detail = nil
        case .escape: (filter, selection, first) = ("", nil, 0)
        case .enter: detail = order.isEmpty ? nil : order[min(selection ?? 0, order.count - 1)]
        case .character("/"): (detail, isTyping, filter) = (nil, true, "")
        case .up: move(by: -1, order.count, room)
        case .down: move(by: selection == nil ? 0 : 1, order.count, room)
        case .pageUp: move(by: -max(room, 1), order.count, room)
        case .pageDown: move(by: max(room, 1), order.count, room)
        case .home: move(by: -order.count, order.count, room)
        case .end: move(by: order.count, order.count, room)
        case .backspace, .character: break
        }
        return true
    }

    private mutating func type(_ key: BoardKey) {
        switch key {
        case .character(let character): filter.append(character)
        case .backspace: filter = String(filter.dropLast())
        case .enter: isTyping = false
        case .escape: (filter, isTyping) = ("", false)
        case .up, .down, .pageUp, .pageDown, .home, .end: break
        }
        (selection, first) = (nil, 0)
    }

    private mutating func move(by distance: Int, _ count: Int, _ room: Int) {
        guard detail == nil, count > 0 else { return }
        let place = min(max((selection ?? 0) + distance, 0), count - 1)
        selection = place
        first = min(first, place)
        if place >= first + room { first = place - room + 1 }
    }

    /// The places that the screen shows.
    func places(of count: Int, room: Int) -> Range<Int> {
        let first = min(first, max(count - room, 0))
        return first..<min(first + max(room, 0), count)
    }
}
