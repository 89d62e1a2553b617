// The receiver that gpsd has: greeted, watched, asked when it falls silent.

import GNSSProtocol
package import SensorBus
package import SensorTypes

/// A client of gpsd on a byte stream (gpsd_json(5), protocol 3).
///
/// gpsd greets with VERSION; then `?WATCH` lets the reports come. A stream that ends, and a gpsd that does not
/// greet or answer any more, is an error at every further poll: whoever holds it connects anew.
package final class GPSDReceiver: ReceiverDriver {
  /// Seconds from opening to the greeting: what a connection may take, and a little more.
  static let greetingTime = 5.0
  /// Seconds of silence after which gpsd is asked for its devices, and which the answer may take.
  static let patience = 5.0
  private static let protocolVersion = 3
  /// Reads of one `poll`: more than gpsd's longest report, and a stream that never ends must not hold the thread.
  private static let readsPerPoll = 16

  private enum Phase {
    case greeting
    case watching
    case failed(BusError)
  }

  // Ahead of the decoder: other modules read it by its place, and are not built anew when a type that they
  // do not import grows.

  /// gpsd's release, once it has greeted.
  package private(set) var release: String?

  private let stream: any ByteStream
  private let place: String
  private let device: String?
  private var decoder: GPSDDecoder
  private var phase = Phase.greeting
  private let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1_024, alignment: 16)
  private var lastRead: Timestamp?
  /// When bytes last came, and when those did that made sense, or the connection begun; and when gpsd was last asked.
  private var lastBytes: Timestamp?
  private var lastHeard: Timestamp?
  private var asked: Timestamp?
  private var devices: (count: Int, active: Int)?
  private var lost: String?
  /// The newest round of satellites that nobody has taken.
  private var sky: GNSSSky?
  /// The newest heading that nobody has taken.
  private var heading: ReceiverHeading?

  /// A client on a stream that nobody else reads.
  ///
  /// - Parameters:
  ///   - place: The server, for messages.
  ///   - device: Which of gpsd's receivers, by gpsd's name of it; `nil` for the first that has a position.
  package init(_ stream: any ByteStream, at place: String, device: String? = nil) {
    self.stream = stream
    self.place = place
    self.device = device
    decoder = GPSDDecoder(device: device)
  }

  deinit { buffer.deallocate() }

  /// Whether gpsd has a receiver that it reads, once it has said so.
  package var hasReceiver: Bool? { devices.map { $0.active > 0 } }

  /// Lines that are no report, or longer than any.
  package var damaged: UInt64 { decoder.counters.damaged &+ decoder.counters.tooLong }

  /// Fixes of a time that was told already.
  package var repetitions: UInt64 { decoder.counters.repetitions }

  /// Reads, answers and asks; see `ReceiverDriver`.
  package func poll(now: Timestamp) throws(DriverError) -> GNSSFix? {
    if lastHeard == nil { lastHeard = now }
    if case .failed(let error) = phase { throw .bus(error) }
    if lastRead != now {
      lastRead = now
      try receive(now)
    }
    let fix = try nextFix(now)
    if fix == nil { try look(now) }
    return fix
  }

  /// Nothing: gpsd puts its receivers' dates right itself.
  package func setBoardTime(_ seconds: Double) {}

  /// The satellites: see `ReceiverDriver`.
  package func takeSky() -> GNSSSky? {
    defer { sky = nil }
    return sky
  }

  /// The newest heading: see `ReceiverDriver`.
  package func takeHeading() -> ReceiverHeading? {
    defer { heading = nil }
    return heading
  }

  /// gpsd talks to the receiver itself.
  package var link: ReceiverLink? {
    if case .watching = phase { ReceiverLink(language: .gpsd) } else { nil }
  }

  /// When an epoch is whole, if gpsd says no more of it.
  package var nextEpoch: Timestamp? { decoder.nextDue }

  /// gpsd itself says whether it has a receiver.
  package var explainsSilence: Bool {
    if case .watching = phase { true } else { false }
  }

  /// What gpsd has said about its receivers.
  package func silence(of seconds: Double) -> String {
    guard case .watching = phase else { return "gpsd at \(place) does not answer" }
    if decoder.standstill != nil {
      return "gpsd repeats one fix, its time stands still: its receiver has stopped"
    }
    if let lost { return "gpsd has lost its receiver \(lost)" }
    switch devices {
    case (0, _)?:
      return device.map { "gpsd has no receiver \($0): gpspipe -w shows their names" }
        ?? "gpsd has no receiver: plug one in, or name it in /etc/default/gpsd"
    case (_, 0)?: return "gpsd cannot read its receiver: gpsmon and journalctl -u gpsd say more"
    default:
      return
        "no position report for \(Int((seconds * 1000).rounded())) ms: gpsd's receiver is silent"
    }
  }

  private func receive(_ now: Timestamp) throws(DriverError) {
    for _ in 0..<Self.readsPerPoll {
      // As much as is taken, to the last byte: a line without an end is skipped once the room is gone.
      let room = UnsafeMutableRawBufferPointer(
        rebasing: buffer[..<min(buffer.count, decoder.room)])
      guard !room.isEmpty else { return }
      let count: Int
      do { count = try stream.read(into: room) } catch { throw fail(error) }
      guard count > 0, count <= room.count else { return }
      lastBytes = now
      decoder.append(UnsafeRawBufferPointer(rebasing: room[..<count]), at: now)
      if count < room.count { return }
    }
  }

  private func nextFix(_ now: Timestamp) throws(DriverError) -> GNSSFix? {
    while let event = decoder.next(at: now) {
      // An epoch that ends by nothing but time passing was heard when its bytes came.
      if let lastBytes, lastHeard.map({ lastBytes > $0 }) ?? true {
        lastHeard = lastBytes
        asked = nil
      }
      switch event {
      case .epoch(let fix):
        lost = nil
        return fix
      case .sky:
        // gpsd repeats the last sky of a receiver that has stopped, as it repeats the fix.
        guard decoder.standstill == nil else { continue }
        sky = GNSSSky(received: lastBytes ?? now, satellites: decoder.satellites)
      case .heading(let heading): self.heading = heading
      case .version(let release, let major, _):
        guard major == Self.protocolVersion else {
          throw fail(
            "gpsd \(release) speaks protocol \(major), this is for \(Self.protocolVersion)")
        }
        self.release = release
        guard case .greeting = phase else { continue }
        phase = .watching
        let only = device.map { ",\"device\":\"\($0)\"" } ?? ""
        try write("?WATCH={\"enable\":true,\"json\":true\(only)};\n")
      case .devices(let count, let active): devices = (count, active)
      case .device(let path, let isActive):
        lost = isActive ? nil : path
        // How many there are is another number now.
        devices = nil
      case .error(let message): throw fail("gpsd refuses: \(message)")
      case .watch, .message: break
      }
    }
    return nil
  }

  /// What silence asks for.
  private func look(_ now: Timestamp) throws(DriverError) {
    guard let lastHeard else { return }
    let silence = now.seconds(since: lastHeard)
    switch phase {
    case .greeting:
      guard silence > Self.greetingTime else { return }
      throw fail("nobody greets there: no gpsd, or its control socket, or too many clients")
    case .watching:
      if let asked {
        guard now.seconds(since: asked) > Self.patience else { return }
        throw fail("gpsd does not answer any more")
      }
      guard silence > Self.patience else { return }
      asked = now
      try write("?DEVICES;\n")
    case .failed: return
    }
  }

  private func fail(_ words: String) -> DriverError {
    fail(BusError(.noConnection(words), bus: place))
  }

  private func fail(_ error: BusError) -> DriverError {
    phase = .failed(error)
    return .bus(error)
  }

  private func write(_ text: String) throws(DriverError) {
    do { try stream.write(Array(text.utf8)) } catch { throw fail(error) }
  }
}
