// The control line of a rig: a tty (or a pipe that behaves as one), one request and one answer a line.

import LinuxIO
import SensorBus
import SensorDrivers
import Synchronization
import TextForms
import Threads

/// A rig that is spoken to over a serial line.
///
/// Requests: `hello`, `fault CHIP KIND SECONDS`, `show CHIP QUANTITY NUMBERS…`, `walk CHIP`, `stood`. Answers: `ok`,
/// `rig NAME`, `stood SECONDS`, `error TEXT`. `Tests/Hardware/README.md` has them all.
package final class RigLine: Operator {
  /// Longest wait for an answer, seconds.
  private static let patience = 3.0
  /// Longest answer, bytes.
  private static let limit = 4096

  /// Who it is, as the rig says itself.
  package let name: String
  package let isPerson = false
  // One request at a time; the stream is confined to this lock.
  private let stream: Mutex<Stream>

  private struct Stream: @unchecked Sendable {
    let port: any ByteStream
  }

  /// Opens the line and asks who is there.
  package init(path: String) throws {
    let port = try LinuxBusProvider().byteStream(port: path, baudRate: 115_200)
    let stream = Stream(port: port)
    try Self.flush(stream)
    let answer = try Self.exchange(stream, "hello")
    guard answer.hasPrefix("rig ") else {
      throw OperatorError("\(path): this is no rig's control line, it answers '\(answer)'")
    }
    name = answer
    self.stream = Mutex(stream)
  }

  /// A rig has no hands.
  package func objection(to action: ScenarioAction) -> String? {
    action.needsHands ? "a rig has no hands: run with --interactive" : nil
  }

  /// Lets something go wrong with a chip.
  package func inject(_ fault: RigFault, on chip: ChipTarget, seconds: Double) throws {
    var request = "fault \(chip.rigName) \(fault.rawValue) \(seconds)"
    switch fault {
    case .shortRead: request += " 1"
    case .bitFlip:
      let place = try Self.configurationBit(of: chip.chip)
      request += " \(hexadecimal(place.register)) \(hexadecimal(place.mask))"
    case .slow: request += " 20"
    default: break
    }
    try command(request)
  }

  /// Lets a chip see something.
  package func show(_ shown: Shown, on chip: ChipTarget) throws {
    try command("show \(chip.rigName) \(shown)")
  }

  /// Lets a chip see the rig's own world again.
  package func endShow(on chip: ChipTarget) throws { try command("walk \(chip.rigName)") }

  /// A rig has no hands.
  package func ask(_ instruction: String) throws {
    throw OperatorError("this needs a person: run with --interactive (\(instruction))")
  }

  /// What the rig says of itself; a rig that knows no such request did not stand still.
  package func stoodStill() -> Double {
    let answer = try? stream.withLock { try Self.exchange($0, "stood") }
    let words = (answer ?? "").split(separator: " ")
    guard words.count == 2, words[0] == "stood", let seconds = Double(words[1]), seconds.isFinite
    else { return 0 }
    return max(0, seconds)
  }

  /// Where a flipped bit is noticed: the first register that the chip's driver holds against what it has written, and the
  /// lowest of the bits that it compares.
  static func configurationBit(of chip: String) throws -> (register: UInt8, mask: UInt8) {
    guard let setting = ChipCatalog.chip(named: chip)?.chip?(1).registerImage.first else {
      throw OperatorError(
        "\(chip) has no configuration that can be read back: no bit of it can flip")
    }
    return (setting.register, setting.mask & (~setting.mask &+ 1))
  }

  private func command(_ request: String) throws {
    let answer = try stream.withLock { try Self.exchange($0, request) }
    guard answer == "ok" else { throw OperatorError("the rig answers '\(answer)' to '\(request)'") }
  }

  // What an earlier program left half said is ended, and what was answered to it is not ours.
  private static func flush(_ stream: Stream) throws {
    try Array("\n".utf8).withUnsafeBytes { try stream.port.write($0) }
    var buffer = [UInt8](repeating: 0, count: 256)
    let deadline = ContinuousClock.now.advanced(by: .seconds(0.2))
    while ContinuousClock.now < deadline {
      _ = try buffer.withUnsafeMutableBytes { try stream.port.read(into: $0) }
      SystemThread.sleep(seconds: 0.01)
    }
  }

  private static func exchange(_ stream: Stream, _ request: String) throws -> String {
    try Array((request + "\n").utf8).withUnsafeBytes { try stream.port.write($0) }
    var answer: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 256)
    let deadline = ContinuousClock.now.advanced(by: .seconds(patience))
    while ContinuousClock.now < deadline {
      let count = try buffer.withUnsafeMutableBytes { try stream.port.read(into: $0) }
      for byte in buffer.prefix(count) {
        if byte == 10 {
          let line = String(decoding: answer, as: UTF8.self)
            .trimmingWhitespace()
          answer = []
          // A tty that is not raw on the other side echoes.
          guard !line.isEmpty, line != request else { continue }
          return line
        }
        guard answer.count < limit else { throw OperatorError("the rig's answer does not end") }
        answer.append(byte)
      }
      if count == 0 { SystemThread.sleep(seconds: 0.002) }
    }
    throw OperatorError("the rig does not answer '\(request)' within \(patience) s")
  }
}
