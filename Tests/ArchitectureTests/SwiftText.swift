// Swift code without what only looks like code.

import Foundation
import Synchronization

/// Reads a Swift file as far as the tests of the architecture need: comments, and what stands in quotes, are left out; code in a
/// string's interpolation stays, and so does every line break.
struct SwiftText {
  private static let kept = Mutex<[String: String]>([:])

  private let bytes: [UInt8]
  private var at = 0
  private var code: [UInt8] = []

  /// The code of a file; read once a process.
  static func code(at file: URL) throws -> String {
    if let known = kept.withLock({ $0[file.path] }) { return known }
    let code = Self.code(of: try String(contentsOf: file, encoding: .utf8))
    kept.withLock { $0[file.path] = code }
    return code
  }

  /// The code of a text.
  static func code(of text: String) -> String {
    var reader = SwiftText(bytes: Array(text.utf8))
    reader.readCode(untilBracket: false)
    return String(decoding: reader.code, as: UTF8.self)
  }

  private init(bytes: [UInt8]) { self.bytes = bytes }

  private func begins(_ text: String, at place: Int? = nil) -> Bool {
    bytes[min(place ?? at, bytes.count)...].starts(with: text.utf8)
  }

  /// Takes a byte as code.
  private mutating func keep() {
    code.append(bytes[at])
    at += 1
  }

  /// Leaves a byte out, unless it breaks a line.
  private mutating func drop() {
    if bytes[at] == 10 { code.append(10) }
    at += 1
  }

  private mutating func readCode(untilBracket: Bool) {
    var depth = 0
    while at < bytes.count {
      if begins("//") {
        while at < bytes.count, bytes[at] != 10 { at += 1 }
      } else if begins("/*") {
        dropComment()
      } else if begins("#/") {
        at += 2
        while at < bytes.count, !begins("/#") { drop() }
        at = min(bytes.count, at + 2)
      } else if begins("/"), let end = endOfRegex {
        at = end
      } else if let hashes = hashesOfString {
        readString(hashes: hashes)
      } else {
        if begins("(") { depth += 1 }
        if begins(")") {
          if untilBracket, depth == 0 { return }
          depth -= 1
        }
        keep()
      }
    }
  }

  private mutating func dropComment() {
    var depth = 0
    // It separates words as a blank does.
    code.append(UInt8(ascii: " "))
    repeat {
      if begins("/*") || begins("*/") {
        depth += begins("/*") ? 1 : -1
        at += 2
      } else {
        drop()
      }
    } while at < bytes.count && depth > 0
  }

  /// Where a regex between plain slashes ends that begins here; `nil` where the slash divides.
  private var endOfRegex: Int? {
    guard at + 1 < bytes.count, !" \t\n=".utf8.contains(bytes[at + 1]) else { return nil }
    let before = code.last { $0 != UInt8(ascii: " ") } ?? 10
    let isOperand = !"(,=:[{&|!?\n".utf8.contains(before)
    if isOperand, !code.suffix(8).elementsEqual(" return ".utf8) { return nil }
    var place = at + 1
    while place < bytes.count, bytes[place] != 10 {
      if bytes[place] == UInt8(ascii: "/") { return place + 1 }
      place += bytes[place] == UInt8(ascii: "\\") ? 2 : 1
    }
    return nil
  }

  /// The number signs before a string that begins here; `nil` where none does.
  private var hashesOfString: Int? {
    let hashes = bytes[at...].prefix { $0 == UInt8(ascii: "#") }.count
    return begins("\"", at: at + hashes) ? hashes : nil
  }

  private mutating func readString(hashes: Int) {
    at += hashes
    // Three of them in a row are one that is quoted, unless the line ends there.
    let isLong = begins("\"\"\"") && (hashes == 0 || begins("\"\"\"\n"))
    let quotes = isLong ? "\"\"\"" : "\""
    at += quotes.utf8.count
    code += Array("\"\"".utf8)
    let marks = String(repeating: "#", count: hashes)
    while at < bytes.count, !begins(quotes + marks) {
      if begins("\\" + marks + "(") {
        at += 1 + hashes
        keep()
        readCode(untilBracket: true)
        if at < bytes.count { keep() }
      } else if begins("\\" + marks), at + 1 < bytes.count {
        at += hashes
        drop()
        if at < bytes.count { drop() }
      } else if bytes[at] == 10, quotes.utf8.count == 1 {
        return
      } else {
        drop()
      }
    }
    at = min(bytes.count, at + quotes.utf8.count + hashes)
  }
}
