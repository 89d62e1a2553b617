import CalibrationCore
import CommandTestSupport
import Foundation
import LinearAlgebra
import MagnetometerLogs
import SensorTypes
import TerminalUI
import Testing

@testable import CalibrationUI

/// Files of samples: how they are read, and what is fitted to them.
struct SampleFileTests {
  private static let samples = ReportFixture.samples(200, seed: 9, noise: 0.1, outliers: 0)

  private func table(_ samples: [CalibrationSample], header: String = "x,y,z") -> SampleTable {
    var table = SampleTable()
    table.take(Array("\(header)\n".utf8))
    for sample in samples {
      table.take(Array("\(sample.field.x),\(sample.field.y),\(sample.field.z)\n".utf8))
    }
    table.finish()
    return table
  }

  /// Reads pieces of text. Returns whether the table ended first, and how many pieces were asked for.
  private func read(_ pieces: [String], limit: Int) throws -> (SampleTable, isCut: Bool, Int) {
    var table = SampleTable(columns: SampleTable.Columns("1-3"))
    var rest = pieces[...]
    let isCut = try SampleFile.read(&table, upTo: limit) { rest.popFirst().map { Array($0.utf8) } }
    return (table, isCut, pieces.count - rest.count)
  }

  @Test("a file is read to its end, whatever its pieces are")
  func pieces() throws {
    let (table, isCut, _) = try read(["1,2,", "3\n4,5,6", "\n7,8,9"], limit: 100)
    #expect(!isCut && table.samples.map(\.field.x) == [1, 4, 7])
  }

  @Test("beyond the limit nothing is asked for, and what came until then counts")
  func limit() throws {
    let (table, isCut, asked) = try read(["1,2,3\n", "4,5,6\n", "7,8,9\n"], limit: 12)
    #expect(isCut && asked == 2 && table.samples.count == 2)
    // A file that ends just there cannot be told from a longer one.
    #expect(try read(["1,2,3\n"], limit: 6).isCut)
  }

  @Test("an error on the way is the file's")
  func failure() {
    var table = SampleTable()
    #expect(throws: CommandError.self) {
      try SampleFile.read(&table, upTo: 10) { () throws -> [UInt8]? in
        throw CommandError("gone", kind: .io)
      }
    }
    #expect {
      _ = try SampleFile("/no/such/file", into: SampleTable())
    } throws: {
      ($0 as? CommandError)?.kind == .noInput
    }
  }

  @Test("a fit finds the iron that the samples were made with")
  func fit() throws {
    let fit = SampleFit(table(Self.samples), fieldStrength: nil, dip: nil)
    #expect(fit.outcome.isAccepted && fit.strengthUse == nil)
    let found = try #require(fit.outcome.fit)
    #expect((found.hardIron - ReportFixture.offset).length < 0.5)
    #expect(abs(found.softIron.trace - 3) < 1e-9)
  }

  @Test("with the field's strength the corrected field has it")
  func strength() throws {
    let fit = SampleFit(
      table(Self.samples, header: "x [uT],y [uT],z [uT]"), fieldStrength: ReportFixture.field,
      dip: 66)
    #expect(fit.strengthUse == .constraint)
    let found = try #require(fit.outcome.fit)
    #expect(abs(found.fieldStrength - ReportFixture.field) < 0.5)
    let lengths = Self.samples.map { (found.softIron * ($0.field - found.hardIron)).length }
    #expect(abs(lengths.reduce(0, +) / 200 - ReportFixture.field) < 0.5)
  }

  @Test("a sphere of 9.81 in columns that nobody named is an accelerometer's")
  func gravity() throws {
    let scale = 9.81 / ReportFixture.field
    let gravity = Self.samples.map { sample in
      CalibrationSample(
        time: sample.time, field: scale * (sample.field - ReportFixture.offset), force: nil)
    }
    var table = SampleTable()
    for sample in gravity {
      table.take(Array("\(sample.field.x),\(sample.field.y),\(sample.field.z)\n".utf8))
    }
    table.finish()
    let fit = SampleFit(table, fieldStrength: nil, dip: nil)
    #expect(!fit.outcome.isAccepted)
    #expect(fit.outcome.refusal?.contains("which is gravity") == true)
  }

  @Test("two recordings with different iron are no one calibration")
  func change() {
    let first = ReportFixture.samples(600, seed: 9, noise: 0.1, outliers: 0)
    let second = ReportFixture.samples(600, seed: 10, noise: 0.1, outliers: 0).map { sample in
      CalibrationSample(time: sample.time, field: sample.field + Vector3(4, 0, 0), force: nil)
    }
    let fit = SampleFit(table(first + second), fieldStrength: nil, dip: nil)
    #expect(!fit.outcome.isAccepted && fit.outcome.change != nil)
  }
}
