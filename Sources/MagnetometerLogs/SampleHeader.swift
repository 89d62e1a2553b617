// What the names above a table's columns say: field, another sensor, time, or nothing.

import SensorTypes

/// One name of a header.
struct SampleName: Hashable {
  enum Meaning: Hashable {
    case axis(ColumnQuantity, name: String, axis: Int)
    case time(seconds: Double?)
    /// A count of lines.
    case index
    /// A name that says nothing: `a`, `col1`, `Var2`.
    case nothing
    /// Anything else, a temperature say.
    case other
  }

  var meaning: Meaning
  /// The unit of a field, where the name has one.
  var unit: FieldUnit?
  /// Whether the field is told to be as the chip gave it (0), nothing is told (1), or it is corrected (2).
  var treatment = 1

  init(_ cell: String) {
    let (found, bracketed) = Self.tokens(cell)
    var tokens = found
    guard !tokens.isEmpty || !bracketed.isEmpty else {
      // A table of pandas has no name above its index.
      meaning = .index
      return
    }
    var otherUnit = false
    for text in bracketed {
      let small = text.lowercased()
      if ["0", "1", "2", "3", "x", "y", "z"].contains(small) {
        tokens.append(small)
      } else if let unit = FieldUnit(header: text) {
        self.unit = unit
        // Gravity and thousandths of it, unless the name says magnetometer.
        otherUnit = text == "g" || text == "mg"
      } else {
        otherUnit = Self.otherUnits.contains(small)
      }
    }
    if Self.isTime(tokens) {
      meaning = .time(seconds: Self.secondsOfUnit(tokens, bracketed))
      return
    }
    var words = tokens.map { $0.lowercased() }
    if words.count == 1, Self.indices.contains(words[0]) {
      meaning = .index
      return
    }
    // Units behind or between the name's parts.
    var kept: [String] = []
    for (place, (token, word)) in zip(tokens, words).enumerated() {
      // A letter at the beginning is a name: `g_x`, `m_x`.
      let mayBeUnit = words.count > 1 && (place > 0 || word.count > 1)
      if mayBeUnit, word != "count", let unit = FieldUnit(header: token) {
        // `mag_x_uT_raw` is not calibrated, and in microtesla.
        if unit != .counts || self.unit == nil { self.unit = unit }
        otherUnit = token == "g" || token == "mg"
      } else if mayBeUnit, Self.otherUnits.contains(word) {
        otherUnit = true
      } else {
        kept.append(word)
      }
    }
    words = kept
    if !Set(words).isDisjoint(with: Self.raw) || unit == .counts { treatment = 0 }
    if !Set(words).isDisjoint(with: Self.corrected) { treatment = 2 }
    words.removeAll { Self.raw.contains($0) || Self.corrected.contains($0) }
    words.removeAll { Self.fillers.contains($0) }
    guard let (name, axis) = Self.axis(words) else {
      meaning = Self.saysNothing(words) ? .nothing : .other
      return
    }
    guard let quantity = Self.quantity(name), !(quantity == .plain && otherUnit) else {
      meaning = .other
      return
    }
    meaning = .axis(quantity, name: name.joined(), axis: axis)
  }

  // MARK: RecordPhrases

  private static let raw: Set<String> = [
    "raw", "uncal", "uncalib", "uncalibrated", "unc", "uncorrected",
  ]
  private static let corrected: Set<String> = [
    "cal", "calib", "calibrated", "corrected", "corr", "filtered", "filt", "filter", "lpf",
    "smoothed",
  ]
  private static let fillers: Set<String> = [
    "axis", "value", "val", "data", "sensor", "reading", "measured", "meas", "component", "field",
    "strength",
  ]
  private static let indices: Set<String> = [
    "i", "n", "id", "idx", "index", "sample", "samples", "seq", "no", "nr", "row", "line", "frame",
    "packet", "counter", "count", "#",
  ]
  private static let notMeasured: Set<String> = [
    "bias", "offset", "ofs", "std", "dev", "var", "cov", "covariance", "err", "error", "scale",
    "expected", "model", "ref", "reference", "magnitude", "image",
  ]
  private static let otherUnits: Set<String> = [
    "m/s^2", "m/s2", "m/s\u{B2}", "ms2", "mss", "m/s/s", "rad/s", "rads", "deg/s", "dps", "mdps",
    "\u{B0}/s", "rad", "deg", "\u{B0}", "m", "mm", "m/s", "px", "s2",
  ]
  private static let chips = [
    "hmc5", "qmc5", "qmc6", "lis3mdl", "lis2mdl", "iis2mdc", "lsm303m", "lsm9ds1m", "ak89", "ak09",
    "bmm1", "bmm3", "mmc5", "mmc3", "rm3100", "ist83", "mag3110",
  ]

