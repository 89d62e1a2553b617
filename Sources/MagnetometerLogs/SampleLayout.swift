// How a table is laid out, told by its beginning: what separates, which columns hold what, which lines are none.

import SensorTypes

/// The layout of a table of samples.
struct SampleLayout {
  /// Where the samples' moments come from.
  struct Time: Hashable {
    var column: Int
    var seconds: Double
  }

  var separator = SampleSeparator.comma
  var columns = SampleTable.Columns.first
  var origin = ColumnOrigin.assumed
  var unit: FieldUnit?
  var time: Time?
  /// An accelerometer that the header names and nobody asked for.
  var unusedForce: SampleTable.Columns?
  /// Columns before the field that were passed over, without a header: they rise as times do, or hold no numbers.
  var passed = 0
  var isOwn = false
  /// The names that stand before the numbers of each line; `nil` for a table.
  var labels: SampleLabels?
  /// Whether only the numbers themselves can tell which columns hold the field: then more lines tell more.
  var isSearched = false
  /// Why no columns could be told.
  var problem: String?
  /// The first line that holds numbers, from 0.
  var firstData = 0

  /// Lines that are looked at; a file has shown by then what it is.
  static let looked = 1_000
  /// The most lines that are looked at where columns are told by their numbers: five minutes at 100 lines a second.
  static let searched = 30_000

  /// Tells the layout from a file's first lines.
  ///
  /// - Parameter isLast: Whether no more lines will come; columns are told by their numbers only then.
  init(
    _ given: [[UInt8]], columns: SampleTable.Columns?, force: SampleTable.Columns?,
    by recognition: SampleRecognition, isLast: Bool = true
  ) {
    let plain = given.prefix(Self.looked).filter {
      !$0.allSatisfy(SampleSeparator.isBlank) && Self.remark($0) == nil
    }
    if let labels = SampleLabels(plain), labels.named > Self.separated(labels.others).rows {
      self.init(
        table: given.map { Self.remark($0) == nil ? labels.row($0) : [] }, columns: columns,
        force: force, header: SampleHeader(labels.names), by: recognition, isLast: isLast)
      self.labels = labels
      // Lines without these names may stand anywhere.
      firstData = 0
    } else {
      self.init(
        table: given, columns: columns, force: force, header: nil, by: recognition, isLast: isLast)
    }
  }

  private init(
    table lines: [[UInt8]], columns given: SampleTable.Columns?, force: SampleTable.Columns?,
    header labelled: SampleHeader?, by recognition: SampleRecognition, isLast: Bool
  ) {
    let rows = lines.indices.filter { !lines[$0].allSatisfy(SampleSeparator.isBlank) }
    let plain = rows.filter { Self.remark(lines[$0]) == nil }
    separator =
      labelled == nil ? Self.separator(of: plain.prefix(Self.looked).map { lines[$0] }) : .comma
    var table = Numbers(separator)
    for row in plain { table.take(lines[row], at: row) }
    firstData = table.firstRow ?? plain.first { table.hasNumber(lines[$0]) } ?? lines.count
    let before = rows.filter { $0 < firstData }
    if let given {
      (columns, origin) = (given, .given)
    } else if force == nil, Self.isOwn(before.map { lines[$0] }, by: recognition) {
      (isOwn, columns) = (true, SampleTable.Columns(2, 3, 4))
      return
    }
    let header =
      labelled ?? Self.header(before.map { lines[$0] }, width: table.width, separator)
    var headers = header.map { [$0] } ?? []
    if let header, table.isRowNumbered(beyond: header.cells.count) {
      // As R writes a table: no name above the rows' own.
      headers = [SampleHeader([""] + header.cells)]
    }
    if given == nil { place(headers.first, table) }
    if given == nil, isSearched, isLast {
      search(plain.map { lines[$0] }, force: force, by: recognition)
    }
    if problem == nil, let header = headers.first {
      unit = header.fields.first { $0.columns == columns }?.unit
      if force == nil { unusedForce = header.force }
    }
    var taken = Set([columns.x, columns.y, columns.z])
    if let force {
      let forces = Set([force.x, force.y, force.z])
      if problem == nil, !taken.isDisjoint(with: forces) {
        problem =
          "columns \(columns) hold the field and \(force) the force: say by --columns where the field is"
      }
      taken.formUnion(forces)
    }
    time = moment(headers.first, table, besides: taken)
  }

