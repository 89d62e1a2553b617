// A file of magnetometer samples, and the fit to it: what `lodestone calibrate fit` works on.

package import CalibrationCore
package import MagnetometerLogs
import TerminalUI

/// A file of samples that was read.
package struct SampleFile {
  /// No more than this is read of a file, bytes.
  static let limit = 128 << 20

  package let table: SampleTable
  /// Whether the file is longer than what was read of it.
  package let isCut: Bool

  /// Reads a file, or standard input for `-`. What takes longer than a second shows its progress to a person.
  package init(_ file: String, into empty: SampleTable) throws {
    var table = empty
    var input = try InputFile(file)
    // As for JSON, so that only a person sees it.
    var progress = ProgressLine(.json)
    defer { progress.close() }
    let patience = ContinuousClock.now.advanced(by: .seconds(1))
    let name = input.name
    isCut = try Self.read(&table, upTo: Self.limit) {
      try input.read(1 << 16)
    } progress: { lines in
      if progress.isDue, ContinuousClock.now > patience {
        progress.show("reading \(name): \(lines) lines")
      }
    }
    self.table = table
  }

  /// Fills a table piece by piece. Returns whether it ended before the pieces did.
  ///
  /// - Parameters:
  ///   - table: What is filled.
  ///   - limit: The number of bytes after which no further piece is asked for.
  ///   - next: The next piece; `nil` at the end.
  ///   - progress: Called behind each piece with the number of lines so far.
  static func read<Piece: Collection<UInt8>>(
    _ table: inout SampleTable, upTo limit: Int, next: () throws -> Piece?,
    progress: (Int) -> Void = { _ in }
  ) throws -> Bool {
    var size = 0
    while !table.isFull, size < limit {
      guard let piece = try next() else {
        table.finish()
        return false
      }
      size += piece.count
      table.take(piece)
      progress(table.lines)
    }
    table.finish()
    return true
  }
}

/// What a fit made of a table of samples.
package struct SampleFit {
  package let outcome: CalibrationOutcome
  /// What became of the field strength that was given; `nil` where none was.
  package let strengthUse: KnownStrength.Use?

  /// Fits hard and soft iron, which have to stay as they are all along.
  ///
  /// - Parameters:
  ///   - table: The samples.
  ///   - fieldStrength: The field's strength at the place, in the table's unit; `nil` where it is not known.
  ///   - dip: The field's dip at the place, degrees below the horizon; `nil` where it is not known.
  package init(_ table: SampleTable, fieldStrength: Double?, dip: Double?) {
    var params = FitParameters()
    params.demandsSteadyIron = true
    let fitter = MagnetometerFitter(params: params)
    let expected = CalibrationField(dip: dip.map { $0 * .pi / 180 })
    var outcome: CalibrationOutcome
    if let fieldStrength {
      let known = KnownStrength(fieldStrength, unit: table.unit)
      let found = known.fit(table.samples, expected: expected, by: fitter)
      outcome = found.outcome
      strengthUse = found.use
    } else {
      outcome = fitter.fit(table.samples, expected: expected)
      strengthUse = nil
    }
    if let refusal = table.gravity(of: outcome) {
      outcome = CalibrationOutcome(fit: outcome.fit, refusal: refusal)
    }
    self.outcome = outcome
  }
}
