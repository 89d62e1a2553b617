// What a denial leaves of a simulated board's life, and what the doctor says of who may read what is kept.

import BoardTestSupport
@testable import Diagnosis
import Foundation
import SensorTypes
import SimulatedDevices
import Testing
import StateStore
import Glibc

struct PositionAccessTests {
  /// Everything that a minute of the simulated board publishes to a subscriber with that access.
  private func minute(_ access: PositionAccess) throws -> [Observation] {
    var demand = Demand.everything
    demand.satellites = true
    demand.motion = MotionDemand(samples: true, attitude: true, field: true, interval: 1)
    let board = try VirtualBoard(demand: demand, access: access)
    return board.run(60)
  }

  private struct Count: Equatable {
    var places = 0
    var losses: [NoData] = []
    var skies = 0
    var trueHeadings = 0
    var headings = 0
    var declinations = 0
    var models = 0
    var heights = 0
    var altitudes = 0

    init(_ observations: [Observation]) {
      for observation in observations {
        switch observation {
        case .location: places += 1
        case .locationUnavailable(let reason, _): losses.append(reason)
        case .sky: skies += 1
        case .heading(let heading):
          headings += 1
          if heading.trueHeading != nil { trueHeadings += 1 }
          if heading.declination != nil { declinations += 1 }
          if heading.fieldCheck?.origin == .model { models += 1 }
        case .motion(let motion): if motion.attitude?.declination != nil { declinations += 1 }
        case .absoluteAltitude: heights += 1
        case .altitude: altitudes += 1
        default: break
        }
      }
    }
  }

  @Test(
    "a program without access gets headings and pressure of a whole board, and nothing of its place"
  )
  func denied() throws {
    let full = Count(try minute(.full))
    // What there is to withhold is there.
    #expect(full.places > 10 && full.skies > 1 && full.heights > 10)
    #expect(full.trueHeadings > 100 && full.declinations > full.trueHeadings && full.models > 100)
    let denied = Count(try minute(.withheld("no")))
    var expected = full
    expected.losses = [.notAuthorized("no")]
    (expected.places, expected.skies, expected.heights) = (0, 0, 0)
    (expected.trueHeadings, expected.declinations, expected.models) = (0, 0, 0)
    #expect(denied == expected)
    let reduced = try minute(.reduced)
    #expect(Count(reduced).places == full.places && Count(reduced).skies == 0)
    let cells = Set(
      reduced.compactMap { observation in
        if case .location(let location) = observation { location.fix.latitude } else { nil }
      })
    #expect(cells.count == 1)
  }

  private let folder = FileManager.default.temporaryDirectory
    .appending(path: "lodestone-access-\(UUID().uuidString)")

  private func findings(_ state: URL) -> [Doctor.Finding] {
    Doctor(
      provider: SimulatedBusProvider(SimulatedBoard(chips: []), clock: VirtualClock()),
      state: { _ in state }, modelFolders: []
    ).folders(of: nil)
  }

  @Test(
    "the doctor says which of what is kept other users can read, of a simulated board too, and changes nothing"
  )
  func doctor() throws {
    defer { try? FileManager.default.removeItem(at: folder) }
    for state in [folder, folder.appending(path: "simulated/Board")] {
      try StateStore(folder: state).save(
        LastPosition(latitude: 52, longitude: 13, altitude: 40, utc: 1_795_000_000))
      #expect(findings(state).map(\.level) == [.good])
    }
    func open(_ path: String, _ mode: Int) throws {
      try FileManager.default.setAttributes(
        [.posixPermissions: mode], ofItemAtPath: folder.appending(path: path).path)
    }
    try open("position.json", 0o644)
    for state in [folder, folder.appending(path: "simulated/Board")] {
      let note = try #require(findings(state).last)
      #expect(note.level == .note && note.text.contains("other users can read 1 of the files"))
      #expect(note.mend == "chmod -R go= \(folder.path)")
    }
    try Data().write(to: folder.appending(path: "diary.txt"))
    try open("", 0o755)
    let shared = try #require(findings(folder).dropFirst().first)
    #expect(shared.level == .note && shared.text.contains("diary.txt"))
    #expect(
      (try FileManager.default.attributesOfItem(atPath: folder.path)[.posixPermissions] as? Int)
        == 0o755)
    guard geteuid() == 0 else { return }
    chown(folder.appending(path: "position.json").path, 65_534, 65_534)
    let foreign = findings(folder).filter { $0.level == .problem }
    #expect(foreign.count == 1 && foreign[0].text.contains("belongs to another user"))
  }
}
