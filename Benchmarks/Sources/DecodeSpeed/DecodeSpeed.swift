// The command `decode-speed`: what lexing and decoding a receiver's bytes costs, nothing printed of them.

import ArgumentParser
import Foundation
import GNSSProtocol
import SensorTypes

/// The command `decode-speed`.
@main
struct DecodeSpeed: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "decode-speed",
    abstract: "Seconds that lexing and decoding a log of NMEA and UBX take on one core.",
    discussion: "The log is in memory before the clock starts. The last line is JSON.")

  @Argument(help: "A log.")
  var file: String
  @Option(help: "Runs over the log; the fastest one is what is said first.")
  var repetitions = 1

  func validate() throws {
    guard (1...1000).contains(repetitions) else {
      throw ValidationError("--repetitions is from 1 to 1000")
    }
  }

  func run() throws {
    let bytes = try [UInt8](Data(contentsOf: URL(fileURLWithPath: file)))
    var times: [Double] = []
    // What was decoded must have a use, or none of it need be done.
    var (epochs, packets, sum) = (0, UInt64(0), 0.0)
    for _ in 0..<repetitions {
      var decoder = GNSSDecoder(endsByRule: false)
      epochs = 0
      let began = Self.processorTime
      bytes.withUnsafeBytes { bytes in
        var rest = bytes[...]
        while !rest.isEmpty {
          let piece = rest.prefix(max(1, decoder.room))
          decoder.append(
            UnsafeRawBufferPointer(rebasing: piece), at: Timestamp(nanoseconds: 0))
          while let event = decoder.nextReport() {
            guard case .epoch(let fix, _) = event else { continue }
            epochs += 1
            sum += fix.latitude ?? 0
          }
          rest = rest.dropFirst(piece.count)
        }
      }
      times.append(Self.processorTime - began)
      packets = decoder.counters.packets
    }
    times.sort()
    let (best, median) = (times[0], times[times.count / 2])
    print("\(bytes.count) bytes, \(packets) packets, \(epochs) epochs, checksum \(sum)")
    print(#"{"bytes":\#(bytes.count),"epochs":\#(epochs),"best":\#(best),"median":\#(median)}"#)
  }

  /// Seconds that this process has had a processor: others on the machine do not count.
  private static var processorTime: Double {
    var time = timespec()
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) * 1e-9
  }
}
