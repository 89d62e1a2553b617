// What the way from an edge to another thread takes on this machine without Lodestone: the kernel's line event,
// the two transfers that read a conversion, and a wake. Touches the kernel's headers only, by their numbers.

import Foundation
import Glibc
import Synchronization

/// Asks for the rising edges of a line (linux/gpio.h, GPIO_GET_LINEEVENT_IOCTL); bytes, because Glibc has no
/// such header. The caller closes what it gets.
func watch(chip: String, line: UInt32) -> Int32 {
  let file = open("/dev/\(chip)", O_RDWR | O_CLOEXEC)
  guard file >= 0 else { fail("/dev/\(chip): \(String(cString: strerror(errno)))") }
  // struct gpioevent_request: lineoffset, handleflags, eventflags, consumer_label[32], fd.
  var request = [UInt32](repeating: 0, count: 12)
  request[0] = line
  request[1] = 1
  request[2] = 1
  // _IOWR(0xB4, 0x04, struct gpioevent_request)
  let code: UInt = 3 << 30 | 48 << 16 | 0xB4 << 8 | 0x04
  let result = ioctl(file, code, &request)
  guard result == 0 else { fail("line \(line) of \(chip): \(String(cString: strerror(errno)))") }
  close(file)
  return Int32(bitPattern: request[11])
}

/// A LIS3MDL by combined transfers (linux/i2c-dev.h, I2C_RDWR), their messages laid out once.
///
/// `@unchecked Sendable`: one thread at a time has it.
private final class BareChip: @unchecked Sendable {
  private let file: Int32
  private let address: UInt16
  /// struct i2c_rdwr_ioctl_data, two struct i2c_msg, and the bytes they point to.
  private let head: UnsafeMutableRawPointer
  private let bytes: UnsafeMutablePointer<UInt8>

  init(bus: String, address: UInt16) {
    file = open(bus, O_RDWR | O_CLOEXEC)
    guard file >= 0 else { fail("\(bus): \(String(cString: strerror(errno)))") }
    self.address = address
    head = .allocate(byteCount: 48, alignment: 8)
    bytes = .allocate(capacity: 16)
    bytes.initialize(repeating: 0, count: 16)
  }

  deinit {
    close(file)
    head.deallocate()
    bytes.deallocate()
  }

  func write(_ register: UInt8, _ value: UInt8) {
    (bytes[0], bytes[1]) = (register, value)
    message(0, flags: 0, count: 2, at: bytes)
    transfer(1)
  }

  func read(_ register: UInt8, count: UInt16) {
    bytes[0] = register
    message(0, flags: 0, count: 1, at: bytes)
    message(1, flags: 1, count: count, at: bytes + 1)
    transfer(2)
  }

  private func message(
    _ index: Int, flags: UInt16, count: UInt16, at buffer: UnsafeMutablePointer<UInt8>
  ) {
    let message = head + 16 + 16 * index
    message.storeBytes(of: address, as: UInt16.self)
    message.storeBytes(of: flags, toByteOffset: 2, as: UInt16.self)
    message.storeBytes(of: count, toByteOffset: 4, as: UInt16.self)
    message.storeBytes(of: UInt(bitPattern: buffer), toByteOffset: 8, as: UInt.self)
  }

  private func transfer(_ count: UInt32) {
    head.storeBytes(of: UInt(bitPattern: head + 16), as: UInt.self)
    head.storeBytes(of: count, toByteOffset: 8, as: UInt32.self)
    guard ioctl(file, 0x0707, head) == Int32(count) else { fail("the chip does not answer") }
  }

  /// 560 Hz, medium performance, 4 gauss, block data update, continuous: what Lodestone sets as well.
  func wake() {
    write(0x20, 0x22)
    write(0x23, 0x04)
    write(0x21, 0x00)
    write(0x24, 0x40)
    write(0x22, 0x00)
  }

  func sleep() { write(0x22, 0x03) }

  /// Status, then the six output bytes.
  func take() {
    read(0x27, count: 1)
    read(0x28 | 0x80, count: 6)
  }
}

/// What the threads of the bare path share.
private final class Handover: Sendable {
  /// The kernel's timestamp of the edge that is handed over, nanoseconds; 0 after the last.
  let edge = Atomic<UInt64>(0)
  let isOver = Atomic<Bool>(false)
}

/// The way of an edge without Lodestone.
struct BarePath: Sendable {
  /// The chip's own edges, and the file that pulls line 1 of `chip`, to which they are passed on.
  let events, pull: Int32
  let chip: String
  /// Where the LIS3MDL is.
  let bus: String
  let address: UInt16

  /// Seconds from each of `count` edges to another thread's awakening, without as many as `warmUp` before them.
  /// The calling thread is the one that is woken.
  func latencies(warmUp: Int, count: Int) -> [Double] {
    let line = watch(chip: chip, line: 1)
    // Of the calls that wake a thread, one that Glibc's module has.
    var wake: [Int32] = [-1, -1]
    guard pipe(&wake) == 0 else { fail("pipe: \(String(cString: strerror(errno)))") }
    let (wakeOut, wakeIn) = (wake[0], wake[1])
    let device = BareChip(bus: bus, address: address)
    let handover = Handover()
    let ended = DispatchSemaphore(value: 0)
    Thread.detachNewThread {
      passOn(from: events, to: pull, Pulls(count: warmUp + count))
      handover.isOver.store(true, ordering: .releasing)
    }
    Thread.detachNewThread {
      device.wake()
      // An output that was never taken holds the chip's line high.
      device.take()
      readEdges(line, device, wakeIn, handover)
      device.sleep()
      ended.signal()
    }
    var latencies: [Double] = []
    latencies.reserveCapacity(2 * (warmUp + count))
    var byte: UInt8 = 0
    while read(wakeOut, &byte, 1) == 1 {
      let edge = handover.edge.load(ordering: .acquiring)
      if edge == 0 { break }
      latencies.append(seconds(CLOCK_MONOTONIC) - Double(edge) * 1e-9)
    }
    ended.wait()
    close(line)
    close(wakeOut)
    close(wakeIn)
    return Array(latencies.dropFirst(warmUp))
  }
}

private func readEdges(_ line: Int32, _ device: BareChip, _ wake: Int32, _ handover: Handover) {
  var entry = pollfd(fd: line, events: Int16(POLLIN), revents: 0)
  // struct gpioevent_data: timestamp and kind; of several the newest counts.
  var events = [UInt64](repeating: 0, count: 32)
  var byte: UInt8 = 1
  while !handover.isOver.load(ordering: .acquiring) {
    // An edge that was lost is the last one until the output is taken.
    guard poll(&entry, 1, 5) > 0 else {
      device.take()
      continue
    }
    let size = read(line, &events, 256)
    guard size >= 16 else { fail("the line cannot be read") }
    device.take()
    handover.edge.store(events[size / 16 * 2 - 2], ordering: .releasing)
    guard write(wake, &byte, 1) == 1 else { fail("the pipe cannot be written") }
  }
  handover.edge.store(0, ordering: .releasing)
  _ = write(wake, &byte, 1)
}
