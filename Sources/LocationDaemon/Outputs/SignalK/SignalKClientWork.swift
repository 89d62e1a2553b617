// The connection to a Signal K server: the work of a thread of its own, which nobody waits for.

import FoundationEssentials
import OutputProtocols
import SensorBus
import SensorTypes
import StateStore

/// Talks with a Signal K server, and keeps the token.
final class SignalKClientWork: BusWork {
  /// Seconds between two looks while a connection is being made or the server takes little, which does not wake the thread.
  private static let connectingInterval = 0.05
  /// Seconds between two looks for a server while none is known.
  private static let findingInterval = 5.0
  /// Reads of one step; the rest waits in the kernel.
  private static let readsPerStep = 16

  private let link: SignalKLink
  private let settings: SignalKSettings
  private let find: SignalKClientOutput.SignalKFinder
  private let folder: URL
  /// Where the token of the server is kept, once that is known.
  private var access: SignalKAccessFile?
  private let provider: any BusProvider
  private let clock: @Sendable (Timestamp) -> ClockReading
  private var client: SignalKClient?
  private var stream: (any NetworkStream)?
  private var isConnected = false
  private var credentials: String?
  /// What is left of bytes that the connection did not take at once.
  private var rest: ArraySlice<UInt8> = []
  private var buffer = [UInt8](repeating: 0, count: 4_096)
  /// Why the token is not kept, if it is not.
  private var keepProblem: String?

  init(
    _ link: SignalKLink, _ settings: SignalKSettings,
    find: @escaping SignalKClientOutput.SignalKFinder, folder: URL,
    provider: any BusProvider, clock: @escaping @Sendable (Timestamp) -> ClockReading
  ) {
    (self.link, self.settings, self.find, self.folder) = (link, settings, find, folder)
    (self.provider, self.clock) = (provider, clock)
  }

  func step() -> Timestamp {
    let now = provider.now()
    guard makeClient(at: now) else {
      link.report(
        SignalKLink.SignalKCondition(
          problem: "no Signal K server is known: name one as 'server' in serve.yaml"))
      return now.advanced(bySeconds: Self.findingInterval)
    }
    follow(now)
    exchange(now)
    // What came may have ended the connection.
    follow(now)
    report()
    let due = client?.due ?? .distantFuture
    let isWaiting = stream.map { !$0.isOpen || !rest.isEmpty } ?? false
    return isWaiting ? min(due, now.advanced(bySeconds: Self.connectingInterval)) : due
  }

  func forEachReadiness(_ body: (Readiness) -> Void) {
    if let stream { body(stream.readiness) }
  }

  func finish() {
    client?.close()
    if let bytes = client?.takeOutput(), let stream, stream.isOpen, rest.isEmpty {
      _ = try? write(bytes[...], to: stream)
    }
    disconnect()
    link.report(SignalKLink.SignalKCondition())
  }

  private func makeClient(at now: Timestamp) -> Bool {
    if client != nil { return true }
    guard let server = find() else { return false }
    let file = SignalKAccessFile(server, in: folder)
    access = file
    client = SignalKClient(
      server, kept: file.read(), name: settings.label,
      usesLogin: settings.credentials != nil, at: now
    ) {
      var source = SystemRandomNumberGenerator()
      return source.next()
    }
    return client != nil
  }

  private func report() {
    guard let client else { return }
    link.report(
      SignalKLink.SignalKCondition(
        stream: client.isStreaming ? client.streams : nil, problem: client.problem ?? keepProblem))
  }

  private func follow(_ now: Timestamp) {
    let reading = clock(now)
    let utc = reading.isSet ? reading.seconds : nil
    // Each command but a connection is followed by another one at most three times.
    for _ in 0..<8 {
      switch client?.step(at: now, utc: utc) {
      case .disconnect: disconnect()
      case .keep(let kept): keep(kept)
      case .connect(let server, let needsCredentials): connect(server, needsCredentials, now)
      case nil: return
      }
    }
  }

  private func disconnect() {
    (stream, isConnected, rest, credentials) = (nil, false, [], nil)
  }

  private func keep(_ kept: SignalKKeptAccess) {
    do {
      try access?.write(kept)
      keepProblem = nil
    } catch {
      keepProblem = "the token is not kept, and is asked for again after a restart: \(error)"
    }
  }

  private func connect(
    _ server: SignalKServerAddress, _ needsCredentials: Bool, _ now: Timestamp
  ) {
    disconnect()
    do throws(FileProblem) {
      if needsCredentials, let path = settings.credentials {
        credentials = try CredentialFile.read(path)
      }
    } catch {
      client?.lost("\(error)", at: now)
      return
    }
    do throws(BusError) {
      stream = try provider.networkStream(
        to: .tcp(host: server.host, port: server.port), isEncrypted: server.isEncrypted,
        within: SignalKClient.connectionTime)
    } catch {
      client?.lost(error.connectionWords, at: now)
    }
  }

  private func exchange(_ now: Timestamp) {
    for _ in 0..<Self.readsPerStep {
      guard let stream else { return }
      do throws(BusError) {
        let count = try read(stream)
        if stream.isOpen, !isConnected {
          isConnected = true
          client?.connected(credentials: credentials, at: now)
          credentials = nil
        }
        if count > 0 { client?.received(Array(buffer[..<count]), at: now) }
        try send(to: stream)
        guard count == buffer.count else { return }
      } catch {
        disconnect()
        client?.lost(error.connectionWords, at: now)
      }
    }
  }

  /// Sends what waits, as much of it as the connection takes.
  private func send(to stream: any NetworkStream) throws(BusError) {
    guard stream.isOpen else { return }
    while true {
      if rest.isEmpty {
        report()
        while client?.hasRoom == true, let message = link.take() { _ = client?.send(message) }
        rest = (client?.takeOutput() ?? [])[...]
      }
      guard !rest.isEmpty else { return }
      let count = try write(rest, to: stream)
      rest = rest.dropFirst(count)
      guard rest.isEmpty else { return }
    }
  }

  private func read(_ stream: any NetworkStream) throws(BusError) -> Int {
    let result: Result<Int, BusError> = buffer.withUnsafeMutableBytes { bytes in
      do throws(BusError) { return .success(try stream.read(into: bytes)) } catch {
        return .failure(error)
      }
    }
    return try result.get()
  }

  private func write(
    _ bytes: ArraySlice<UInt8>, to stream: any NetworkStream
  ) throws(BusError) -> Int {
    let result: Result<Int, BusError> = bytes.withUnsafeBytes { bytes in
      do throws(BusError) { return .success(try stream.writeSome(bytes)) } catch {
        return .failure(error)
      }
    }
    return try result.get()
  }
}
