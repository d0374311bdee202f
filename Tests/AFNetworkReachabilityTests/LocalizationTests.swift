// SPDX-License-Identifier: MIT

import AFNetworkReachability
import Foundation
import TestSupport
import Testing

@Suite("The text of a status", .limited)
struct LocalizationTests {
    @Test("English texts are AFNetworking's")
    func english() {
        let all: [AFNetworkReachabilityStatus] = [.unknown, .notReachable, .reachableViaWWAN, .reachableViaWiFi]
        let words = ["Unknown", "Not Reachable", "Reachable via WWAN", "Reachable via WiFi"]
        #expect(all.map { AFStringFromNetworkReachabilityStatus($0, language: "en") } == words)
        #expect(all.map { AFStringFromNetworkReachabilityStatus($0, language: "tlh") } == words)
        #expect(AFNetworkReachabilityManager().localizedNetworkReachabilityStatusString(language: "en") == "Unknown")
    }

    @Test(
        "A language with a region or a script finds the table of the language",
        arguments: ["de", "de_AT", "DE-ch", "zh-Hans", "zh_CN", "zh-Hans-SG"])
    func regions(language: String) {
        let text = AFStringFromNetworkReachabilityStatus(.notReachable, language: language)
        #expect(text == (language.lowercased().hasPrefix("de") ? "Nicht erreichbar" : "不可达"))
    }

    private static let environments: [([String: String], String)] = [
        ([:], "en"),
        (["LANG": "de_DE.UTF-8"], "de_DE"),
        (["LANG": "de_DE.UTF-8", "LC_MESSAGES": "fr_FR"], "fr_FR"),
        (["LANG": "de_DE.UTF-8", "LC_MESSAGES": "fr_FR", "LC_ALL": "ja_JP@x"], "ja_JP"),
        (["LANG": "de_DE.UTF-8", "LC_ALL": ""], "de_DE"),
        (["LANG": "de_DE.UTF-8", "LC_ALL": "C.UTF-8"], "en"),
        (["LANG": "POSIX"], "en"),
    ]

    @Test("LC_ALL takes precedence over LC_MESSAGES, and LC_MESSAGES over LANG", arguments: environments)
    func environment(variables: [String: String], language: String) {
        #expect(Localization.languages(variables).first == language)
    }

    @Test("The program's own text takes precedence over this module's, and that over the key")
    func order() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        defer { try? FileManager.default.removeItem(at: folder) }
        let main = folder.appendingPathComponent("main"), ours = folder.appendingPathComponent("ours")
        for (place, words) in [(main, #""a" = "main a";"#), (ours, #""a" = "our a"; "b" = "our b";"#)] {
            let table = place.appendingPathComponent("de.lproj")
            try FileManager.default.createDirectory(at: table, withIntermediateDirectories: true)
            try words.write(to: table.appendingPathComponent("AFNetworking.strings"), atomically: true, encoding: .utf8)
        }
        let words = ["a", "b", "c"].map { Localization.text(for: $0, in: ["de"], folders: [main, ours]) }
        #expect(words == ["main a", "our b", "c"])
    }
}
