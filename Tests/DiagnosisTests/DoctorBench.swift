// Simulated chips that the doctor looks at.

import BoardFile
@testable import Diagnosis
import Foundation
import SimulatedDevices
import Testing

/// Simulated chips on a bus. A file stands for the bus's node, which the doctor wants to be there.
final class DoctorBench {
  let clock = VirtualClock()
  let provider: SimulatedBusProvider
  private let node: URL

  /// The bus, as a board file names it.
  var bus: String { node.path }

  /// - Parameter chips: What is on the bus of that name.
  init(_ chips: (_ bus: String) -> [SimulatedChip]) throws {
    node = FileManager.default.temporaryDirectory
      .appending(path: "lodestone-node-\(UUID().uuidString)")
    try Data().write(to: node)
    provider = SimulatedBusProvider(SimulatedBoard(chips: chips(node.path)), clock: clock)
  }

  deinit { try? FileManager.default.removeItem(at: node) }

  var doctor: Doctor {
    Doctor(
      provider: provider, state: { [node] _ in node }, modelFolders: [],
      wait: { [clock] seconds in clock.advance(bySeconds: seconds) })
  }

  /// What is found of the first chip of a board file.
  func findings(_ text: String) throws -> [Doctor.Finding] {
    doctor.wiring(try BoardFile.parse(text, file: "desk.yaml")).filter { $0.sensor == 0 }
  }

  /// What is found of who answers where the board file has its first chip.
  func answer(_ text: String) throws -> Doctor.Finding {
    let findings = try findings(text)
    return try #require(findings.first { $0.subject.hasSuffix(" answers") })
  }
}
