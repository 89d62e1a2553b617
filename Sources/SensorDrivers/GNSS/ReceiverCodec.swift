// The seam between a receiver's talk and its languages: what bytes turn into, and what is sent.

import SensorTypes

/// What came out of a receiver's bytes.
enum ReceiverEvent: Sendable, Hashable {
  /// A whole, valid message that is not one of the others.
  case message
  /// An epoch, from NAV-PVT or put together from NMEA sentences.
  case epoch(GNSSFix, isPVT: Bool)
  /// Which way the antennas, or an instrument on the line, point.
  case heading(ReceiverHeading)
  /// All satellites of a round were said.
  case sky([GNSSSatellite])
  /// The answer to a command, by the command's number; `nil` while it is under way.
  case answer(to: Int, isAccepted: Bool?)
  /// The receiver has said who it is, what commands it takes, and what its shortest time between epochs is, seconds; `nil` where only
  /// its commands limit that.
  case identity(SensorIdentity, ReceiverSetup.Dialect, shortestInterval: Double? = nil)
  /// It has just started, and has its own settings.
  case restarted
  /// It reports something new of its antenna, of the signals or of the next leap second.
  case condition(ReceiverCondition)
  /// Other sources of positions are on the wire: the talkers of those that are not read now.
  case ignored(talkers: [String])
}

/// The port of the receiver that we hang on, by which its settings are named.
enum ReceiverPort: Sendable, Hashable {
  /// I2C.
  case ddc
  /// The first serial port.
  case uart
}

/// What is asked of a receiver.
struct ReceiverSettings: Sendable, Hashable {
  /// Seconds from one epoch to the next with which receivers are sold.
  static let usualInterval = 1.0

  /// Seconds from one epoch to the next.
  var interval: Double
  /// How the carrier moves; `nil` leaves it as it is.
  var model: DynamicModel?
  /// Whether the line carries a hundred bytes besides, now and then.
  var hasSomeRoom: Bool { hasRoom || interval >= Self.usualInterval }
  /// Whether the line carries the satellites as well: at 9600 baud they would hold the next epochs up.
  var hasRoom: Bool
  /// The place that the receiver holds as a base station, or `nil` for a receiver that is not one.
  var base: BasePlace? = nil
}

/// What is sent to set one thing.
struct ReceiverRequest: Sendable, Hashable {
  var bytes: [UInt8]
  /// The number that its answer carries; `nil` for one that is not answered.
  var answer: Int?
}

/// Something that reads and writes the languages of receivers.
protocol ReceiverCodec {
  /// How many bytes `append` takes now.
  var room: Int { get }

  /// What the board's own clock shows, seconds since 1970-01-01: no fix is of much later.
  mutating func setBoardTime(_ seconds: Double)

  /// Takes bytes that arrived at `time`, at most `room`.
  mutating func append(_ bytes: UnsafeRawBufferPointer, at time: Timestamp)

  /// The next thing said, or `nil` until more bytes come or what is under way has taken too long at `now`.
  mutating func next(at now: Timestamp) -> ReceiverEvent?

  /// What sets `item`; more than one where the dialect needs it, none for what it has not.
  func requests(
    setting item: ReceiverSetting, in dialect: ReceiverSetup.Dialect, port: ReceiverPort,
    settings: ReceiverSettings
  ) -> [ReceiverRequest]

  /// Takes note of what was sent to set something.
  mutating func sent(_ request: ReceiverRequest)

  /// Forgets a survey that was reported: the next report is news, even if it says the same.
  mutating func forgetSurvey()

  /// The questions who is there, of u-blox receivers alone or of every family.
  func questions(ofAll: Bool) -> [[UInt8]]
}

extension ReceiverCodec {
  mutating func forgetSurvey() {}
}

extension ReceiverCodec {
  /// Its answers name all that they answer.
  mutating func sent(_ request: ReceiverRequest) {}
}
