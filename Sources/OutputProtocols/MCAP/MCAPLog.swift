// Observations of a board as a log for robots: an MCAP file with messages of ROS 2 and of Foxglove.

package import SensorTypes

/// Writes observations to an MCAP file, as the messages that `RobotMessages` makes of them.
package struct MCAPLog: Sendable {
  private var messages: RobotMessages
  private var writer: MCAPWriter
  private var channels: [RobotMessages.Topic: UInt16] = [:]

  /// Begins a file.
  ///
  /// - Parameters:
  ///   - program: The program that writes it, with its version.
  ///   - audience: Robots, which get the profile `ros2` that allows nothing but its own messages, or Foxglove.
  ///   - showsPosition: Without it there is no position, and no orientation, which would tell of the declination.
  ///   - prefix: What stands before the topics: `/` or a namespace such as `/boat/`.
  package init(
    program: String, audience: RobotMessages.Audience = .robots, showsPosition: Bool,
    prefix: String = "/", chunkSize: Int = 256 << 10
  ) {
    messages = RobotMessages(audience, showsPosition: showsPosition)
    writer = MCAPWriter(
      profile: audience == .robots ? "ros2" : "", library: program, chunkSize: chunkSize)
    for topic in messages.topics {
      let description = messages.description(of: topic)
      let schema = writer.addSchema(
        name: description.schemaName, encoding: description.schemaEncoding,
        text: description.schema)
      guard let schema else { continue }
      channels[topic] = writer.addChannel(
        topic: prefix + topic.rawValue, encoding: description.encoding, schema: schema)
    }
  }

  /// Whether the file is as large as its index may become: finish it, and begin another.
  package var isFull: Bool { writer.isFull }

  /// Messages that did not fit.
  package var refused: UInt64 { writer.refused }

  /// Bytes that a cut would lose.
  package var openBytes: Int { writer.openBytes }

  /// Returns the bytes to append to the file.
  package mutating func takeOutput() -> [UInt8] { writer.takeOutput() }

  /// Makes what was written safe from a cut.
  package mutating func flush() { writer.endChunk() }

  /// Ends the file with its index.
  package mutating func finish() { writer.finish() }

  /// Writes an observation.
  ///
  /// - Parameter clock: The system's clock at a moment. While it is not set, messages have a stamp of zero, ROS's word for a time that is
  ///   not known, and a log time since the boot.
  package mutating func take(
    _ observation: Observation, clock: (Timestamp) -> ClockReading?
  ) {
    for message in messages.take(observation, clock: clock) {
      guard let channel = channels[message.topic] else { continue }
      writer.write(
        message.data, channel: channel, logTime: message.logTime, publishTime: message.logTime)
    }
  }
}
