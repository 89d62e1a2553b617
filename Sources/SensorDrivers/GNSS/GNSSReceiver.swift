// A GNSS receiver on a byte stream: found, configured, read.

import SensorBus
public import SensorTypes

/// A receiver on a serial line or a u-blox receiver's I2C port.
///
/// It is asked for UBX NAV-PVT, whose four accuracies are the receiver's own; one that cannot or must
/// not be configured is read as NMEA. Nothing is stored in the receiver: after a power cut it has its own
/// settings again, and is configured again. It has no thread, reads no clock and never waits.
public final class GNSSReceiver: ReceiverDriver {
  /// Bytes of a NAV-PVT message with frame, and of the line that it may fill (the rest is for answers
  /// and for the line's own tolerance).
  private static let bytesPerEpoch = 100.0
  private static let usableLine = 0.8
  /// Reads of one `poll`; a serial line cannot fill more in a tenth of a second, and a stream that
  /// never ends must not hold the thread.
  private static let readsPerPoll = 8

  private let stream: any ByteStream
  private var codec: any ReceiverCodec
  private var setup: ReceiverSetup
  private let port: ReceiverPort
  private let wantedRate: Double
  private let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1024, alignment: 16)
  private var lastRead: Timestamp?
  private var lastPVT: Timestamp?

  init(
    _ stream: any ByteStream, codec: any ReceiverCodec, port: ReceiverPort, outputRate: Double,
    setup: ReceiverSetup
  ) {
    self.stream = stream
    self.codec = codec
    self.port = port
    self.setup = setup
    // 0.1 to 25 Hz is what receivers can do; anything else is a mistake that must not trap below.
    wantedRate = outputRate > 0 ? min(25, max(0.1, outputRate)) : 1
  }

  deinit { buffer.deallocate() }

  /// Reads what has arrived, goes on with the talk, and gives the next epoch: call it until it gives
  /// `nil`. The stream is read once for one `now`.
  ///
  /// Throws the stream's error; the receiver can be polled on afterwards.
  public func poll(now: Timestamp) throws(DriverError) -> GNSSFix? {
    if let fix = nextEpoch(now) { return fix }
    try talk(now)
    if lastRead != now {
      lastRead = now
      try receive(now)
    }
    let fix = nextEpoch(now)
    try talk(now)
    return fix
  }

  /// When `poll` is due at the latest if no byte arrives: the talk's next deadline.
  public var nextDue: Timestamp { setup.nextDue }

  /// The rate of the line at which it is read now, bits per second; `nil` on I2C.
  public var baudRate: Int? { setup.baudRate }

  /// Whether the receiver was configured and sends NAV-PVT.
  public var isConfigured: Bool { setup.phase == .running }

  /// Epochs a second that are asked for: the wanted rate, or what the line can carry.
  public var outputRate: Double {
    guard let baudRate else { return wantedRate }
    // Ten bits a byte.
    return min(wantedRate, Double(baudRate) / 10 * Self.usableLine / Self.bytesPerEpoch)
  }

  /// What nobody heard means.
  public func silence(of seconds: Double) -> String {
    "no message for \(Int((seconds * 1000).rounded())) ms: check the receiver's wire"
  }

  private func receive(_ now: Timestamp) throws(DriverError) {
    for _ in 0..<Self.readsPerPoll {
      // What is not taken now waits in the kernel.
      let room = UnsafeMutableRawBufferPointer(rebasing: buffer[..<min(buffer.count, codec.room)])
      guard !room.isEmpty else { return }
      let count: Int
      do { count = try stream.read(into: room) } catch { throw .bus(error) }
      guard count > 0, count <= room.count else { return }
      codec.append(UnsafeRawBufferPointer(rebasing: room[..<count]), at: now)
      if count < room.count { return }
    }
  }

  private func nextEpoch(_ now: Timestamp) -> GNSSFix? {
    while let event = codec.next(at: now) {
      switch event {
      case .message:
        setup.heard(at: now)
      case .answer(let accepted):
        setup.heard(at: now)
        setup.answered(accepted: accepted)
      case .epoch(let fix, isPVT: true):
        setup.heardPVT(at: now)
        lastPVT = now
        return fix
      case .epoch(let fix, isPVT: false):
        setup.heard(at: now)
        // The same epochs once more, until NMEA is off.
        if let lastPVT, now.seconds(since: lastPVT) < ReceiverSetup.silenceTime { continue }
        return fix
      }
    }
    return nil
  }

  private func talk(_ now: Timestamp) throws(DriverError) {
    // A talk never has more to do at one moment than this.
    for _ in 0..<8 {
      guard let command = setup.step(now: now) else { return }
      do {
        switch command {
        case .changeBaudRate(let rate):
          try stream.setBaudRate(rate)
        case .send(let item, let dialect):
          for message in codec.messages(
            setting: item, in: dialect, port: port, rate: outputRate)
          {
            try stream.write(message)
          }
        }
      } catch {
        throw .bus(error)
      }
    }
  }
}
