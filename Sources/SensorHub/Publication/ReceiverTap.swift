// What receivers send, byte by byte, for whoever passes it on as it came.

import BoardFile
import SensorBus
import SensorDrivers
package import SensorTypes
import Synchronization

/// Bytes of one receiver, in the order in which they came.
package struct ReceiverBytes: Sendable, Hashable {
  /// The place of the receiver, as its status has it.
  package var place: String
  /// When the first of them came.
  package var time: Timestamp
  package var bytes: [UInt8]

  package init(place: String, time: Timestamp, bytes: [UInt8]) {
    (self.place, self.time, self.bytes) = (place, time, bytes)
  }
}

/// Hands what the receivers of a board send to listeners. What they send holds the exact position.
///
/// The bus thread that has read bytes copies them and goes on. While nobody listens it looks at a flag and copies nothing.
package final class ReceiverTap: Sendable {
  private let listeners = Mutex<[ReceiverListener]>([])
  private let isHeard = Atomic<Bool>(false)

  /// Makes a tap that nobody listens to.
  package init() {}

  /// Begins to listen, until the listener is cancelled.
  package func listen() -> ReceiverListener {
    let listener = ReceiverListener(self)
    listeners.withLock { listeners in
      listeners.append(listener)
      isHeard.store(true, ordering: .relaxed)
    }
    return listener
  }

  fileprivate func remove(_ listener: ReceiverListener) {
    listeners.withLock { listeners in
      listeners.removeAll { $0 === listener }
      isHeard.store(!listeners.isEmpty, ordering: .relaxed)
    }
  }

  /// Takes what a receiver has sent.
  ///
  /// - Parameter time: The present moment. It is asked for only while somebody listens.
  package func take(
    _ bytes: UnsafeRawBufferPointer, of place: String, at time: @autoclosure () -> Timestamp
  ) {
    guard isHeard.load(ordering: .relaxed), !bytes.isEmpty else { return }
    let time = time()
    listeners.withLock { listeners in
      for listener in listeners { listener.take(bytes, of: place, at: time) }
    }
  }
}

/// One listener to the receivers of a board.
package final class ReceiverListener: Sendable {
  /// The number of bytes that may wait: more than a second of a line of 921,600 baud. Beyond it reads are
  /// dropped and counted.
  static let limit = 131_072

  private struct State {
    var waiting: [ReceiverBytes] = []
    var count = 0
    var dropped: UInt64 = 0
  }

  private let tap: ReceiverTap
  private let state = Mutex(State())

  fileprivate init(_ tap: ReceiverTap) { self.tap = tap }

  /// The number of reads of a receiver that were dropped because nobody took what waited.
  package var dropped: UInt64 { state.withLock { $0.dropped } }

  /// Takes all that waits, the bytes of receivers that spoke in turns in several parts.
  package func take() -> [ReceiverBytes] {
    state.withLock { state in
      defer { (state.waiting, state.count) = ([], 0) }
      return state.waiting
    }
  }

  /// Ends the listening. What waits is dropped.
  package func cancel() {
    tap.remove(self)
    _ = take()
  }

  fileprivate func take(_ bytes: UnsafeRawBufferPointer, of place: String, at time: Timestamp) {
    state.withLock { state in
      guard state.count + bytes.count <= Self.limit else {
        state.dropped &+= 1
        return
      }
      state.count += bytes.count
      if let last = state.waiting.indices.last, state.waiting[last].place == place {
        state.waiting[last].bytes += bytes
      } else {
        state.waiting.append(ReceiverBytes(place: place, time: time, bytes: Array(bytes)))
      }
    }
  }
}

// MARK: Buses

/// The buses of a board, of whose receivers a tap gets every byte. It lies below what records: recordings and replays do not change.
struct TappedAccess: BusAccess, Sendable {
  let base: any BusAccess & Sendable
  let tap: ReceiverTap
  /// The receivers, as `Board.Attachment.description` names them.
  let places: Set<String>

  func now() -> Timestamp { base.now() }
  func wallTime() -> Double { base.wallTime() }
  var isWallTimeSet: Bool { base.isWallTimeSet }