  private mutating func place(_ header: SampleHeader?, _ table: Numbers) {
    let fields = (header?.fields ?? []).filter {
      max($0.columns.x, $0.columns.y, $0.columns.z) <= max(table.width, 3)
    }
    // A phone's log has columns for every field that there could be, and zeros in those that its program did not ask for.
    if let field = fields.first(where: { table.moves($0.columns) }) ?? fields.first {
      (columns, origin) = (field.columns, .header)
    } else if let header, !header.saysNothing {
      let times = Set(header.times.map(\.column))
      let rest = header.names.indices.filter { !times.contains($0 + 1) }
      let silent = rest.filter { header.names[$0].meaning == .nothing }
      // Beside times three columns of no name can be nothing else.
      if !times.isEmpty, silent.count == 3, rest.count == 3 {
        columns = SampleTable.Columns(silent[0] + 1, silent[1] + 1, silent[2] + 1)
      } else {
        problem =
          "the header names no magnetometer's x, y and z clearly (\(header.list)): say by --columns where they are"
      }
    } else {
      passed = table.passed
      columns = SampleTable.Columns(passed + 1, passed + 2, passed + 3)
      isSearched = table.width - passed > 3
    }
  }

  /// Looks for the one magnetometer among the columns behind those that were passed.
  private mutating func search(
    _ lines: [[UInt8]], force: SampleTable.Columns?, by recognition: SampleRecognition
  ) {
    var numbers: [[Double]] = []
    var fields: [Range<Int>] = []
    var width = 0
    for line in lines {
      separator.split(line, into: &fields)
      let row = fields.dropFirst(passed).prefix(FieldSearch.mostColumns).map {
        separator.number(line, $0)
      }
      // A column of words ends what is looked at.
      let count = row.firstIndex { $0 == nil } ?? row.count
      if numbers.isEmpty { width = count }
      guard count >= width, count >= 3 else { continue }
      numbers.append(row.prefix(width).compactMap { $0 })
    }
    if let first = FieldSearch.first(numbers, by: recognition) {
      let at = passed + first + 1
      columns = SampleTable.Columns(at, at + 1, at + 2)
      origin = .found
    } else if width >= 6, force == nil {
      problem =
        "without a header it cannot be told which of the \(passed + width) columns hold the magnetometer: say by "
        + "--columns, as --columns 7,8,9"
    }
  }

  private func moment(_ header: SampleHeader?, _ table: Numbers, besides taken: Set<Int>) -> Time? {
    var candidates = header?.times ?? []
    if candidates.isEmpty, header == nil || header?.saysNothing == true {
      candidates = (0..<table.rising).map { ($0 + 1, nil) }
    }
    for candidate in candidates where !taken.contains(candidate.column) {
      guard candidate.column <= table.leading.count else { continue }
      if let size = Self.seconds(table.leading[candidate.column - 1], unit: candidate.seconds) {
        return Time(column: candidate.column, seconds: size)
      }
    }
    return nil
  }

