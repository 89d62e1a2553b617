// Magnetometer logs as people have them, without a word about their columns, against their known answers.

import CalibrationCore
import CalibrationUI
import Foundation
import LinearAlgebra
import MagnetometerLogs
import SensorTypes
import SharedData
import Testing

@Suite(
  .enabled(
    if: SharedData.isThere(RealLogTests.casesPath),
    "skipped: no data/magcal-cases below LODESTONE_SHARED"))
struct MagcalCasesTests {
  private static func read(_ name: String) throws -> SampleTable {
    var table = SampleTable()
    table.take(try Data(contentsOf: RealLogTests.cases.appending(path: name)))
    table.finish()
    return table
  }

  private static func fit(_ table: SampleTable) -> CalibrationOutcome {
    var params = FitParameters()
    params.demandsSteadyIron = true
    return MagnetometerFitter(params: params).fit(table.samples)
  }

  // Answers from the data's README: of the two sources that all of these are made from.
  @Test(arguments: [
    ("nine-columns-no-header.csv", "7,8,9", Vector3(14.81, 38.95, -5.93), 1_000),
    ("motioncal-raw.txt", "7,8,9", Vector3(14.81, 38.95, -5.93), 1_000),
    ("sensorlog-ios.csv", "8,9,10", Vector3(61.5, -52.8, 409.1), 1_402),
    ("pypilot-watch.txt", "1,2,3", Vector3(61.5, -52.8, 409.1), 1_402),
    ("esphome-log.txt", "1,2,3", Vector3(61.5, -52.8, 409.1), 1_402),
    ("json-lines.txt", "1,2,3", Vector3(61.5, -52.8, 409.1), 1_402),
  ])
  func found(name: String, columns: String, hardIron: Vector3, count: Int) throws {
    let table = try Self.read(name)
    #expect(table.columns.description == columns && table.problem == nil)
    #expect(table.samples.count == count)
    let outcome = Self.fit(table)
    let fit = try #require(outcome.fit)
    #expect(outcome.isAccepted && outcome.change == nil, "\(outcome.refusal ?? "")")
    let off = fit.hardIron - hardIron
    #expect(max(abs(off.x), abs(off.y), abs(off.z)) < 1, "\(fit.hardIron)")
    #expect(table.gravity(of: outcome) == nil)
  }

  @Test(arguments: [
    ("iron-changed-halfway.txt", "2,3,4", HardIronChangeKind.step),
    ("motor-half-duty.csv", "1,2,3", .states), ("drift.csv", "1,2,3", .drift),
  ])
  func changed(name: String, columns: String, kind: HardIronChangeKind) throws {
    let table = try Self.read(name)
    #expect(table.columns.description == columns)
    let outcome = Self.fit(table)
    #expect(!outcome.isAccepted && outcome.change?.kind == kind)
    #expect((outcome.change?.degrees ?? 0) > 9)
  }

  @Test func eachHalfOfChangedIronIsGood() throws {
    let samples = try Self.read("iron-changed-halfway.txt").samples
    for half in [samples.prefix(samples.count / 2), samples.suffix(samples.count / 2)] {
      let outcome = MagnetometerFitter().fit(Array(half))
      #expect(outcome.isAccepted, "\(outcome.refusal ?? "")")
    }
  }

  @Test func axesMayDifferByMoreThanTwo() throws {
    let outcome = Self.fit(try Self.read("axes-2.2-to-1.csv"))
    #expect(outcome.isAccepted, "\(outcome.refusal ?? "")")
    #expect(outcome.fit?.quality.coverage == 1)
    #expect(abs((outcome.fit?.quality.residualPercent ?? 0) - 1.5) < 0.1)
  }

  @Test func restIsThinned() throws {
    let outcome = Self.fit(try Self.read("sphere-then-rest.csv"))
    let fit = try #require(outcome.fit)
    #expect(outcome.isAccepted, "\(outcome.refusal ?? "")")
    #expect((fit.hardIron - Vector3(10, -5, 3)).length < 0.5, "\(fit.hardIron)")
  }

  @Test func ofTooFewTheColumnsAreKnown() throws {
    let table = try Self.read("motioncal-no-imu.txt")
    #expect(table.columns.description == "7,8,9" && table.unit == .microtesla)
    #expect(table.samples.first?.field == Vector3(-1.8, 3.3, -21.7))
    #expect(Self.fit(table).refusal?.hasPrefix("5 samples are too few") == true)
  }
}
