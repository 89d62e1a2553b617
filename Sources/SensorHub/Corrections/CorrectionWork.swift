import GNSSProtocol
import SensorBus
import SensorTypes
import StateStore

/// Fetches the corrections of a receiver: the work of a thread of its own, which nobody waits for.
final class CorrectionWork: BusWork {
  /// Seconds between two looks while a connection is being made, which does not always wake the thread, and while it stands.
  private static let connectingInterval = 0.05
  private static let longestInterval = 1.0
  /// Reads of one step; the rest waits in the kernel.
  private static let readsPerStep = 16
  /// Bytes that are read at once, and per second after that; a station sends less than 10 kB/s. What a caster sends beyond that waits
  /// in the kernel, which stops the caster: a flood costs no more of the processor.
  static let bytesAtOnce = 131_072.0
  static let bytesPerSecond = 32_768.0
  /// Seconds for which something waits in the kernel. Megabytes have room there, which would be old corrections for minutes: the
  /// connection is ended, and what waits is dropped with it.
  static let longestBacklog = 5.0

  private let service: CorrectionService
  private let provider: any BusProvider
  private let passOn: () -> Void
  private let say: (String) -> Void
  private var client: CorrectionClient
  private var stream: (any NetworkStream)?
  private var credentials: String?
  private var buffer = [UInt8](repeating: 0, count: 4_096)
  private var limit = RateLimit(burst: bytesAtOnce, perSecond: bytesPerSecond)
  /// Whether the caster sends more than is read, and how often that began.
  private var isHeldBack = false
  private var heldBackSince: Timestamp?
  private(set) var floods: UInt64 = 0
  /// What was said last: `nil` before anything was.
  private var said: String?
  private var notes = NoteLimit()

  /// - Parameters:
  ///   - program: What the caster is told of this program: `Lodestone/1.0`.
  ///   - passOn: Called when frames wait for the receiver.
  ///   - say: Called with what a person should know.
  init(
    _ service: CorrectionService, provider: any BusProvider, program: String,
    passOn: @escaping () -> Void, say: @escaping (String) -> Void
  ) {
    self.service = service
    self.provider = provider
    self.passOn = passOn
    self.say = say
    client = CorrectionClient(service.source, program: program)
  }

  func step() -> Timestamp {
    let now = provider.now()
    let wish = service.wish
    client.setWanted(wish.isWanted)
    if let fix = wish.fix { client.setPosition(fix) }
    follow(now)
    exchange(now)
    endBacklog(now)
    service.feed.dropOld(at: now)
    // What came may have ended the connection.
    follow(now)
    var status = client.status(at: now)
    (status.dropped, status.floods) = (service.feed.dropped, floods)
    if service.isOnI2C { status.refusals = service.feed.refusals }
    service.status = status
    report(status, now)
    if !wish.isWanted { return .distantFuture }
    let interval: Double
    if isHeldBack {
      interval = Double(buffer.count) / Self.bytesPerSecond
    } else {
      interval =
        stream.map { $0.isOpen ? Self.longestInterval : Self.connectingInterval }
        ?? Self.longestInterval
    }
    return min(client.due, now.advanced(bySeconds: interval))
  }

  func forEachReadiness(_ body: (Readiness) -> Void) {
    // What waits in the kernel must not wake the thread while it is not read.
    if let stream, !isHeldBack { body(stream.readiness) }
  }

  func finish() { close() }

  private func close() {
    stream = nil
    credentials = nil
  }

  private func follow(_ now: Timestamp) {
    // A failure to connect is followed by a pause; two commands are the most that there are at one time.
    for _ in 0..<4 {
      switch client.step(at: now) {
      case .disconnect: close()
      case .connect: connect(now)
      case nil: return
      }
    }
  }

  private func connect(_ now: Timestamp) {
    let source = service.source
    do throws(FileProblem) {
      credentials = try source.credentials.map { (path) throws(FileProblem) in
        try CredentialFile.read(path)
      }
    } catch {
      return client.failed("\(error)", isRefusal: true, at: now)
    }
    do throws(BusError) {
      stream = try provider.networkStream(
        to: .tcp(host: source.host, port: source.port), isEncrypted: source.isEncrypted,
        within: CorrectionClient.connectionTime)
    } catch {
      close()
      client.failed(error.connectionWords, at: now)
    }
  }

  private func exchange(_ now: Timestamp) {
    var hasFrames = false
    let wasHeldBack = isHeldBack
    isHeldBack = false
    for _ in 0..<Self.readsPerStep {
      guard let stream else { break }
      guard limit.room(at: now) >= Double(buffer.count) else {
        isHeldBack = true
        if !wasHeldBack { floods &+= 1 }
        break
      }
      do throws(BusError) {
        let wasOpen = stream.isOpen
        let count = try read(stream)
        if stream.isOpen, !wasOpen {
          client.connected(credentials: credentials, at: now)
          credentials = nil
        }
        let output = client.takeOutput()
        if !output.isEmpty { try write(output, to: stream) }
        if count > 0 {
          limit.take(Double(count))
          client.received(Array(buffer[..<count]), at: now) { frame in
            service.feed.add(frame.bytes, at: now)
            hasFrames = true
          }
        }
        guard count == buffer.count || stream.isOpen && !wasOpen else { break }
      } catch {
        close()
        client.lost(error.connectionWords, at: now)
      }
    }
    if hasFrames { passOn() }
  }

  private func endBacklog(_ now: Timestamp) {
    guard isHeldBack else {
      heldBackSince = nil
      return
    }
    guard let since = heldBackSince else {
      heldBackSince = now
      return
    }
    guard now.seconds(since: since) >= Self.longestBacklog else { return }
    (isHeldBack, heldBackSince) = (false, nil)
    close()
    client.failed(
      "the caster sends more than \(Int(Self.bytesPerSecond) / 1_000) kB/s, which no station does",
      isRefusal: true, at: now)
  }

  private func read(_ stream: any NetworkStream) throws(BusError) -> Int {
    let result: Result<Int, BusError> = buffer.withUnsafeMutableBytes { bytes in
      do throws(BusError) { return .success(try stream.read(into: bytes)) } catch {
        return .failure(error)
      }
    }
    return try result.get()
  }

  private func write(_ bytes: [UInt8], to stream: any NetworkStream) throws(BusError) {
    let failure: BusError? = bytes.withUnsafeBytes { bytes in
      do throws(BusError) {
        try stream.write(bytes)
        return nil
      } catch { return error }
    }
    if let failure { throw failure }
  }

  /// Says once that they come, or why they do not.
  private func report(_ status: CorrectionStatus, _ now: Timestamp) {
    let words: String
    if let failure = status.failure {
      words = "has no corrections from \(status.source): \(failure)"
    } else if let refusal = service.feed.refusal {
      words = "does not take its corrections from \(status.source): \(refusal)"
    } else {
      guard status.phase == .receiving, status.recentFrames > 0 else { return }
      words = "gets corrections from \(status.source)"
    }
    guard words != said, let note = notes.admit(words, at: now) else { return }
    said = words
    say("\(service.name) \(note)")
  }
}
