import BoardTestSupport
import CalibrationCore
import Foundation
import Geomagnetism
import LinearAlgebra
import SensorHub
import SensorTypes
import SimulatedDevices
import Testing

@testable import Lodestone

/// What outlives a run, and what another process changes during one.
struct StateTests {
  private func headings(_ observations: [Observation]) -> [HeadingEstimate] {
    observations.compactMap { if case .heading(let heading) = $0 { heading } else { nil } }
  }

  private func diagnostics(_ observations: [Observation]) -> [(text: String, at: Timestamp)] {
    observations.compactMap {
      if case .diagnostic(let text, let time) = $0 { (text, time) } else { nil }
    }
  }

  private func degrees(_ radians: Double) -> Double { radians * 180 / .pi }

  private func errors(_ headings: [HeadingEstimate], _ board: VirtualBoard) -> [Double] {
    headings.map { heading in
      let truth = board.simulation.truth(at: heading.time).magneticHeading
      return (degrees(heading.magneticHeading) - truth).remainder(dividingBy: 360)
    }
  }

  private func record(
    _ board: VirtualBoard, offset: Vector3, covariance: Double = 0.01
  ) throws -> CalibrationRecord {
    let sensor = board.board.sensors[0]
    let ideal = try #require(board.simulation.board.idealCalibration(ofChip: 0))
    return CalibrationRecord(
      chip: sensor.chip, busPosition: sensor.attachment.description, board: board.board.name,
      date: "2026-11-21T00:00:00Z", method: "ellipsoid", samples: 500, coverage: 0.9, residual: 0.3,
      field: 49, matrix: ideal.matrix, offset: ideal.offset + offset,
      offsetCovariance: Matrix3(diagonal: Vector3(repeating: covariance)))
  }

  @Test(
    "a record that another process saves is applied within two seconds, and heading does not jump",
    arguments: [Vector3(1, -1, 0.5), Vector3(-2, 1, 1)])
  func newCalibration(offset: Vector3) throws {
    let board = try VirtualBoard()
    _ = board.run(13)
    let wrong = try record(board, offset: offset, covariance: 2)
    try board.state.calibrations.save(wrong)
    let saved = board.clock.now()
    let first = board.run(12)
    let told = try #require(diagnostics(first).first { $0.text.contains("new calibration") })
    #expect(told.at.seconds(since: saved) <= 2)
    try board.state.calibrations.save(try record(board, offset: .zero))
    let second = board.run(20)
    #expect(diagnostics(second).contains { $0.text.contains("new calibration") })
    // 13 ms pass between two headings; what the truth moves by is taken off.
    let all = errors(headings(first), board) + errors(headings(second), board)
    let steps = zip(all, all.dropFirst()).map { abs($1 - $0) }
    print(
      "largest step between two headings, deg:", steps.max() ?? 0, "worst error:",
      all.map(abs).max() ?? 0)
    #expect((steps.max() ?? 9) < 0.5)
    #expect(headings(first + second).allSatisfy { $0.accuracy != nil })
    // The wrong record's own variance, and what is held back of each change, are in the bar.
    let inside = zip(headings(first) + headings(second), all).allSatisfy { heading, error in
      abs(error) <= degrees(heading.accuracy ?? 0)
    }
    #expect(inside)
    // Twenty seconds later little is left of it.
    #expect(abs(all.last ?? 99) < 2)
  }

  @Test("a record that goes leaves a heading that is not trusted; a damaged one changes nothing")
  func lostCalibration() throws {
    let board = try VirtualBoard()
    _ = board.run(5)
    let sensor = board.board.sensors[0]
    let file = board.state.calibrations.file(
      chip: sensor.chip, position: sensor.attachment.description)
    let good = try Data(contentsOf: file)
    try Data("{".utf8).write(to: file)
    let damaged = board.run(3)
    #expect(diagnostics(damaged).contains { $0.text.contains("the one before stays") })
    #expect(headings(damaged).allSatisfy { $0.accuracy != nil })
    try FileManager.default.removeItem(at: file)
    let gone = board.run(3)
    #expect(diagnostics(gone).contains { $0.text.contains("is not calibrated") })
    #expect(headings(gone).last?.accuracy == nil)
    #expect(headings(gone).last?.reason == .uncalibrated)
    try good.write(to: file)
    let back = board.run(5)
    #expect(headings(back).last?.accuracy != nil)
  }

  @Test("a run in which the calibration changed replays bit for bit, with the state folder gone")
  func replay() throws {
    let board = try VirtualBoard(records: true)
    var live = board.run(4)
    try board.state.calibrations.save(try record(board, offset: Vector3(1, 0, 0)))
    live += board.run(4)
    board.hub.stop()
    try FileManager.default.removeItem(at: board.state.folder)
    var replayed: [Observation] = []
    try Replay.run(Recording(board.recording), board: board.board) { replayed.append($0) }
    #expect(diagnostics(live).contains { $0.text.contains("new calibration") })
    #expect(replayed == live)
  }