  /// What a step of one in a column of times is, seconds: as its name says, else by what it steps by, between 1 and
  /// 2,000 times a second, and nearest to 50. `nil` for what is no time, or only counts.
  static func seconds(_ values: [Double], unit: Double?) -> Double? {
    guard values.count >= 3 else { return nil }
    let steps = zip(values, values.dropFirst()).map { $1 - $0 }
    let rising = steps.filter { $0 > 0 }.sorted()
    // A clock that was set back once is one all the same.
    guard steps.filter({ $0 < 0 }).count <= max(1, steps.count / 50), rising.count * 2 > steps.count
    else {
      return nil
    }
    let step = rising[rising.count / 2]
    if let unit { return (1e-5...3_600).contains(step * unit) ? unit : nil }
    guard !(rising.first == 1 && rising.last == 1) else { return nil }
    let size = values[0].magnitude
    // Seconds since 1970, from 2001 to 2039, tell their unit by their size.
    for unit in [1, 1e-3, 1e-6, 1e-9] where (1e9...2.2e9).contains(size * unit) {
      if (1e-5...3_600).contains(step * unit) { return unit }
    }
    let fitting = [1, 1e-3, 1e-6, 1e-9].filter { (1...2_000).contains(1 / (step * $0)) }
    func distance(_ unit: Double) -> Double {
      let ratio = 50 * step * unit
      return max(ratio, 1 / ratio)
    }
    return fitting.min { distance($0) < distance($1) }
  }

  // MARK: Lines

  /// What a remark says, without its mark; `nil` for a line that is none.
  static func remark(_ line: [UInt8]) -> ArraySlice<UInt8>? {
    let text = line.drop { SampleSeparator.isBlank($0) }
    if text.starts(with: "//".utf8) { return text.drop { $0 == UInt8(ascii: "/") } }
    guard let first = text.first, first == UInt8(ascii: "#") || first == UInt8(ascii: "%") else {
      return nil
    }
    return text.drop { $0 == first }
  }

  private static func isOwn(_ before: [[UInt8]], by recognition: SampleRecognition) -> Bool {
    guard let last = before.last, recognition.isKeptHeader(last) else { return false }
    return before.contains { $0.starts(with: "# record of ".utf8) }
  }

  /// The separator by which most lines hold three numbers; of equal ones the surest.
  private static func separator(of lines: [[UInt8]]) -> SampleSeparator {
    let best = separated(lines)
    guard best.rows == 0 else { return best.separator }
    // No line tells: what stands there at all.
    var fields: [Range<Int>] = []
    return SampleSeparator.allCases.first { separator in
      lines.contains { line in
        separator.split(line, into: &fields)
        return fields.count > 1
      }
    } ?? .blanks
  }

  /// The separator by which most lines hold three numbers, and how many do.
  private static func separated(_ lines: [[UInt8]]) -> (separator: SampleSeparator, rows: Int) {
    var best = (separator: SampleSeparator.blanks, rows: 0)
    for separator in SampleSeparator.allCases {
      var table = Numbers(separator)
      for line in lines { table.take(line, at: 0) }
      if table.rows > best.rows { best = (separator, table.rows) }
    }
    return best
  }

  /// The header among the lines before the numbers: the last that names a field, else the last that is no remark.
  private static func header(
    _ before: [[UInt8]], width: Int, _ separator: SampleSeparator
  ) -> SampleHeader? {
    var nearest: SampleHeader?
    for line in before.suffix(20).reversed() {
      let remark = remark(line)
      let candidates = [separator] + SampleSeparator.allCases.filter { $0 != separator }
      for (place, candidate) in candidates.enumerated() {
        var cells = cells(remark ?? line[...], candidate)
        if remark != nil, cells.count == width + 1, cells[0].hasSuffix(":") { cells.removeFirst() }
        // A sentence has as many words as a table has columns by chance only.
        let isFitting = cells.count == width
        guard isFitting || (remark == nil && place == 0) else { continue }
        let header = SampleHeader(cells)
        if !header.fields.isEmpty { return header }
        // A title is no header, unless it says what a header says.
        let isPlain = remark == nil && place == 0 && isFitting
        if nearest == nil, cells.count > 1, isPlain || header.namesSensor { nearest = header }
      }
    }
    return nearest
  }