  /// The words of a name and what stands in brackets; words end at capitals too, but for units.
  private static func tokens(_ cell: String) -> (words: [String], bracketed: [String]) {
    var (words, bracketed) = ([String](), [String]())
    var (word, inside) = ("", "")
    var depth = 0
    func end() {
      if !word.isEmpty { words.append(contentsOf: parts(word)) }
      word = ""
    }
    for character in cell {
      if character == "(" || character == "[" || character == "{" {
        end()
        (depth, inside) = (depth + 1, "")
      } else if character == ")" || character == "]" || character == "}" {
        depth = max(0, depth - 1)
        let text = inside.filter { $0 != " " && $0 != "_" }
        if !text.isEmpty { bracketed.append(text) }
        inside = ""
      } else if depth > 0 {
        inside.append(character)
      } else if character.isLetter || character.isNumber || character == "\u{FFFD}" {
        word.append(character)
      } else {
        end()
      }
    }
    end()
    return (words, bracketed)
  }

  private static func parts(_ word: String) -> [String] {
    guard FieldUnit(header: word) == nil else { return [word] }
    var parts = [""]
    var previous: Character?
    for character in word {
      if character.isUppercase, previous?.isLowercase ?? false { parts.append("") }
      parts[parts.count - 1].append(character)
      previous = character
    }
    return parts
  }

  private static let times: Set<String> = [
    "timestamp", "ts", "stamp", "utc", "clock", "epoch", "date", "datetime", "elapsed", "tick",
    "ticks", "unix", "seconds", "secs", "sec", "millis", "micros", "nanos", "milliseconds",
    "microseconds", "nanoseconds", "msec", "usec", "nsec",
  ]

  private static func isTime(_ tokens: [String]) -> Bool {
    let words = tokens.map { $0.lowercased() }
    if words.contains(where: { $0.hasPrefix("time") || $0.hasSuffix("time") || times.contains($0) })
    {
      return true
    }
    // Letters that are units elsewhere stand for a time where they stand alone.
    guard let first = words.first, ["t", "s", "ms", "us", "ns"].contains(first) else {
      return false
    }
    return words.dropFirst().allSatisfy { seconds($0) != nil }
  }

  private static func secondsOfUnit(_ tokens: [String], _ bracketed: [String]) -> Double? {
    for text in bracketed + tokens.reversed() {
      if let size = seconds(text) { return size }
      let word = text.lowercased()
      guard word.hasPrefix("time") else { continue }
      for unit in ["usec", "msec", "nsec", "us", "ms", "ns"] where word.hasSuffix(unit) {
        return seconds(unit)
      }
    }
    return nil
  }

  private static func seconds(_ text: String) -> Double? {
    switch text.lowercased() {
    case "s", "sec", "secs", "second", "seconds": 1
    case "ms", "msec", "millis", "millisecond", "milliseconds": 1e-3
    case "us", "usec", "micros", "microsecond", "microseconds", "\u{3BC}s", "\u{B5}s": 1e-6
    case "ns", "nsec", "nanos", "nanosecond", "nanoseconds": 1e-9
    default: nil
    }
  }

  private static func axis(_ words: [String]) -> (name: [String], axis: Int)? {
    let axes = ["x", "y", "z"]
    let alone = words.indices.filter { axes.contains(words[$0]) }
    if alone.count == 1 {
      var name = words
      let axis = name.remove(at: alone[0])
      return axes.firstIndex(of: axis).map { (name, $0) }
    }
    guard alone.isEmpty, let last = words.last else { return nil }
    func known(_ name: [String]) -> Bool { quantity(name).map { $0 != .plain } ?? false }
    // `magx`, `mx`
    if let axis = axes.firstIndex(of: String(last.suffix(1))) {
      let name = words.dropLast() + [String(last.dropLast())]
      if known(Array(name)) { return (Array(name), axis) }
    }
    // `xmag`
    if let first = words.first, let axis = axes.firstIndex(of: String(first.prefix(1))) {
      let name = [String(first.dropFirst())] + words.dropFirst()
      if known(name) { return (name, axis) }
    }
    // `mag[0]`, `mag_1`, `mag2`
    if let digit = last.last.flatMap({ Int(String($0)) }), (0...3).contains(digit) {
      let rest = String(last.dropLast())
      let name = words.dropLast() + (rest.isEmpty ? [] : [rest])
      if known(Array(name)) { return (Array(name), 10 + digit) }
    }
    return nil
  }

