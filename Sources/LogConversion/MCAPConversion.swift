// Recordings and tracks as MCAP files.

import GNSSProtocol
package import OutputProtocols
package import SensorTypes
import TerminalUI

/// How MCAP files are written to standard output.
enum MCAPConversion {
  /// Larger than that of a live recording, so that an index has room for many hours.
  static let chunkSize = 1 << 20

  /// Throws if standard output is a terminal, which bytes would put into disorder.
  static func refuseTerminal() throws {
    guard Terminal.isInteractive else { return }
    throw CommandError(
      "an MCAP file is not text: send it into a file with > FILE", kind: .usage)
  }
}

extension RecordedRun {
  /// Replays all runs into an MCAP file on standard output.
  ///
  /// - Parameters:
  ///   - smooth: Whether headings are given in the light of the whole run.
  ///   - program: The program that writes the file, with its version.
  package func writeMCAP(
    for audience: RobotMessages.Audience, smooth: Bool, by program: String
  ) throws {
    try MCAPConversion.refuseTerminal()
    var log = MCAPLog(
      program: program, audience: audience, showsPosition: true,
      chunkSize: MCAPConversion.chunkSize)
    var isRead = true
    var clock: (Timestamp) -> ClockReading? = { _ in nil }
    // What came out is whole also behind a run that cannot be followed to its end.
    var failure: (any Error)?
    do {
      try replay(
        smooth: smooth, isWanted: { isRead },
        clock: { reading, time in
          clock = { moment in
            ClockReading(
              seconds: reading.seconds + moment.seconds(since: time), isSet: reading.isSet)
          }
        },
        handler: { observation in
          log.take(observation, clock: clock)
          let bytes = log.takeOutput()
          if !bytes.isEmpty { isRead = Terminal.write(bytes) }
        })
    } catch {
      failure = error
    }
    log.finish()
    if isRead { Terminal.write(log.takeOutput()) }
    if let failure { throw failure }
    guard log.refused == 0 else {
      throw CommandError("\(log.refused) messages have no room in one MCAP file", kind: .data)
    }
  }
}

/// The positions of a track as an MCAP file: each as ROS 2's and as Foxglove's message.
package struct MCAPTrackWriter: LogWriter {
  private var log: MCAPLog

  /// - Parameter program: The program that writes the file, with its version.
  package init(by program: String) {
    log = MCAPLog(
      program: program, audience: .foxglove, showsPosition: true,
      chunkSize: MCAPConversion.chunkSize)
  }

  /// Makes one whose text goes to standard output. Throws if that is a terminal.
  package static func forStandardOutput(by program: String) throws -> MCAPTrackWriter {
    try MCAPConversion.refuseTerminal()
    return MCAPTrackWriter(by: program)
  }

  package mutating func append(_ fix: GNSSFix, to text: inout [UInt8]) {
    // A log has no clock but the receiver's.
    let clock = { (_: Timestamp) in fix.utc.map { ClockReading(seconds: $0, isSet: true) } }
    log.take(.location(LocationEstimate(fix: fix, isSimulated: false)), clock: clock)
    text += log.takeOutput()
  }

  package mutating func end(_ text: inout [UInt8]) {
    log.finish()
    text += log.takeOutput()
  }
}
