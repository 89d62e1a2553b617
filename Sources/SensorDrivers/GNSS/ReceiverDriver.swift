import SensorBus
public import SensorTypes

/// What the hub needs of a receiver, whoever owns it. It has no thread, reads no clock and never waits.
public protocol ReceiverDriver: AnyObject {
  /// Reads what has arrived and gives the next epoch: call it until it gives `nil`. The stream is read once for
  /// one `now`.
  ///
  /// Throws the stream's error; the receiver can be polled on afterwards.
  func poll(now: Timestamp) throws(DriverError) -> GNSSFix?

  /// When `poll` has an epoch even if no byte arrives; `nil` while none is under way.
  var nextEpoch: Timestamp? { get }

  /// What it means, for a person, that no epoch has come for `seconds`.
  func silence(of seconds: Double) -> String

  /// Whether `silence` has other words when more is known.
  var explainsSilence: Bool { get }
}

extension ReceiverDriver {
  /// Epochs come with their bytes.
  public var nextEpoch: Timestamp? { nil }

  /// Nothing more will be known.
  public var explainsSilence: Bool { false }
}

extension ByteStream {
  /// Sends a message.
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
