// SPDX-License-Identifier: MIT

// The text of a status in the user's language. On Linux, Foundation's locale is fixed and ignores LANG, and so do its
// bundles. So this file chooses the language and the table itself: first the table "AFNetworking" of the program's main
// bundle, then this module's table, then the English text, which is the key.

#if os(Linux)
internal import Foundation

/// The status as text, in the language of LC_ALL, LC_MESSAGES or LANG.
public func AFStringFromNetworkReachabilityStatus(_ status: AFNetworkReachabilityStatus) -> String {
    Localization.text(of: status, in: Localization.languages(ProcessInfo.processInfo.environment))
}

/// The status as text, in a language such as "de" or "zh-Hans".
public func AFStringFromNetworkReachabilityStatus(
    _ status: AFNetworkReachabilityStatus, language: String
) -> String {
    Localization.text(of: status, in: [language])
}

package enum Localization {
    static func text(of status: AFNetworkReachabilityStatus, in languages: [String]) -> String {
        text(for: key(of: status), in: languages, folders: folders)
    }

    private static func key(of status: AFNetworkReachabilityStatus) -> String {
        switch status {
        case .unknown: "Unknown"
        case .notReachable: "Not Reachable"
        case .reachableViaWWAN: "Reachable via WWAN"
        case .reachableViaWiFi: "Reachable via WiFi"
        }
    }

    /// Returns the text of the first folder that has the key in one of the languages. So a program's own text comes
    /// before this module's.
    package static func text(for key: String, in languages: [String], folders: [URL]) -> String {
        for folder in folders {
            for language in languages.flatMap(fallbacks) {
                if let text = table(language: language, in: folder)?[key] { return text }
            }
        }
        return key
    }

    /// The languages of the first POSIX variable that is set. "C" and "POSIX" are not languages.
    package static func languages(_ environment: [String: String]) -> [String] {
        let names = ["LC_ALL", "LC_MESSAGES", "LANG"]
        guard let value = names.lazy.compactMap({ environment[$0] }).first(where: { !$0.isEmpty }) else {
            return ["en"]
        }
        let language = value.prefix { $0 != "." && $0 != "@" }
        return language == "C" || language == "POSIX" ? ["en"] : [String(language), "en"]
    }

    /// "zh-hans-cn", "zh-hans" and "zh" for "zh-Hans-CN". Chinese without a script gets the script of its region.
    private static func fallbacks(_ language: String) -> [String] {
        var parts = language.lowercased().split { $0 == "-" || $0 == "_" }
        if parts == ["zh"] || parts == ["zh", "cn"] || parts == ["zh", "sg"] { parts = ["zh", "hans"] }
        return (0..<parts.count).map { parts.dropLast($0).joined(separator: "-") }
    }

    /// Ignores the case of folder names, because SwiftPM makes them lower case.
    private static func table(language: String, in folder: URL) -> [String: String]? {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
        let name = names.first { name in
            name.lowercased().replacing("_", with: "-") == "\(language).lproj"
        }
        guard let name else { return nil }
        let file = folder.appendingPathComponent(name).appendingPathComponent("AFNetworking.strings")
        guard let data = try? Data(contentsOf: file) else { return nil }
        return try? PropertyListSerialization.propertyList(from: data, format: nil) as? [String: String]
    }

    /// The main bundle's folder, then this module's, which SwiftPM puts beside the program. Not `Bundle.module`: it
    /// ends the process if the folder is missing, and a program may be installed without that folder.
    private static let folders: [URL] = {
        let main = [Bundle.main.resourceURL, Bundle.main.bundleURL].compactMap { $0 }
        return main + main.map { $0.appendingPathComponent("libreachability_AFNetworkReachability.resources") }
    }()
}
#endif
