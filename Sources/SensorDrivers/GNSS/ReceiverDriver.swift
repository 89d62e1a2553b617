import SensorBus
package import SensorTypes

/// How far a receiver is that is put to sleep.
package enum ReceiverSleepState: Sendable, Hashable {
  /// It was told, and is watched.
  case underWay
  /// It sleeps, until it is woken.
  case asleep
  /// It cannot, or the line could not wake it: it runs on.
  case impossible
}

/// What the hub needs of a receiver, whoever owns it. It has no thread, reads no clock and never waits.
package protocol ReceiverDriver: AnyObject {
  /// Reads what has arrived and gives the next epoch: call it until it gives `nil`. The stream is read once for
  /// one `now`.
  ///
  /// Throws the stream's error; the receiver can be polled on afterwards.
  func poll(now: Timestamp) throws(DriverError) -> GNSSFix?

  /// What the board's own clock shows, seconds since 1970-01-01, whether it is right or not: a receiver whose weeks have
  /// rolled over is put right, but not into a time that is yet to come.
  func setBoardTime(_ seconds: Double)

  /// The satellites, where a round of them has become whole in the polls since the last call.
  func takeSky() -> GNSSSky?

  /// The newest heading by antennas, or by an instrument on the receiver's line, of the polls since the last call.
  func takeHeading() -> ReceiverHeading?

  /// When `poll` has an epoch even if no byte arrives; `nil` while none is under way.
  var nextEpoch: Timestamp? { get }

  /// What it means, for a person, that no epoch has come for `seconds`.
  func silence(of seconds: Double) -> String

  /// Whether `silence` has other words when more is known.
  var explainsSilence: Bool { get }

  /// Who the receiver says that it is, once it has.
  var identity: SensorIdentity? { get }

  /// How it is connected and set; `nil` where that is not known.
  var link: ReceiverLink? { get }

  /// What a person should know of it; `nil` where all is as it was asked for.
  var note: String? { get }

  /// Commands that it did not answer or refused; they only grow.
  var refusals: UInt64 { get }

  /// Seconds from one epoch to the next as they come; `nil` where nobody knows.
  var interval: Double? { get }

  /// Sets the seconds from one epoch to the next that are wanted; `nil` for as fast as it goes.
  func setInterval(_ seconds: Double?)

  /// Goes on towards sleep: call it instead of `poll`, until it is no longer under way.
  func rest(now: Timestamp) throws(DriverError) -> ReceiverSleepState

  /// Ends a sleep, or hurries the way into one; poll it then.
  func wake(now: Timestamp) throws(DriverError)

  /// Leaves it so that whoever opens it next finds it: one attempt, and no answer is waited for.
  func finish()
}

extension ReceiverDriver {
  /// Epochs come with their bytes.
  package var nextEpoch: Timestamp? { nil }

  /// Nothing more will be known.
  package var explainsSilence: Bool { false }

  package func takeSky() -> GNSSSky? { nil }

  package func takeHeading() -> ReceiverHeading? { nil }

  /// It does not say.
  package var identity: SensorIdentity? { nil }

  package var link: ReceiverLink? { nil }

  package var note: String? { nil }

  package var refusals: UInt64 { 0 }

  /// It has its own.
  package var interval: Double? { nil }

  /// It has its own interval.
  package func setInterval(_ seconds: Double?) {}

  package func rest(now: Timestamp) throws(DriverError) -> ReceiverSleepState { .impossible }

  package func wake(now: Timestamp) throws(DriverError) {}

  /// It is left as it is.
  package func finish() {}
}

extension ByteStream {
  func write(_ message: [UInt8]) throws(BusError) {
    // `Array.withUnsafeBytes` does not pass a typed error on: it comes out as a value.
    let failure: BusError? = message.withUnsafeBytes { bytes in
      do throws(BusError) {
        try write(bytes)
        return nil
      } catch {
        return error
      }
    }
    if let failure { throw failure }
  }
}
