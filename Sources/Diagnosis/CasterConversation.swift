// Talks with a caster of corrections: its source table, and whether a board's corrections come.

import BoardFile
import GNSSProtocol
import Lodestone
package import SensorBus
import SensorTypes
import StateStore

/// A caster as a person names it: `caster.example`, `caster.example:2102`, `ntrips://caster.example`.
package struct CasterAddress: Sendable, Hashable {
  package let server: ServerAddress
  package let isEncrypted: Bool

  /// Reads the address of a caster. Returns `nil` for text that is not an address, or that contains a user name or a path.
  package init?(_ text: String) {
    isEncrypted = text.hasPrefix("ntrips://")
    let rest = ["ntrips://", "ntrip://"].first { text.hasPrefix($0) }.map {
      text.dropFirst($0.count)
    }
    guard
      let server = ServerAddress(
        host: String(rest ?? text[...]),
        defaultPort: isEncrypted
          ? CorrectionSource.encryptedPort : CorrectionSource.usualPort),
      case .tcp(let host, _) = server, host.utf8.allSatisfy({ $0 > 32 && $0 < 127 && $0 != 64 })
    else { return nil }
    self.server = server
  }
}

/// Why a caster's source table cannot be shown.
package struct CasterProblem: Error, CustomStringConvertible {
  package enum Kind {
    /// There is no connection, or no answer.
    case unreachable
    /// The caster wants another password.
    case refused
    /// It is no caster.
    case foreign
  }

  package let kind: Kind
  /// The message, in one line.
  package let description: String

  fileprivate init(_ failure: CasterFailure) {
    kind =
      switch failure.kind {
      case .unreachable: .unreachable
      case .refused: .refused
      case .foreign: .foreign
      }
    description = failure.description
  }
}

/// A talk with a caster in the time of the caller.
package struct CasterConversation {
  /// Seconds between two looks.
  private static let interval = 0.02

  private let provider: any BusProvider
  private let wait: (_ seconds: Double) -> Void

  package init(_ provider: any BusProvider, wait: @escaping (_ seconds: Double) -> Void) {
    (self.provider, self.wait) = (provider, wait)
  }

  /// Fetches the source table of a caster. Takes as long as its deadlines allow: at most 10 s for each of two connections, and 30 s
  /// for the table.
  package func report(
    on caster: CasterAddress, credentials: String?
  ) throws(CasterProblem) -> SourceTableReport {
    var client = SourceTableClient(
      host: caster.server.description, program: "Lodestone/\(LodestoneRuntime.version)",
      credentials: credentials)
    var stream: (any NetworkStream)?
    var buffer = [UInt8](repeating: 0, count: 16_384)
    var isAsked = false
    while true {
      let now = provider.now()
      client.step(at: now)
      switch client.state {
      case .table(let table): return SourceTableReport(table)
      case .failed(let failure): throw CasterProblem(failure)
      case .connect where isAsked: (stream, isAsked) = (nil, false)
      case .connect, .underWay: break
      }
      do throws(BusError) {
        let open: any NetworkStream
        if let stream {
          open = stream
        } else {
          open = try connect(caster.server, caster.isEncrypted)
          stream = open
        }
        let count = try Self.read(open, &buffer)
        if open.isOpen, !isAsked {
          isAsked = true
          try Self.write(client.connected(at: now), to: open)
        }
        if count > 0 {
          client.received(Array(buffer[..<count]), at: now)
        } else {
          wait(Self.interval)
        }
      } catch {
        client.lost(error.connectionWords)
      }
    }
  }

  /// How the corrections of a receiver come, without a position: a caster that wants one may accept and send nothing. Ends with the
  /// first frame, the first failure, or after `seconds`.
  func trial(
    _ source: CorrectionSource, within seconds: Double
  ) -> (status: CorrectionStatus, cause: CorrectionFailureCause?) {
    var source = source
    source.sendsPosition = false
    var client = CorrectionClient(source, program: "Lodestone/\(LodestoneRuntime.version)")
    client.setWanted(true)
    var stream: (any NetworkStream)?
    var credentials: String?
    var buffer = [UInt8](repeating: 0, count: 4_096)
    let start = provider.now()
    while true {
      let now = provider.now()
      let command = client.step(at: now)
      let status = client.status(at: now)
      let isOver = status.frames > 0 || status.failure != nil || now.seconds(since: start) > seconds
      if isOver { return (status, client.failureCause) }
      do {
        switch command {
        case .connect:
          credentials = try source.credentials.map { try CredentialFile.read($0) }
          stream = try connect(.tcp(host: source.host, port: source.port), source.isEncrypted)
        case .disconnect: stream = nil
        case nil: break
        }
        guard let stream else {
          wait(Self.interval)
          continue
        }
        let wasOpen = stream.isOpen
        let count = try Self.read(stream, &buffer)
        if stream.isOpen, !wasOpen { client.connected(credentials: credentials, at: now) }
        let output = client.takeOutput()
        if !output.isEmpty { try Self.write(output, to: stream) }
        if count > 0 {
          client.received(Array(buffer[..<count]), at: now) { _ in }
        } else {
          wait(Self.interval)
        }
      } catch let error as BusError {
        stream = nil
        client.lost(error.connectionWords, at: now)
      } catch {
        client.failed("\(error)", at: now)
      }
    }
  }

  private func connect(
    _ server: ServerAddress, _ isEncrypted: Bool
  ) throws(BusError) -> any NetworkStream {
    try provider.networkStream(
      to: server, isEncrypted: isEncrypted, within: CorrectionClient.connectionTime)
  }

  private static func read(
    _ stream: any NetworkStream, _ buffer: inout [UInt8]
  ) throws(BusError) -> Int {
    let result: Result<Int, BusError> = buffer.withUnsafeMutableBytes { bytes in
      do throws(BusError) { return .success(try stream.read(into: bytes)) } catch {
        return .failure(error)
      }
    }
    return try result.get()
  }

  private static func write(
    _ bytes: [UInt8], to stream: any NetworkStream
  ) throws(BusError) {
    let failure: BusError? = bytes.withUnsafeBytes { bytes in
      do throws(BusError) {
        try stream.write(bytes)
        return nil
      } catch { return error }
    }
    if let failure { throw failure }
  }
}

