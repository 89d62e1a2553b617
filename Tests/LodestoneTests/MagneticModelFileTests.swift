import BoardTestSupport
import Foundation
import Geomagnetism
import SensorTypes
import SimulatedDevices
import Testing

@testable import Lodestone

/// Which magnetic model gives the declination, and until when.
struct MagneticModelFileTests {
  private func degrees(_ radians: Double) -> Double { radians * 180 / .pi }

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

    // Files that cannot be read are reported in a sentence each, and a pipe does not block.
    try FileManager.default.createDirectory(
      at: folder.appending(path: "A.COF"), withIntermediateDirectories: false)
    #expect(mkfifo(folder.appending(path: "B.COF").path, 0o600) == 0)
    try Data([0xFF, 0xFE]).write(to: folder.appending(path: "C.COF"))
    try FileManager.default.createSymbolicLink(
      atPath: folder.appending(path: "D.COF").path, withDestinationPath: "nowhere")
    let reasons = [
      "A.COF: it is not a regular file", "B.COF: it is not a regular file",
      "C.COF: it is not UTF-8 text", "D.COF: no such file or directory",
    ]
    #expect(
      MagneticModelFile.newest(in: [folder]).problems.prefix(4)
        == reasons.map { "the magnetic model is not used: \(folder.path)/\($0)" }[...])

    func declination(utc: Double) throws -> Double? {
      let board = try VirtualBoard(model: (model.model, model.text), utcStart: utc)
      return board.run(12).headings.last?.declination.map { degrees($0) }
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
    #expect(observations.diagnostics.contains { $0.text.contains("extrapolated") })
    #expect(observations.headings.last?.trueHeading != nil)
    let late = try VirtualBoard(utcStart: 1_972_252_800)
    let last = late.run(12).headings.last
    #expect(last?.trueHeading == nil)
    guard case .modelInvalid = last?.trueReason else {
      Issue.record("\(String(describing: last?.trueReason))")
      return
    }
  }
}