  func registerDevice(bus: String, address: UInt8) throws(BusError) -> any RegisterDevice {
    let device = try base.registerDevice(bus: bus, address: address)
    let place = Board.Attachment.i2c(bus: bus, address: address).description
    return places.contains(place) ? TappedDevice(device, self, place) : device
  }

  func kernelDevice(bus: String, address: UInt8) throws(BusError) -> any KernelDevice {
    try base.kernelDevice(bus: bus, address: address)
  }

  func byteStream(port: String, baudRate: Int) throws(BusError) -> any ByteStream {
    let stream = try base.byteStream(port: port, baudRate: baudRate)
    return places.contains(port) ? TappedStream(stream, self, port) : stream
  }

  func connection(to server: ServerAddress) throws(BusError) -> any ByteStream {
    let stream = try base.connection(to: server)
    let place = server.description
    return places.contains(place) ? TappedStream(stream, self, place) : stream
  }

  func interruptLine(_ name: InterruptLineName) throws(BusError) -> any InterruptLine {
    try base.interruptLine(name)
  }

  fileprivate func take(_ bytes: UnsafeRawBufferPointer, of place: String) {
    tap.take(bytes, of: place, at: base.now())
  }
}

/// A receiver's line that a tap listens to.
private final class TappedStream: ByteStream {
  private let base: any ByteStream
  private let access: TappedAccess
  private let place: String

  init(_ base: any ByteStream, _ access: TappedAccess, _ place: String) {
    (self.base, self.access, self.place) = (base, access, place)
  }

  var readiness: Readiness { base.readiness }
  var note: String? { base.note }
  var ignored: UInt64 { base.ignored }

  func read(into buffer: UnsafeMutableRawBufferPointer) throws(BusError) -> Int {
    let count = try base.read(into: buffer)
    if count > 0 { access.take(UnsafeRawBufferPointer(rebasing: buffer[..<count]), of: place) }
    return count
  }

  func write(_ bytes: UnsafeRawBufferPointer) throws(BusError) { try base.write(bytes) }
  func writeSome(_ bytes: UnsafeRawBufferPointer) throws(BusError) -> Int {
    try base.writeSome(bytes)
  }
  func setBaudRate(_ rate: Int) throws(BusError) { try base.setBaudRate(rate) }
}

/// A u-blox receiver's I2C port that a tap listens to.
private final class TappedDevice: RegisterDevice {
  /// The register of the stream, which gives 0xFF while it is empty (u-blox M8 protocol description, section "DDC Port").
  private static let stream: UInt8 = 0xFF

  private let base: any RegisterDevice
  private let access: TappedAccess
  private let place: String

  init(_ base: any RegisterDevice, _ access: TappedAccess, _ place: String) {
    (self.base, self.access, self.place) = (base, access, place)
  }

  var retries: UInt64 { base.retries }

  func read(_ register: UInt8, into buffer: UnsafeMutableRawBufferPointer) throws(BusError) {
    try base.read(register, into: buffer)
    guard register == Self.stream, !buffer.allSatisfy({ $0 == 0xFF }) else { return }
    access.take(UnsafeRawBufferPointer(buffer), of: place)
  }

  func write(_ register: UInt8, from bytes: UnsafeRawBufferPointer) throws(BusError) {
    try base.write(register, from: bytes)
  }

  func listen(into buffer: UnsafeMutableRawBufferPointer) throws(BusError) {
    try base.listen(into: buffer)
  }
}

extension Hub {
  /// What the workers open their buses with: the buses with corrections for receivers and the tap of what these send.
  ///
  /// gpsd is no receiver in this: what it sends are its own reports.
  func receiverAccess(_ provider: any BusProvider) -> any BusAccess & Sendable {
    let access = correctedAccess(provider)
    let places = board.sensors.filter {
      ChipCatalog.chip(named: $0.chip)?.kind ?? .receiver == .receiver && $0.chip != "gpsd"
    }.map(\.attachment.description)
    guard !places.isEmpty else { return access }
    return TappedAccess(base: access, tap: receiverTap, places: Set(places))
  }
}
