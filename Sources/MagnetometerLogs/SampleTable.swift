// Samples from a text file: a line each, columns of numbers.

import LinearAlgebra
package import SensorTypes

/// Reads samples from a file's bytes: lines of numbers, whatever separates them.
///
/// The first lines tell how the whole is laid out. A semicolon, a tab, a comma or blanks separate, the first of
/// them by which most lines hold three numbers; where it is not a comma, a comma is a decimal point. Lines
/// may end by LF, CR or both; UTF-16 is read where it says so by its mark, little-endian also by its zeros.
/// Empty lines and lines that begin with `#`, `%` or `//` do not count, nor do the words before the first numbers. A line that lacks a number where
/// one is asked for is left out and counted.
///
/// Lines that name their numbers (`SampleLabels`: JSON, `x=1 y=2 z=3`, MotionCal's `Raw:`) are read as a table with
/// these names for a header.
///
/// Columns that are given come before everything. Else a header, also one in a remark, tells the field's by their names
/// (`SampleName`), those that change before those that never do; a header that names other sensors and no field is not
/// guessed at (`problem`). Without a header columns that rise as times and counts do, or that hold no numbers, are
/// passed. Of the rest three are the field; of more, those three that a magnetometer's numbers are (`FieldSearch`).
///
/// Moments come from a column of times where there is one, else lines are taken to be `interval` apart.
///
/// The samples that are kept beside a record of a calibration are known by their first line and their
/// header, unless columns are given.
package struct SampleTable: Sendable {
  /// Three columns, counted from 1.
  package struct Columns: Sendable, Hashable, CustomStringConvertible {
    /// The columns of x, y and z.
    package let x: Int, y: Int, z: Int

    package static let first = Columns(1, 2, 3)

    /// As they can be given: `2,3,4`.
    package var description: String { "\(x),\(y),\(z)" }

    init(_ x: Int, _ y: Int, _ z: Int) { (self.x, self.y, self.z) = (x, y, z) }

    /// Reads `2-4` or `2,3,4`; `nil` for anything that is not three different columns.
    package init?(_ text: String) {
      let range = text.split(separator: "-", omittingEmptySubsequences: false).map { Int($0) }
      if range.count == 2, let low = range[0], let high = range[1] {
        guard low >= 1, low <= Self.most, high == low + 2 else { return nil }
        self.init(low, low + 1, high)
        return
      }
      let list = text.split(separator: ",", omittingEmptySubsequences: false).compactMap { Int($0) }
      guard list.count == 3, text.split(separator: ",").count == 3, Set(list).count == 3,
        list.allSatisfy({ (1...Self.most).contains($0) })
      else { return nil }
      self.init(list[0], list[1], list[2])
    }

    /// No file has more.
    static let most = 10_000
  }

  /// How far apart lines are taken to be where no column is a time, seconds.
  package static let interval = 0.05
  /// Lines that are read; of a longer file the rest is left.
  package static let mostLines = 300_000
  /// Beyond it a number is no field, whatever its unit: a chip's counts end at 2^24, and a field in nanotesla below that.
  package static let largestField = 1e12

  package private(set) var samples: [CalibrationSample] = []
  /// Lines that lack a number, or hold one that is not finite, or no field.
  package private(set) var skipped = 0
  /// The first of them, from 1; `nil` where there is none.
  package private(set) var firstSkipped: Int?
  /// Of them those whose field is beyond `largestField`.
  package private(set) var beyond = 0
  package private(set) var lines = 0

  private let given: Columns?
  private let force: Columns?
  private let recognition: SampleRecognition
  private var text = SampleLines()
  private var beginning: [[UInt8]] = []
  private var layout: SampleLayout?
  private var fields: [Range<Int>] = []
  /// The newest line's time in its file, and the newest sample's moment.
  private var newest: (time: Double?, moment: Double)?

  /// Makes a reader.
  ///
  /// - Parameters:
  ///   - columns: The field's columns; without them they are where the file's header says, else the first three
  ///     that hold anything but a time.
  ///   - force: An accelerometer's, where there are some.
  ///   - recognition: What a table cannot tell by itself.
  package init(columns: Columns?, force: Columns?, recognizing recognition: SampleRecognition) {
    given = columns
    self.force = force
    self.recognition = recognition
  }

  /// Whether no more is read.
  package var isFull: Bool { lines >= Self.mostLines }

  /// Takes the next bytes of the file, as many as there are.
  package mutating func take(_ bytes: some Collection<UInt8>) {
    var text = SampleLines()
    swap(&text, &self.text)
    text.take(bytes) { take(line: $0) }
    swap(&text, &self.text)
  }

  /// Takes the end of the file.
  package mutating func finish() {
    var text = SampleLines()
    swap(&text, &self.text)
    text.finish { take(line: $0) }
    if layout == nil { settle() }
  }

  private mutating func take(line: [UInt8]) -> Bool {
    guard !isFull else { return false }
    lines += 1
    if let layout {
      read(line, layout)
    } else {
      beginning.append(line)
      if beginning.count == SampleLayout.looked || beginning.count == SampleLayout.searched {
        settle(isLast: beginning.count == SampleLayout.searched)
      }
    }
    return true
  }

  /// Tells the layout and reads the lines so far; waits for more where the numbers themselves have to tell it.
  private mutating func settle(isLast: Bool = true) {
    let layout = SampleLayout(
      beginning, columns: given, force: force, by: recognition, isLast: isLast)
    guard isLast || !layout.isSearched else { return }
    self.layout = layout
    let all = lines
    for (index, line) in beginning.enumerated() {
      lines = index + 1
      if index >= layout.firstData {
        read(line, layout)
      } else if SampleLayout.remark(line) == nil, hasNumber(line, layout) {
        // What stands before the numbers may be a header: words alone.
        skip()
      }
    }
    lines = all
    beginning = []
  }

  private mutating func hasNumber(_ line: [UInt8], _ layout: SampleLayout) -> Bool {
    layout.separator.split(line, into: &fields)
    return fields.contains { layout.separator.number(line, $0) != nil }
  }

  private mutating func skip() {
    skipped += 1
    if firstSkipped == nil { firstSkipped = lines }
  }

  private mutating func read(_ given: [UInt8], _ layout: SampleLayout) {
    guard layout.problem == nil, !given.allSatisfy(SampleSeparator.isBlank),
      SampleLayout.remark(given) == nil
    else { return }
    let line = layout.labels?.row(given) ?? given
    guard line.count < SampleLines.longest else { return skip() }
    if layout.isOwn {
      guard let sample = recognition.keptSample(line),
        sample.time >= samples.last?.time ?? sample.time
      else { return skip() }
      return samples.append(sample)
    }
    layout.separator.split(line, into: &fields)
    guard let field = vector(line, layout.columns, layout.separator) else { return skip() }
    var felt: Vector3?
    if let force {
      felt = vector(line, force, layout.separator)
      guard felt != nil else { return skip() }
    }
    guard max(abs(field.x), abs(field.y), abs(field.z)) < Self.largestField else {
      beyond += 1
      return skip()
    }
    let moment = moment(of: line, layout)
    samples.append(CalibrationSample(time: Timestamp(seconds: moment), field: field, force: felt))
  }

  private func vector(
    _ line: [UInt8], _ columns: Columns, _ separator: SampleSeparator
  ) -> Vector3? {
    guard max(columns.x, columns.y, columns.z) <= fields.count,
      let x = separator.number(line, fields[columns.x - 1]),
      let y = separator.number(line, fields[columns.y - 1]),
      let z = separator.number(line, fields[columns.z - 1])
    else { return nil }
    return Vector3(x, y, z)
  }

  /// The moment of the line whose fields are at hand, seconds since the first sample.
  private mutating func moment(of line: [UInt8], _ layout: SampleLayout) -> Double {
    var time: Double?
    if let column = layout.time?.column, column <= fields.count {
      time = layout.separator.number(line, fields[column - 1])
    }
    guard let last = newest else {
      newest = (time, 0)
      return 0
    }
    var step = Self.interval
    if let time, let before = last.time, let unit = layout.time?.seconds {
      let told = (time - before) * unit
      // A clock that was set back, and a pause of more than an hour, tell no step.
      if (0...3_600).contains(told) { step = told }
    }
    newest = (time ?? last.time, last.moment + step)
    return last.moment + step
  }
}

