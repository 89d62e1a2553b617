import CLinuxIO
import Glibc
import Inboxes
import SensorBus
import SensorTypes
import Synchronization

/// What a round has brought, for another thread to take: the newest, or why there is none.
final class LatestRound: Sendable {
  private let inbox = Inbox<Result<[UInt8], BusError>, OneKind>(InboxPolicy(.newest))
  private let reading = Atomic<Bool>(false)

  func begin() { reading.store(true, ordering: .releasing) }

  func end(_ result: Result<[UInt8], BusError>) {
    inbox.post(result)
    reading.store(false, ordering: .releasing)
  }

  /// The newest, once; nothing where there is none.
  func take() -> Result<[UInt8], BusError> { inbox.take() ?? .success([]) }

  /// Says that nobody takes anything any more.
  func close() { inbox.close() }

  var isClosed: Bool { inbox.isClosed }

  /// Whether the kernel is being asked.
  var isReading: Bool { reading.load(ordering: .acquiring) }
}

/// Reads attributes in rounds, on a thread of its own: reading one may take the kernel a conversion or, where the
/// chip holds the bus, a second, and other chips are not to wait for that.
final class AttributeRounds: BusWork {
  private let paths: [String]
  private let period: Double
  private let latest: LatestRound
  private var files: [FileBox] = []
  private var due: Timestamp?

  // Noncopyable elements are not for arrays.
  private final class FileBox {
    let file: Descriptor
    init(_ file: consuming Descriptor) { self.file = file }
  }

  init(_ paths: [String], every period: Double, into latest: LatestRound) {
    self.paths = paths
    self.period = period
    self.latest = latest
  }

  func step() -> Timestamp {
    let begin = lodestone_monotonic()
    // Another's wake is no reason to read early.
    if let due, due.nanoseconds > begin { return due }
    latest.begin()
    let result: Result<[UInt8], BusError>
    do throws(BusError) { result = .success(try round(begin: begin)) } catch {
      files = []
      result = .failure(error)
    }
    latest.end(result)
    let next = Timestamp(nanoseconds: begin).advanced(bySeconds: period)
    due = max(next, Timestamp(nanoseconds: lodestone_monotonic()))
    return due ?? next
  }

  func forEachReadiness(_ body: (Readiness) -> Void) {}

  private func round(begin: Int64) throws(BusError) -> [UInt8] {
    if files.isEmpty {
      for path in paths {
        files.append(FileBox(try LinuxKernelDevice.open(path, O_RDONLY)))
      }
    }
    var texts: [UInt8] = []
    // The longest number that the kernel prints is shorter.
    var memory = [UInt8](repeating: 0, count: 64)
    for (box, path) in zip(files, paths) where !latest.isClosed {
      var failure: BusError?
      let count = memory.withUnsafeMutableBytes { memory in
        do throws(BusError) {
          return try LinuxKernelDevice.text(of: box.file, path, into: memory)
        } catch {
          failure = error
          return 0
        }
      }
      if let failure { throw failure }
      texts += memory[..<count].filter { $0 != 10 }
      texts.append(10)
    }
    let times = "\(begin)\n\(lodestone_monotonic())\n"
    return Array((Array(times.utf8) + texts).prefix(longestPolledRound))
  }
}

/// The threads that read, one a chip at the most: where the kernel does not answer the old one, there is no new.
final class RoundsRegistry: Sendable {
  private final class Weak: Sendable {
    // Written once, before it is shared.
    nonisolated(unsafe) weak var latest: LatestRound?
    init(_ latest: LatestRound) { self.latest = latest }
  }

  private let readers = Mutex<[String: Weak]>([:])

  func rounds(
    _ paths: [String], every seconds: Double, of chip: String
  ) throws(BusError) -> any ByteSource {
    let latest = LatestRound()
    let isFree = readers.withLock { readers in
      if readers[chip]?.latest?.isReading ?? false { return false }
      readers[chip] = Weak(latest)
      return true
    }
    guard isFree else { throw BusError(.timedOut, bus: chip, errno: ETIMEDOUT) }
    let thread = try BusThread(name: String((chip.split(separator: "/").last ?? "iio").suffix(15)))
    {
      AttributeRounds(paths, every: seconds, into: latest)
    }
    return RoundsSource(latest, thread)
  }
}

/// The newest round; the thread ends with it.
private final class RoundsSource: ByteSource {
  private let latest: LatestRound
  private let thread: BusThread

  init(_ latest: LatestRound, _ thread: BusThread) {
    self.latest = latest
    self.thread = thread
  }

  // A program that ended in the midst of a read would leave that to the kernel. As long as one transfer of our own.
  deinit {
    latest.close()
    thread.stop(within: Double(I2CBus.timeoutMilliseconds) / 1000)
  }

  func read(into buffer: UnsafeMutableRawBufferPointer) throws(BusError) -> Int {
    let round = try latest.take().get()
    let count = min(round.count, buffer.count)
    buffer.copyBytes(from: round[..<count])
    return count
  }
}