  // The first fix of the simulated board comes after 8 s.
  private func beforeAndAfterFix(
    daysAgo: Double, clockIsSet: Bool = true
  ) throws -> (early: [HeadingEstimate], late: [HeadingEstimate], texts: [String]) {
    let start = 1_795_000_000.0
    let board = try VirtualBoard(clockIsSet: clockIsSet, utcStart: start) {
      try $0.save(
        LastPosition(
          latitude: 52.5, longitude: 13.4, altitude: 40, utc: start - daysAgo * 86_400))
    }
    let early = board.run(6)
    let late = board.run(10)
    return (headings(early), headings(late), diagnostics(early).map(\.text))
  }

  @Test(
    "a kept position gives true heading before the first fix, with an error that grows with its age"
  )
  func lastPosition() throws {
    let fresh = try beforeAndAfterFix(daysAgo: 0.1)
    let old = try beforeAndAfterFix(daysAgo: 10)
    let ancient = try beforeAndAfterFix(daysAgo: 60)
    func bar(_ headings: [HeadingEstimate]) throws -> Double {
      degrees(try #require(headings.last?.accuracy))
    }
    #expect(fresh.early.last?.trueHeading != nil && old.early.last?.trueHeading != nil)
    #expect(fresh.texts.contains { $0.contains("last position, 2 h old") })
    #expect(old.texts.contains { $0.contains("last position, 10 days old") })
    print(
      "bar with a position of 2 h, 10 days, and a fix, deg:", try bar(fresh.early),
      try bar(old.early), try bar(old.late))
    #expect(try bar(old.early) > bar(fresh.early) + 2)
    #expect(try bar(old.late) < bar(old.early))
    #expect(ancient.early.allSatisfy { $0.trueHeading == nil && $0.trueReason == .positionUnknown })
    #expect(ancient.late.last?.trueHeading != nil)
    #expect(ancient.early.last?.accuracy != nil)
  }

  @Test("without a date there is no true heading, and the reason; the first fix brings both")
  func clockUnset() throws {
    let run = try beforeAndAfterFix(daysAgo: 0.1, clockIsSet: false)
    #expect(!run.early.isEmpty)
    #expect(run.early.allSatisfy { $0.trueHeading == nil && $0.trueReason == .dateUnknown })
    #expect(run.late.last?.trueHeading != nil)
  }

  @Test("the position of a run is kept for the next one")
  func keeping() throws {
    let board = try VirtualBoard()
    _ = board.run(15)
    board.hub.stop()
    let kept = try #require(board.state.lastPosition)
    let truth = board.simulation.truth(at: board.clock.now())
    #expect(abs(kept.latitude - truth.latitude) < 0.001)
    #expect(abs(kept.longitude - truth.longitude) < 0.001)
    #expect(abs(kept.utc - truth.utc) < 15)
  }

  @Test("a newer model in the configuration folder is used; a damaged file is named and left")
  func magneticModel() throws {
    let folder = FileManager.default.temporaryDirectory
      .appending(path: "lodestone-cof-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: folder) }
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    // A field that is a dipole along the axis: declination zero everywhere.
    var text = "    2030.0            WMM-2030     11/13/2029\n"
    for degree in 1...12 {
      for order in 0...degree {
        text += "\(degree) \(order) \(degree == 1 && order == 0 ? -29000.0 : 0.0) 0.0 0.0 0.0\n"
      }
    }
    text += String(repeating: "9", count: 48) + "\n"
    try Data(text.utf8).write(to: folder.appending(path: "WMM.COF"))
    try Data("nonsense".utf8).write(to: folder.appending(path: "OLD.COF"))
    let (found, problems) = MagneticModelFile.newest(in: [folder])
    let model = try #require(found)
    #expect(model.model.name == "WMM-2030")
    #expect(
      problems.count == 1 && problems.allSatisfy { $0.contains("OLD.COF is not used: line 1") })

    func declination(utc: Double) throws -> Double? {
      let board = try VirtualBoard(model: (model.model, model.text), utcStart: utc)
      return headings(board.run(12)).last?.declination.map { degrees($0) }
    }
    // Before the new model's epoch the built-in one is right.
    let now = try #require(try declination(utc: 1_795_000_000))
    let later = try #require(try declination(utc: 1_910_000_000))
    #expect(now > 4 && now < 6)
    #expect(abs(later) < 0.01)
  }

  @Test(
    "a model that has ended is extrapolated for two years, and says so; then there is no true heading"
  )
  func extrapolation() throws {
    // July 2030 and July 2032.
    let board = try VirtualBoard(utcStart: 1_909_094_400)
    let observations = board.run(12)
    #expect(diagnostics(observations).contains { $0.text.contains("extrapolated") })
    #expect(headings(observations).last?.trueHeading != nil)
    let late = try VirtualBoard(utcStart: 1_972_252_800)
    let last = headings(late.run(12)).last
    #expect(last?.trueHeading == nil)
    guard case .modelInvalid = last?.trueReason else {
      Issue.record("\(String(describing: last?.trueReason))")
      return
    }
  }
}
