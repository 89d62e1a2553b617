// How the files of a series are named.

import TextForms

/// The name of a series, `drive.jsonl`, and the names of its files, `drive-20261129T020000Z.jsonl`: between name and ending
/// stands the UTC time at which a file begins. The order of the names is the order in which the files were written.
struct SeriesName: Sendable, Hashable {
  /// What a file of the series is.
  enum SeriesForm: Sendable, Hashable {
    /// The file that was written.
    case plain
    /// A finished file that was compressed: `.gz` follows its name.
    case compressed
    /// A compressed file that is not complete yet: `.gz.part` follows its name.
    case partial

    fileprivate static let suffixes: [(suffix: String, form: SeriesForm)] = [
      (".gz.part", .partial), (".gz", .compressed), ("", .plain),
    ]
  }

  /// A file of the series.
  struct SeriesEntry: Sendable, Hashable {
    /// The time in its name, in seconds since the beginning of 1970.
    var second: Int64
    var form: SeriesForm
    var name: String
  }

  private let stem: String
  private let ending: String
  /// `20261129T020000Z`
  private static let stampLength = 16
  /// The seconds that four digits of years have room for from 1970 on.
  private static let range: ClosedRange<Int64> = 0...253_402_300_798

  /// - Parameter name: The name that a person gave, without folders.
  init(_ name: String) {
    // A dot at the start makes a file hidden, and begins no ending.
    if let dot = name.lastIndex(of: "."), dot != name.startIndex {
      (stem, ending) = (String(name[..<dot]), String(name[dot...]))
    } else {
      (stem, ending) = (name, "")
    }
  }

  /// Whether the files of the series can be told from compressed ones.
  var isUsable: Bool { !stem.isEmpty && ![".gz", ".zst", ".part"].contains(ending) }

  /// Returns the second that the next file is named by: that of the clock, or the one after the newest file. So the order
  /// of the names stays that of the files when the clock is not set, or is set back, and no name comes twice. Returns
  /// `nil` after the year 9999.
  ///
  /// - Parameters:
  ///   - wall: The clock, in seconds since the beginning of 1970.
  ///   - newest: The second of the newest file; `nil` for an empty series.
  static func next(at wall: Double, after newest: Int64?) -> Int64? {
    let now =
      wall.isFinite
      ? Int64(wall.clamped(to: Double(range.lowerBound)...Double(range.upperBound))) : 0
    let second = newest.map { max(now, $0 + 1) } ?? now
    return range.contains(second) ? second : nil
  }

  /// Returns the name of the file that begins at a second.
  func name(_ second: Int64) -> String { "\(stem)-\(Self.stamp(second) ?? "")\(ending)" }

  /// Returns what a file of the folder is to the series; `nil` for a file that does not belong to it. A name belongs to the
  /// series only if the series would give it to a file.
  func entry(_ name: String) -> SeriesEntry? {
    for (suffix, form) in SeriesForm.suffixes where name.hasSuffix(ending + suffix) {
      let inner = name.dropLast(ending.count + suffix.count)
      guard inner.count == stem.count + 1 + Self.stampLength, inner.hasPrefix(stem + "-"),
        let second = Self.second(inner.suffix(Self.stampLength)),
        // Byte for byte: strings that look alike may be the names of two files.
        (self.name(second) + suffix).utf8.elementsEqual(name.utf8)
      else { continue }
      return SeriesEntry(second: second, form: form, name: name)
    }
    return nil
  }

  private static func stamp(_ second: Int64) -> String? {
    guard range.contains(second), let date = CivilDate(Double(second)) else { return nil }
    let seconds = date.milliseconds / 1_000
    var text: [UInt8] = []
    text.append(decimal: UInt64(date.year), width: 4)
    text.append(decimal: UInt64(date.month), width: 2)
    text.append(decimal: UInt64(date.day), width: 2)
    text.append(UInt8(ascii: "T"))
    text.append(decimal: seconds / 3_600, width: 2)
    text.append(decimal: seconds / 60 % 60, width: 2)
    text.append(decimal: seconds % 60, width: 2)
    text.append(UInt8(ascii: "Z"))
    return String(decoding: text, as: UTF8.self)
  }

  /// The second that a text names; `nil` for a text that is no such time.
  private static func second(_ text: Substring) -> Int64? {
    func number(_ first: Int, _ count: Int) -> Int64? {
      let digits = text.dropFirst(first).prefix(count)
      return digits.allSatisfy { $0.isASCII && $0.isNumber } ? Int64(digits) : nil
    }
    guard text.count == stampLength, let year = number(0, 4), let month = number(4, 2),
      let day = number(6, 2), let hour = number(9, 2), let minute = number(11, 2),
      let second = number(13, 2), (1...12).contains(month)
    else { return nil }
    // Counted from March on, a leap day ends its year.
    let years = month > 2 ? year : year - 1
    let ofYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
    let days = 365 * years + years / 4 - years / 100 + years / 400 + ofYear - 719_468
    let value = days * 86_400 + hour * 3_600 + minute * 60 + second
    // A month has fewer days than its digits allow: what comes out has to be what went in.
    return stamp(value).flatMap { $0 == text ? value : nil }
  }
}

extension Double {
  fileprivate func clamped(to range: ClosedRange<Double>) -> Double {
    Swift.min(Swift.max(self, range.lowerBound), range.upperBound)
  }
}