extension Doctor {
  /// Whether a receiver's corrections come: asked for 15 s, without its position.
  func corrections(_ sensor: Board.Sensor, _ source: CorrectionSource, _ index: Int) -> Finding {
    let (status, cause) = CasterConversation(provider, wait: wait).trial(source, within: 15)
    let place = "\(sensor.chip): corrections"
    if let failure = status.failure {
      return Finding(
        .problem, "\(place): none from \(source.caster)/\(source.mountpoint): \(failure)",
        mend: source.credentials.flatMap(CredentialFile.mend(ofProblemWith:))
          ?? Self.mend(of: cause ?? .caster, source, line: sensor.line),
        sensor: index)
    }
    if status.frames == 0, status.rejected > 0 {
      return Finding(
        .problem,
        "\(place): \(source.description) sends \(status.rejected) bytes within 15 s and no RTCM 3",
        mend: Self.table(of: source)
          + "   # shows the formats; 'mountpoint' is to be one of RTCM 3",
        sensor: index)
    }
    guard status.frames > 0 else {
      return Finding(
        .note, "\(place): \(source.description) accepts and sends nothing within 15 s",
        mend: source.sendsPosition
          ? "lodestone gnss   # it may wait for the receiver's position, which doctor does not send"
          : "sendsPosition: true   # in 'corrections': it may wait for the receiver's position",
        sensor: index)
    }
    return Finding(.good, "\(place) from \(source.description)", sensor: index)
  }

  /// The step that mends missing corrections.
  ///
  /// - Parameter line: The line of the receiver in the board file.
  static func mend(
    of cause: CorrectionFailureCause, _ source: CorrectionSource, line: Int
  ) -> String {
    let entry = "in 'corrections' of the board file, line \(line)"
    switch cause {
    case .mountpoint, .caster: return table(of: source) + "   # what the caster has"
    case .login:
      return source.credentials.map {
        "correct USER:PASSWORD in \($0), or ask the caster's operator"
      } ?? "credentials: FILE   # \(entry): a file of mode 600 with USER:PASSWORD"
    case .unreachable:
      return
        "nc -vz \(source.host) \(source.port)   # tries the connection; correct 'caster' \(entry)"
    case .foreign:
      let usual =
        source.isEncrypted ? CorrectionSource.encryptedPort : CorrectionSource.usualPort
      return "caster: HOST:PORT   # \(entry): the caster's own port, usually \(usual)"
    }
  }

  /// The command that shows the source table of a caster.
  private static func table(of source: CorrectionSource) -> String {
    let login = source.credentials.map { " --ntrip-credentials \($0)" } ?? ""
    return
      "lodestone gnss --ntrip-sources \(source.isEncrypted ? "ntrips://" : "")\(source.caster)\(login)"
  }
}
