// What a device behind vhost-user is to the session that talks to the guest's kernel.

import CVhostUser
import Glibc
import SensorTypes

/// A device with virtqueues.
protocol VirtioDevice: AnyObject {
  /// The device's own feature bits.
  var features: UInt64 { get }
  /// How many queues it has.
  var queueCount: Int { get }
  /// The bytes of its configuration space.
  var configuration: [UInt8] { get }
  /// Does what is due with the rings; there are `queueCount` of them, stopped ones give no requests.
  func serve(_ rings: [Ring], now: Timestamp)
  /// When it wants to be served again if nothing comes from the guest.
  func deadline(now: Timestamp) -> Timestamp
  /// The guest has stopped: what it had queued is gone.
  func reset()
}

/// One ring of a session: its queue, and the files by which both sides wake each other.
final class Ring {
  private let log: Log
  private let name: String
  var size = 0
  var base: UInt16 = 0
  var addresses: Virtqueue.Addresses?
  var isEnabled = false
  /// Written to by the guest when there are requests.
  private(set) var kick: Int32 = -1
  /// Written to by this side when requests came back.
  private var call: Int32 = -1
  private var queue: Virtqueue?
  private var owesCall = false

  init(name: String, log: Log) {
    self.name = name
    self.log = log
  }

  deinit {
    setKick(-1)
    setCall(-1)
  }

  var isRunning: Bool { queue != nil && isEnabled }
  /// The index of the next request: what the guest asks for when it stops a ring.
  var next: UInt16 { queue?.next ?? base }

  func setKick(_ file: Int32) {
    if kick >= 0 { close(kick) }
    kick = file
    // The guest only ever adds to an event counter, so that it does not matter to it.
    if file >= 0 { _ = fcntl(file, F_SETFL, fcntl(file, F_GETFL) | O_NONBLOCK) }
  }

  func setCall(_ file: Int32) {
    if call >= 0 { close(call) }
    call = file
  }

  /// Begins, or goes on in a memory that was mapped anew.
  func start(in memory: GuestMemory) throws(Virtqueue.Defect) {
    guard let addresses else { throw .place }
    queue = try Virtqueue(memory: memory, size: size, at: addresses, next: next)
  }

  func stop() {
    base = next
    queue = nil
  }

  /// Takes the next request. A ring that is broken says so once and is quiet from then on.
  func pop() -> DescriptorChain? {
    guard isEnabled else { return nil }
    do throws(Virtqueue.Defect) {
      return try queue?.pop()
    } catch {
      log("\(name): \(error); this ring is not served any more")
      queue = nil
      return nil
    }
  }

  func putBack() { queue?.putBack() }

  func push(_ chain: DescriptorChain, written: Int) {
    queue?.push(chain, written: written)
    owesCall = true
  }

  /// Drains what woke us.
  func takeKick() {
    var count: UInt64 = 0
    _ = posixRead(kick, &count, 8)
  }

  /// Wakes the guest if requests came back and it wants to hear of it.
  func callIfOwed() {
    guard owesCall, let queue else { return }
    owesCall = false
    guard queue.wantsCall, call >= 0 else { return }
    // A file that takes no more has more to say already than the guest has heard.
    var entry = pollfd(fd: call, events: Int16(POLLOUT), revents: 0)
    guard poll(&entry, 1, 0) > 0, entry.revents & Int16(POLLOUT) != 0 else { return }
    var one: UInt64 = UInt64(1).littleEndian
    _ = posixWrite(call, &one, 8)
  }
}

/// Says what went wrong, a bounded number of times: a hostile guest must not fill a disk.
final class Log {
  private let write: (String) -> Void
  private var left: Int

  init(limit: Int = 200, _ write: @escaping (String) -> Void) {
    self.write = write
    left = limit
  }

  func callAsFunction(_ text: String) {
    guard left > 0 else { return }
    left -= 1
    write(left > 0 ? text : text + " (and no more of this)")
  }
}

func posixRead(_ file: Int32, _ buffer: UnsafeMutableRawPointer?, _ count: Int) -> Int {
  read(file, buffer, count)
}

func posixWrite(_ file: Int32, _ buffer: UnsafeRawPointer?, _ count: Int) -> Int {
  write(file, buffer, count)
}

/// Little-endian numbers in what the wire says; `nil` beyond its end.
extension [UInt8] {
  func number<Value: FixedWidthInteger>(_ offset: Int, as type: Value.Type) -> Value? {
    let size = Value.bitWidth / 8
    guard offset >= 0, offset + size <= count else { return nil }
    return withUnsafeBytes {
      Value(littleEndian: $0.loadUnaligned(fromByteOffset: offset, as: type))
    }
  }

  mutating func append(number: some FixedWidthInteger) {
    Swift.withUnsafeBytes(of: number.littleEndian) { append(contentsOf: $0) }
  }
}
