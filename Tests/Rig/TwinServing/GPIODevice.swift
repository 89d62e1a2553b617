// virtio-gpio (Virtual I/O Device 1.2, section 5.20) with interrupts: the data-ready pins of the chips.

import SensorBus
import SensorTypes
import SimulatedDevices

/// A GPIO chip whose lines are inputs, driven by the simulated chips.
final class GPIODevice: VirtioDevice {
  /// What happened, for the rig's report.
  struct Counts {
    var edges = 0
    /// Edges that came while the guest had no buffer queued.
    var latched = 0
    /// From a twin's edge to the completion of the guest's buffer where one was queued, nanoseconds.
    var lateness: Int64 = 0
    var worstLateness: Int64 = 0
  }

  private struct Line {
    var name: InterruptLineName?
    var line: (any InterruptLine)?
    /// Whether the guest wants rising edges.
    var isWatched = false
    var isLatched = false
    var buffer: DescriptorChain?
  }

  private enum Request {
    static let names: UInt16 = 1
    static let getDirection: UInt16 = 2
    static let setDirection: UInt16 = 3
    static let getValue: UInt16 = 4
    static let setValue: UInt16 = 5
    static let interruptType: UInt16 = 6
  }

  private static let directionNone: UInt32 = 0
  private static let directionIn: UInt8 = 2
  private static let risingEdge: UInt32 = 1
  /// More lines than any header has.
  static let most = 256

  /// VIRTIO_GPIO_F_IRQ.
  let features: UInt64 = 1
  let queueCount = 2
  private(set) var counts = Counts()
  private let provider: SimulatedBusProvider
  private let names: [UInt8]
  private var lines: [Line]

  /// Makes a chip with these lines. One that is named by a number has that offset, the others fill the
  /// places from 0 on.
  init(_ names: [InterruptLineName], provider: SimulatedBusProvider) throws(RigError) {
    self.provider = provider
    var lines: [Line] = []
    func put(_ name: InterruptLineName, at offset: Int) throws(RigError) {
      guard offset < Self.most else {
        throw RigError("line \(name.line): there are \(Self.most) at most")
      }
      while lines.count <= offset { lines.append(Line()) }
      guard lines[offset].name == nil else {
        throw RigError("line \(name.line) is named twice")
      }
      do throws(BusError) {
        lines[offset] = Line(name: name, line: try provider.interruptLine(name))
      } catch {
        throw RigError("\(error)")
      }
    }
    for name in names { if let offset = Int(name.line) { try put(name, at: offset) } }
    for name in names where Int(name.line) == nil {
      guard !lines.contains(where: { $0.name?.line == name.line }) else {
        throw RigError("line \(name.line) is named twice")
      }
      try put(name, at: lines.firstIndex { $0.name == nil } ?? lines.count)
    }
    // A chip without lines is none to the kernel.
    if lines.isEmpty { lines.append(Line()) }
    self.lines = lines
    self.names = lines.flatMap { line -> [UInt8] in
      let name = line.name.map(\.line) ?? ""
      return (Int(name) == nil ? Array(name.utf8) : []) + [0]
    }
  }

  /// ngpio, padding, size of the names.
  var configuration: [UInt8] {
    var bytes: [UInt8] = []
    bytes.append(number: UInt16(lines.count))
    bytes.append(number: UInt16(0))
    bytes.append(number: UInt32(names.count))
    return bytes
  }

  func reset() {
    for index in lines.indices {
      lines[index].isWatched = false
      lines[index].isLatched = false
      lines[index].buffer = nil
    }
  }

  func deadline(now: Timestamp) -> Timestamp {
    var next = Timestamp.distantFuture
    for line in lines {
      guard let line = line.line, case .at(let nanoseconds) = line.readiness else { continue }
      next = min(next, Timestamp(nanoseconds: nanoseconds))
    }
    return next
  }

  func serve(_ rings: [Ring], now: Timestamp) {
    takeBuffers(rings[1])
    for _ in 0..<Self.most {
      guard let chain = rings[0].pop() else { break }
      let request = chain.read()
      let reply = answer(to: request, room: chain.writableCount, events: rings[1])
      rings[0].push(chain, written: chain.write(reply))
    }
    // Buffers and requests are in two rings: a line that was just asked for has its buffer after it.
    takeBuffers(rings[1])
    deliver(rings[1], now: now)
  }

  /// Keeps the buffers that the guest has queued for edges.
  private func takeBuffers(_ ring: Ring) {
    for _ in 0..<Self.most {
      guard let chain = ring.pop() else { return }
      let request = chain.read()
      // One that names no line, or a line that has one already, comes back as it is.
      guard let index = request.number(0, as: UInt16.self).map(Int.init),
        lines.indices.contains(index), lines[index].buffer == nil
      else {
        ring.push(chain, written: chain.write([0]))
        continue
      }
      lines[index].buffer = chain
    }
  }

  /// Completes buffers with edges. An edge that finds none is latched: the guest masks a line while it
  /// handles the one before.
  private func deliver(_ ring: Ring, now: Timestamp) {
    for index in lines.indices {
      // A simulated line does not fail; if one did it would have no edge.
      if let edge = (try? lines[index].line?.takeEdge()) ?? nil, lines[index].isWatched {
        counts.edges += 1
        if lines[index].buffer == nil {
          counts.latched += 1
        } else {
          let lateness = provider.now().nanoseconds - edge.nanoseconds
          counts.lateness += lateness
          counts.worstLateness = max(counts.worstLateness, lateness)
        }
        lines[index].isLatched = true
      }
      guard lines[index].isLatched, let buffer = lines[index].buffer else { continue }
      lines[index].isLatched = false
      lines[index].buffer = nil
      ring.push(buffer, written: buffer.write([1]))
    }
  }

  /// The reply to a request of the first queue: a status, 0 for done, and a value.
  func answer(to request: [UInt8], room: Int, events: Ring) -> [UInt8] {
    let refused: [UInt8] = [1, 0]
    guard let type = request.number(0, as: UInt16.self),
      let index = request.number(2, as: UInt16.self).map(Int.init),
      let value = request.number(4, as: UInt32.self), lines.indices.contains(index)
    else { return refused }
    switch type {
    case Request.names: return room > names.count ? [0] + names : refused
    case Request.getDirection: return [0, Self.directionIn]
    // A chip drives the line: an output there would be a short circuit.
    case Request.setDirection:
      return value == Self.directionNone || value == UInt32(Self.directionIn) ? [0, 0] : refused
    case Request.getValue:
      let level = lines[index].name.flatMap(provider.level(of:)) ?? false
      return [0, level ? 1 : 0]
    case Request.setValue: return refused
    case Request.interruptType:
      guard value == 0 || value == Self.risingEdge else { return refused }
      // What came before the guest asked is not an edge to it.
      _ = try? lines[index].line?.takeEdge()
      lines[index].isWatched = value == Self.risingEdge
      lines[index].isLatched = false
      if value == 0, let buffer = lines[index].buffer {
        lines[index].buffer = nil
        events.push(buffer, written: buffer.write([0]))
      }
      return [0, 0]
    default: return refused
    }
  }
}
