// The seam between a receiver's talk and its languages: what bytes turn into, and what is sent.

import SensorTypes

/// What came out of a receiver's bytes.
enum ReceiverEvent: Sendable, Hashable {
  /// A whole, valid message that is not one of the others.
  case message
  /// An epoch, from NAV-PVT or put together from NMEA sentences.
  case epoch(GNSSFix, isPVT: Bool)
  /// The answer to a configuration message.
  case answer(accepted: Bool)
}

/// The port of the receiver that we hang on, by which its settings are named.
enum ReceiverPort: Sendable, Hashable {
  /// I2C.
  case ddc
  /// The first serial port.
  case uart
}

/// Something that reads and writes the languages of receivers.
protocol ReceiverCodec {
  /// How many bytes `append` takes now.
  var room: Int { get }

  /// Takes bytes that arrived at `time`, at most `room`.
  mutating func append(_ bytes: UnsafeRawBufferPointer, at time: Timestamp)

  /// The next thing said, or `nil` until more bytes come or what is under way has taken too long at `now`.
  mutating func next(at now: Timestamp) -> ReceiverEvent?

  /// The messages that set `item`; more than one where the dialect needs it.
  func messages(
    setting item: ReceiverSetup.Item, in dialect: ReceiverSetup.Dialect, port: ReceiverPort,
    rate: Double
  ) -> [[UInt8]]
}