  /// The names of a header; a unit in brackets belongs to the name before it, and nothing separates within.
  private static func cells(
    _ line: ArraySlice<UInt8>, _ separator: SampleSeparator
  ) -> [String] {
    var text: [UInt8] = []
    var depth = 0
    for byte in line {
      if byte == UInt8(ascii: "(") || byte == UInt8(ascii: "[") {
        depth += 1
        // `mag_x (uT)`, but `(x) (y)`.
        let before = text.last { $0 != 0x20 }
        if separator == .blanks, before != nil, before != UInt8(ascii: ")") {
          while text.last == 0x20 { text.removeLast() }
        }
      }
      if byte == UInt8(ascii: ")") || byte == UInt8(ascii: "]") { depth = max(0, depth - 1) }
      if depth > 0, separator == .blanks, SampleSeparator.isBlank(byte) { continue }
      text.append(byte)
    }
    var fields: [Range<Int>] = []
    separator.split(text, into: &fields)
    return fields.map { String(decoding: text[$0], as: UTF8.self) }
  }
}

/// The numbers at a table's beginning.
private struct Numbers {
  private let separator: SampleSeparator
  private var fields: [Range<Int>] = []
  private var widths: [Int: Int] = [:]
  /// Lines that hold three numbers.
  private(set) var rows = 0
  private(set) var firstRow: Int?
  /// The first columns' numbers, each as far as it has them.
  private(set) var leading: [[Double]] = []
  private static let mostLeading = 64

  init(_ separator: SampleSeparator) { self.separator = separator }

  mutating func take(_ line: [UInt8], at row: Int) {
    separator.split(line, into: &fields)
    let numbers = fields.prefix(10_000).map { separator.number(line, $0) }
    guard numbers.lazy.compactMap({ $0 }).count >= 3 else { return }
    rows += 1
    if firstRow == nil { firstRow = row }
    widths[fields.count, default: 0] += 1
    while leading.count < min(fields.count, Self.mostLeading) { leading.append([]) }
    for (column, number) in numbers.prefix(Self.mostLeading).enumerated() {
      if let number { leading[column].append(number) }
    }
  }

  mutating func hasNumber(_ line: [UInt8]) -> Bool {
    separator.split(line, into: &fields)
    return fields.contains { separator.number(line, $0) != nil }
  }

  /// How many columns most lines have.
  var width: Int { widths.max { ($0.value, $0.key) < ($1.value, $1.key) }?.key ?? 0 }

  /// Columns at the left that rise all the way, as times and counts do, with three more behind them.
  var rising: Int {
    var count = 0
    while count + 3 < width, count < leading.count, Self.rises(leading[count], rows) { count += 1 }
    return count
  }

  /// These, or the columns at the left that hold no numbers.
  var passed: Int {
    var count = 0
    while count + 3 < width, count < leading.count,
      leading[count].isEmpty || Self.rises(leading[count], rows)
    {
      count += 1
    }
    return count
  }

  /// Whether one of three columns changes.
  func moves(_ columns: SampleTable.Columns) -> Bool {
    [columns.x, columns.y, columns.z].contains { column in
      guard column <= leading.count, let first = leading[column - 1].first else { return false }
      return leading[column - 1].contains { $0 != first }
    }
  }

  /// Whether the first column counts the rows, and a header lacks a name for it.
  func isRowNumbered(beyond names: Int) -> Bool {
    guard width == names + 1, let first = leading.first, first.count == rows else { return false }
    return rows >= 3 && zip(first, first.dropFirst()).allSatisfy { $1 == $0 + 1 }
  }

  private static func rises(_ values: [Double], _ rows: Int) -> Bool {
    guard values.count == rows, rows >= 5, let first = values.first, let last = values.last else {
      return false
    }
    let steps = zip(values, values.dropFirst()).map { $1 - $0 }
    return last > first && steps.allSatisfy { $0 >= 0 }
      && steps.filter { $0 > 0 }.count * 2 > steps.count
  }
}