  private static func quantity(_ words: [String]) -> ColumnQuantity? {
    let name = words.joined()
    guard !name.isEmpty else { return .plain }
    guard Set(words).isDisjoint(with: notMeasured) else { return nil }
    func holds(_ test: (String) -> Bool) -> Bool { words.contains(where: test) || test(name) }
    if holds({ $0.hasPrefix("gyr") || $0.hasPrefix("angular") || $0.hasPrefix("grav") })
      || ["g", "w", "r", "omega", "rate", "rot", "rotation", "rotationrate"].contains(name)
    {
      return .motion
    }
    if holds({ $0.hasPrefix("acc") || $0.hasSuffix("acc") || $0.hasSuffix("accel") })
      || ["a", "la", "f", "force", "xl"].contains(name)
    {
      return .force
    }
    if holds({ word in
      (word.hasPrefix("mag") && !word.hasPrefix("magnitude")) || word.hasSuffix("mag")
        || word.hasPrefix("compass") || word.hasPrefix("flux") || word == "bfield"
        || chips.contains { word.hasPrefix($0) }
    }) {
      return .named
    }
    return ["m", "b", "h"].contains(name) ? .letter : nil
  }

  private static func saysNothing(_ words: [String]) -> Bool {
    var stem = words.joined()
    while stem.last?.isNumber ?? false { stem.removeLast() }
    let stems = [
      "", "col", "column", "c", "v", "var", "ch", "channel", "unnamed", "a", "b", "d", "e", "k",
    ]
    return stems.contains(stem)
  }
}

/// What a column with an axis holds.
enum ColumnQuantity: Hashable {
  /// A field: by a magnetometer's name, by a letter that stands for one (`mx`, `bx`, `hx`), or by none, the
  /// surest first.
  case named, letter, plain
  /// A specific force or acceleration.
  case force
  /// Angular rate, gravity: what comes with a magnetometer and is no field.
  case motion
}

/// A header: what the names above a table's columns say together.
struct SampleHeader {
  /// The names as they stand in the file.
  let cells: [String]
  let names: [SampleName]

  init(_ cells: [String]) {
    self.cells = cells
    names = cells.map(SampleName.init)
  }

  /// Whether it says anything about its columns.
  var saysNothing: Bool {
    names.allSatisfy { $0.meaning == .nothing || $0.meaning == .index }
  }

  /// Three columns that hold the axes of one thing.
  private struct Triple {
    var columns: SampleTable.Columns
    var quantity: ColumnQuantity
    var treatment: Int
    var unit: FieldUnit?
  }

  private var triples: [Triple] {
    struct TripleKey: Hashable {
      var quantity: ColumnQuantity
      var name: String
      var treatment: Int
    }
    var places: [TripleKey: [Int: [Int]]] = [:]
    for (column, name) in names.enumerated() {
      guard case .axis(let quantity, let word, let axis) = name.meaning else { continue }
      let key = TripleKey(quantity: quantity, name: word, treatment: name.treatment)
      places[key, default: [:]][axis, default: []].append(column + 1)
    }
    let found = places.compactMap { key, axes -> Triple? in
      // By letters, or by numbers from 0 or from 1.
      let start = axes[0] != nil ? 0 : axes[10] != nil ? 10 : 11
      let columns = (start..<start + 3).compactMap { axes[$0] }
      guard columns.count == 3, columns.allSatisfy({ $0.count == 1 }),
        columns.allSatisfy({ $0[0] <= SampleTable.Columns.most })
      else { return nil }
      let (x, y, z) = (columns[0][0], columns[1][0], columns[2][0])
      return Triple(
        columns: SampleTable.Columns(x, y, z), quantity: key.quantity, treatment: key.treatment,
        unit: names[x - 1].unit)
    }
    func order(_ triple: Triple) -> [Int] {
      let sureness = [ColumnQuantity.named, .letter, .plain].firstIndex(of: triple.quantity)
      return [sureness ?? 3, triple.treatment, triple.columns.x]
    }
    return found.sorted { order($0).lexicographicallyPrecedes(order($1)) }
  }

  /// The columns that may hold the field: a magnetometer's before letters before bare axes, raw before corrected, from
  /// the left. Empty where none are named, or bare axes stand beside another sensor's.
  var fields: [(columns: SampleTable.Columns, unit: FieldUnit?)] {
    let triples = triples
    let hasOther = triples.contains { $0.quantity == .force || $0.quantity == .motion }
    return triples.filter { triple in
      switch triple.quantity {
      case .force, .motion: false
      case .plain: triple.unit != nil || !hasOther
      case .named, .letter: true
      }
    }.map { ($0.columns, $0.unit) }
  }

  /// Whether it names a time or a sensor's axes: a remark that does is a header.
  var namesSensor: Bool { !times.isEmpty || !triples.isEmpty }

  var force: SampleTable.Columns? { triples.first { $0.quantity == .force }?.columns }

  /// Columns that are told to hold a time, with its unit in seconds where that is told.
  var times: [(column: Int, seconds: Double?)] {
    names.enumerated().compactMap { column, name in
      guard case .time(let seconds) = name.meaning else { return nil }
      return (column + 1, seconds)
    }
  }

  /// The names in a row, for a message.
  var list: String {
    let shown = cells.prefix(20).map { String($0.prefix(40)) }.joined(separator: ", ")
    return cells.count > 20 ? shown + ", ..." : shown
  }
}
