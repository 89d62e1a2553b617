import BoardFile
import SensorBus
import SensorTypes

/// A receiver's line that corrections are sent on as well.
///
/// It lies below what records: a recording holds what the receiver has made of the corrections, and a replay needs none. Frames
/// leave as the line takes them, without a wait, and only while the line is read. A command waits for the end of a frame.
final class CorrectedStream: ByteStream {
  /// Frames of one read: more than come in any of its intervals.
  private static let framesPerRead = 32

  private let base: any ByteStream
  private let feed: CorrectionFeed
  /// What is left of a frame whose beginning has left.
  private var rest: ArraySlice<UInt8> = []
  /// Why a frame could not be written after a read that has brought something: thrown by the next read.
  private var failure: BusError?

  init(_ base: any ByteStream, feed: CorrectionFeed) { (self.base, self.feed) = (base, feed) }

  var readiness: Readiness { base.readiness }

  func read(into buffer: UnsafeMutableRawBufferPointer) throws(BusError) -> Int {
    if let failure {
      self.failure = nil
      throw failure
    }
    let count = try base.read(into: buffer)
    do throws(BusError) { try pass() } catch {
      drop()
      // What was read is not lost.
      guard count > 0 else { throw error }
      failure = error
    }
    return count
  }

  func write(_ bytes: UnsafeRawBufferPointer) throws(BusError) {
    if !rest.isEmpty {
      do throws(BusError) { try Self.send(Array(rest), base.write) } catch {
        drop()
        throw error
      }
      rest = []
    }
    try base.write(bytes)
  }

  func setBaudRate(_ rate: Int) throws(BusError) {
    drop()
    try base.setBaudRate(rate)
  }

  /// Gives up a frame whose beginning has left, and counts it.
  private func drop() {
    guard !rest.isEmpty else { return }
    rest = []
    feed.lost(because: nil)
  }

  private func pass() throws(BusError) {
    for _ in 0..<Self.framesPerRead {
      if rest.isEmpty {
        guard let frame = feed.take() else { return }
        rest = frame[...]
      }
      let count = try Self.send(Array(rest), base.writeSome)
      rest = rest.dropFirst(count)
      guard rest.isEmpty else { return }
    }
  }

  private static func send<Result>(
    _ bytes: [UInt8], _ body: (UnsafeRawBufferPointer) throws(BusError) -> Result
  ) throws(BusError) -> Result {
    // `Array.withUnsafeBytes` does not pass a typed error on: it comes out as a value.
    let result: Swift.Result<Result, BusError> = bytes.withUnsafeBytes { bytes in
      do throws(BusError) { return .success(try body(bytes)) } catch { return .failure(error) }
    }
    return try result.get()
  }
}

/// The buses of a board, some of whose receivers get corrections.
struct CorrectedAccess: BusAccess, Sendable {
  let base: any BusProvider
  /// By port, server or I2C address, as `Board.Attachment.description` names it.
  let feeds: [String: CorrectionFeed]

  func now() -> Timestamp { base.now() }
  func wallTime() -> Double { base.wallTime() }
  var isWallTimeSet: Bool { base.isWallTimeSet }

  func registerDevice(bus: String, address: UInt8) throws(BusError) -> any RegisterDevice {
    let device = try base.registerDevice(bus: bus, address: address)
    let place = Board.Attachment.i2c(bus: bus, address: address).description
    return feeds[place].map { CorrectedDevice(device, feed: $0) } ?? device
  }

  func kernelDevice(bus: String, address: UInt8) throws(BusError) -> any KernelDevice {
    try base.kernelDevice(bus: bus, address: address)
  }

  func byteStream(port: String, baudRate: Int) throws(BusError) -> any ByteStream {
    let stream = try base.byteStream(port: port, baudRate: baudRate)
    return feeds[port].map { CorrectedStream(stream, feed: $0) } ?? stream
  }

  func connection(to server: ServerAddress) throws(BusError) -> any ByteStream {
    let stream = try base.connection(to: server)
    return feeds[server.description].map { CorrectedStream(stream, feed: $0) } ?? stream
  }

  func interruptLine(_ name: InterruptLineName) throws(BusError) -> any InterruptLine {
    try base.interruptLine(name)
  }
}
