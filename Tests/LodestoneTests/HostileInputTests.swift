import BoardFile
import BoardTestSupport
import CalibrationCore
import Foundation
import GNSSProtocol
import Geomagnetism
import Recording
import SensorHub
import SensorTypes
import SimulatedDevices
import Testing

/// Everything that comes from outside, damaged by chance: an error or a value, never a crash, and what
/// follows undamaged is understood.
struct HostileInputTests {
  /// Some bytes changed, cut out, doubled or put in.
  private static func damaged(_ bytes: [UInt8], _ random: inout SeededGenerator) -> [UInt8] {
    var bytes = bytes
    for _ in 0..<Int.random(in: 1...8, using: &random) where !bytes.isEmpty {
      let index = Int.random(in: 0..<bytes.count, using: &random)
      switch Int.random(in: 0..<6, using: &random) {
      case 0: bytes[index] = UInt8.random(in: 0...255, using: &random)
      case 1: bytes[index] ^= 1 << UInt8.random(in: 0..<8, using: &random)
      case 2:
        bytes.removeSubrange(
          index..<min(bytes.count, index + Int.random(in: 1...20, using: &random)))
      case 3:
        bytes.insert(
          contentsOf: bytes[
            index..<min(bytes.count, index + Int.random(in: 1...40, using: &random))], at: index)
      case 4: bytes.insert(contentsOf: Array("9999999999999999999".utf8), at: index)
      default:
        bytes.insert(
          contentsOf: (0..<10).map { _ in UInt8.random(in: 0...255, using: &random) }, at: index)
      }
    }
    return bytes
  }

  @Test(
    "a receiver's bytes: no fix out of range, and the next whole epoch is understood",
    arguments: [ReceiverTwinModel.nmea, .ubloxM9])
  func receiver(kind: ReceiverTwinModel) throws {
    var random = SeededGenerator(seed: 5)
    let clock = VirtualClock()
    let board = try VirtualBoard(demand: Demand())
    var twin = ReceiverTwin(
      kind, link: .uart, source: board.simulation.world, seed: 3, baudRate: 38_400)
    twin.powerOn(at: clock.now())
    var stream: [UInt8] = []
    for step in 1...400 {
      let time = clock.now().advanced(bySeconds: Double(step) / 10)
      twin.advance(to: time)
      while let byte = twin.takeByte(at: time) { stream.append(byte) }
    }
    try #require(stream.count > 5_000)
    for _ in 0..<(Effort.isLong ? 5_000 : 20) {
      var decoder = GNSSDecoder()
      let noise = Self.damaged(stream, &random)
      var index = 0
      func feed(_ bytes: [UInt8]) -> [GNSSFix] {
        var fixes: [GNSSFix] = []
        index = 0
        while index < bytes.count {
          let end = min(
            bytes.count, index + min(decoder.room, Int.random(in: 1...700, using: &random)))
          bytes[index..<end].withUnsafeBytes {
            decoder.append($0, at: Timestamp(nanoseconds: Int64(index)))
          }
          index = end
          while let event = decoder.next() {
            if case .epoch(let fix, isPVT: _) = event { fixes.append(fix) }
          }
        }
        return fixes
      }
      for fix in feed(noise) {
        let isSound =
          abs(fix.latitude ?? 0) <= 90 && abs(fix.longitude ?? 0) <= 180
          && (0...360).contains(fix.course ?? 0) && (fix.utc ?? 0).isFinite
        if !isSound { Issue.record("cannot be: \(fix)") }
      }
      #expect(!feed(stream).isEmpty)
    }
  }

  @Test("board files, recordings, calibration records, coefficient files: an error or a value")
  func files() throws {
    var random = SeededGenerator(seed: 6)
    let boards = try FileManager.default.contentsOfDirectory(
      at: VirtualBoard.root.appending(path: "Boards"), includingPropertiesForKeys: nil
    ).map { try Data(contentsOf: $0) }
    let record = try Data(
      contentsOf: VirtualBoard.root.appending(path: "Calibration/example.json"))
    let run = try VirtualBoard(records: true)
    _ = run.run(0.3)
    let recording = run.recording
    var coefficients = "2030.0 WMM-2030 11/13/2029\n"
    for degree in 1...12 {
      for order in 0...degree { coefficients += "\(degree) \(order) -1.5 2.0 0.1 -0.1\n" }
    }
    var (refused, taken) = (0, 0)
    func attempt(_ body: () throws -> Void) {
      do {
        try body()
        taken += 1
      } catch { refused += 1 }
    }
    for step in 0..<(Effort.isLong ? 20_000 : 200) {
      let board = Self.damaged(Array(boards[step % boards.count]), &random)
      attempt { _ = try BoardFile.parse(String(decoding: board, as: UTF8.self), file: "x") }
      attempt { _ = try CalibrationRecord(json: Self.damaged(Array(record), &random)) }
      let text = Self.damaged(Array(coefficients.utf8), &random)
      attempt { _ = try MagneticModel(coefficientFile: String(decoding: text, as: UTF8.self)) }
      attempt {
        let damaged = try Recording(Self.damaged(recording, &random))
        let board = try BoardFile.parse(damaged.boardText, file: "x")
        try Replay.run(damaged, board: board) { _ in }
      }
    }
    print("damaged files: \(refused) refused, \(taken) taken")
    #expect(refused > 100 && taken > 0)
  }
}
