// What arrives from the kernel: a buffer's frames, or rounds of polled attributes.

import SensorBus
import SensorTypes

/// The raw numbers of one sample, by lane, and when it was taken.
struct KernelFrame {
  var raw = SIMD8<Double>(repeating: 0)
  var time: Timestamp?
}

/// Bytes of a source, in memory of a fixed size.
final class KernelBytes {
  private let source: any ByteSource
  private let memory: UnsafeMutableRawBufferPointer
  private(set) var count = 0

  init(_ source: any ByteSource, size: Int) {
    self.source = source
    memory = .allocate(byteCount: size, alignment: 8)
  }

  deinit { memory.deallocate() }

  var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(rebasing: memory[..<count]) }

  /// Takes what has arrived in place of what was there.
  func fill() throws(DriverError) {
    count = 0
    do { count = min(memory.count, max(0, try source.read(into: memory))) } catch {
      throw .bus(error)
    }
  }
}

/// The frames of one IIO device's buffer, one after the other.
final class KernelBuffer {
  /// The most frames that one read brings: what is left waits for the next.
  static let framesPerRead = 16
  /// No sensor has a larger one.
  static let largestFrame = 512

  let folder: String
  private let frameSize: Int
  private let lanes: [(lane: Int, offset: Int, type: ScanType)]
  private let stamp: (offset: Int, type: ScanType)?
  private let bytes: KernelBytes
  private var position = 0

  /// - Parameter lanes: The lane of each channel; all of them are in the layout.
  init?(
    _ source: any ByteSource, folder: String, layout: ScanLayout, lanes: [(String, lane: Int)]
  ) {
    self.folder = folder
    frameSize = layout.frameSize
    self.lanes = lanes.compactMap { name, lane in
      layout[name].map { (lane, $0.offset, $0.type) }
    }
    stamp = layout["in_timestamp"]
    guard frameSize <= Self.largestFrame, self.lanes.count == lanes.count else { return nil }
    bytes = KernelBytes(source, size: frameSize * Self.framesPerRead)
  }

  /// The next frame, or `nil` while there is none; lanes of other devices are zero.
  func next() throws(DriverError) -> KernelFrame? {
    if position >= bytes.count {
      position = 0
      try bytes.fill()
      guard bytes.count > 0 else { return nil }
    }
    guard position + frameSize <= bytes.count else {
      let rest = bytes.count - position
      position = bytes.count
      throw .notReady("\(folder): \(rest) bytes of a frame of \(frameSize)")
    }
    var frame = KernelFrame()
    for (lane, offset, type) in lanes {
      frame.raw[lane] = Double(type.value(bytes.bytes, at: position + offset))
    }
    if let stamp {
      frame.time = Timestamp(
        nanoseconds: stamp.type.value(bytes.bytes, at: position + stamp.offset))
    }
    position += frameSize
    return frame
  }
}

/// The frames of one IIO device, or of two that measure at once, as the two halves of an LSM6 do.
struct KernelBuffers {
  let all: [KernelBuffer]
  /// Of the second device: the newest frame that is not later than the first's, and one that is.
  private var partner: KernelFrame?
  private var ahead: KernelFrame?
  /// Frames of the first device since the second had one.
  private var alone = 0

  init(_ all: [KernelBuffer]) { self.all = all }

  /// The next frame of the first device with what the second says at that time.
  ///
  /// - Parameter slack: How much later the second's may be, seconds: half a period.
  mutating func next(slack: Double) throws(DriverError) -> KernelFrame? {
    guard let first = all.first, var frame = try first.next() else { return nil }
    guard let second = all.dropFirst().first else { return frame }
    alone += 1
    for _ in 0..<KernelBuffer.framesPerRead {
      if ahead == nil { ahead = try second.next() }
      guard let next = ahead else { break }
      if let a = next.time, let b = frame.time, a.seconds(since: b) > slack { break }
      (partner, ahead, alone) = (next, nil, 0)
    }
    // A device that fell silent has no part in a sample.
    guard let partner, alone <= Self.patience else { return nil }
    frame.raw += partner.raw
    return frame
  }

  /// So many frames of one without one of the other are a loss; two clocks drift by less.
  private static let patience = 3
}

/// Rounds of polled attributes.
struct KernelRounds {
  private let bytes: KernelBytes
  private let lanes: Int
  /// How long the newest round took, seconds.
  private(set) var duration = 0.0

  init(_ source: any ByteSource, lanes: Int) {
    self.lanes = lanes
    bytes = KernelBytes(source, size: longestPolledRound)
  }

  /// The newest round, or `nil` while there is none. Its moment is its middle.
  mutating func next() throws(DriverError) -> KernelFrame? {
    try bytes.fill()
    guard bytes.count > 0 else { return nil }
    var rest = bytes.bytes[...]
    func line() -> Slice<UnsafeRawBufferPointer> {
      let line = rest.prefix { $0 != 10 }
      rest = rest.dropFirst(line.count + 1)
      return line
    }
    func nanoseconds(_ line: Slice<UnsafeRawBufferPointer>) -> Int64? {
      Int64(String(decoding: line, as: UTF8.self))
    }
    guard let begin = nanoseconds(line()), let end = nanoseconds(line()), begin <= end,
      begin >= 0
    else { throw .notReady("a round of attributes without its times") }
    duration = Double(end - begin) * 1e-9
    var frame = KernelFrame()
    frame.time = Timestamp(nanoseconds: begin + (end - begin) / 2)
    for lane in 0..<lanes {
      let text = line()
      guard let value = KernelText.number(text) else {
        throw .notReady(
          "the kernel says '\(String(decoding: text.prefix(20), as: UTF8.self))' for a number")
      }
      frame.raw[lane] = value
    }
    return frame
  }
}
