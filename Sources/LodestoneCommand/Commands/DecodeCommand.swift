import ArgumentParser
import Foundation
import GNSSProtocol
import SensorTypes

/// `lodestone decode FILE`: what a receiver said, epoch by epoch.
struct DecodeCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "decode",
    abstract: "A receiver's bytes (NMEA, UBX, mixed) to JSON lines, one an epoch.",
    discussion: "It prints what the receiver says; whether that is good enough is not judged here.")

  @Argument(help: "A file, or - for standard input.", completion: .file())
  var file: String

  func run() throws {
    let input = try InputFile(file)
    // Nobody waits here for an epoch: each is as whole as the bytes make it.
    var decoder = GNSSDecoder(endsByRule: false)
    var lines = ObservationLines { _ in nil }
    func drain() -> Bool {
      var text = ""
      while let event = decoder.next() {
        if case .epoch(let fix, _) = event { text += lines.line(fix: fix) + "\n" }
      }
      return Terminal.write(text)
    }
    var size = 0
    let zero = Timestamp(nanoseconds: 0)
    // Never more than the decoder's buffer takes whole: beside a message that is under way it always has room.
    while let data = try input.read(min(4_096, decoder.room)) {
      size += data.count
      data.withUnsafeBytes { decoder.append($0, at: zero) }
      guard drain() else { return }
    }
    decoder.finish()
    _ = drain()
    if decoder.counters.packets == 0 {
      Terminal.warn("lodestone: no NMEA or UBX message in \(size) bytes")
      throw ExitCode.failure
    }
  }
}