/// Where the columns of the field come from.
package enum ColumnOrigin: Sendable, Hashable {
  case given
  /// The file's header names them.
  case header
  /// Their numbers alone are a magnetometer's.
  case found
  /// Nothing says where they are.
  case assumed
}

extension SampleTable {
  package var columns: Columns { layout?.columns ?? given ?? .first }
  /// Where these come from.
  package var origin: ColumnOrigin { layout?.origin ?? (given == nil ? .assumed : .given) }
  /// Whether these are samples that were kept beside a record: microtesla and m/s^2, in the magnetometer's frame.
  package var isOwn: Bool { layout?.isOwn ?? false }
  /// Whether the lines name their numbers, as JSON and logs of programs do; columns then count the numbers of a line.
  package var isLabelled: Bool { layout?.labels != nil }
  /// Why nothing was read though the file is there, in words; `nil` where nothing speaks against reading it.
  package var problem: String? { layout?.problem }
  /// The field's unit as the header says it; `nil` where it does not.
  package var unit: FieldUnit? { isOwn ? .microtesla : layout?.unit }
  /// The column of times that moments come from; `nil` where there is none.
  package var timeColumn: Int? { isOwn ? 1 : layout?.time?.column }
  /// The unit of these times, seconds.
  package var timeUnit: Double? { isOwn ? 1 : layout?.time?.seconds }
  /// The columns of an accelerometer that the header names and that was not asked for: how its axes lie to the
  /// magnetometer's, and in what sense, no header says.
  package var unusedForce: Columns? { isOwn ? nil : layout?.unusedForce }
  /// How many columns before the field were passed over without a header: they rise as times do, or hold no numbers.
  package var passed: Int { layout?.passed ?? 0 }
}
