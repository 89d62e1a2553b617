import SensorTypes

#if FUZZ
  // The fuzzers are a package of their own, which sees no package declarations.
  @testable import LocationServices
  @testable import ServiceProtocol
#else
  import LocationServices
  import ServiceProtocol
#endif

/// What holds of both ends of a connection between a program and the daemon, whatever the other end says.
package enum ServiceChecks {
  private static let client = ClientID(rawValue: 5)

  /// Checks the daemon's end against what a program says, before and after its greeting.
  package static func daemonEnd(_ bytes: [UInt8]) -> [String] {
    var program = ProgramEnd(software: "1")
    program.connected(at: 0)
    let greeting = program.takeOutput()
    return conversation(withProgram: bytes) + conversation(withProgram: greeting + bytes)
  }

  /// Checks a program's end against what a daemon says, before and after its greeting.
  package static func programEnd(_ bytes: [UInt8]) -> [String] {
    var (program, daemon) = (ProgramEnd(software: "1"), daemon())
    program.connected(at: 0)
    _ = daemon.receive(program.takeOutput(), at: 0)
    let greeting = daemon.next() ?? []
    return conversation(withDaemon: bytes) + conversation(withDaemon: greeting + bytes)
  }

  private static let prompt = AuthorizationPrompt(
    number: 3, kind: .always, usage: "to log trips", accuracy: .full)

  private static func daemon() -> DaemonEnd {
    DaemonEnd(hello: DaemonHello(version: 0, software: "2", run: 1, board: "boat", clock: 0), at: 0)
  }

  private static func pieces(_ bytes: [UInt8], of count: Int) -> [ArraySlice<UInt8>] {
    stride(from: 0, to: bytes.count, by: count).map { bytes[$0..<min($0 + count, bytes.count)] }
  }

  private static func conversation(withProgram bytes: [UInt8]) -> [String] {
    /// What the daemon's end reads and writes when the bytes come in pieces.
    func run(_ count: Int) -> (read: String, written: [UInt8], failures: [String]) {
      var end = daemon()
      var (read, written, failures): (String, [UInt8], [String]) = ("", [], [])
      for piece in pieces(bytes, of: count) {
        let wasClosed = end.isClosed
        let incoming = end.receive(piece, at: 0)
        if wasClosed, !incoming.isEmpty { failures.append("a closed end reads on") }
        for message in incoming {
          read += "\(message)\n"
          switch message {
          case .request(let number, let request):
            end.willCarryOut(number)
            end.send(ServiceEvent(client: request.client, content: .headingExpired))
            end.didCarryOut(number, request)
          case .question(let number, _): end.answer(number, .kept(true))
          case .agent(.program):
            end.ask(prompt, of: AuthorizationClient(executable: "/a", user: 1))
            end.tell(CalibrationProgress(coverage: 0.5))
          case .reply(let prompt, _, _): end.withdraw(prompt)
          case .greeted, .application, .agent: break
          }
        }
        while let frame = end.next() { written += frame }
      }
      if end.waitingCount != 0 { failures.append("bytes wait that nobody can take") }
      return (read, written, failures)
    }
    let (whole, cut) = (run(max(1, bytes.count)), run(1 + bytes.count % 7))
    var failures = whole.failures + cut.failures
    // A piece may bring the end of the connection before the answers to what came with it are written.
    if whole.read != cut.read { failures.append("pieces are read as something else") }
    var program = ProgramEnd(software: "1")
    program.connected(at: 0)
    for case .unusable(let reason) in program.receive(cut.written, at: 0) {
      failures.append("a program does not read what the daemon writes: \(reason)")
    }
    return failures
  }

  private static func conversation(withDaemon bytes: [UInt8]) -> [String] {
    func run(_ count: Int) -> (read: String, failures: [String]) {
      var (end, read, failures) = (ProgramEnd(software: "1"), "", [String]())
      var prompt: UInt64 = 0
      func check(_ written: [UInt8]) {
        var daemon = daemon()
        _ = daemon.receive(written, at: 0)
        if daemon.isClosed { failures.append("the daemon does not read what a program writes") }
      }
      end.connected(at: 0)
      end.set(agent: .program)
      for action: ServiceAction in [
        .register, .start(.heading), .startRanging(.init(uuid: .init(high: 1, low: 2))),
        .requestLocation, .allowDeferral(distance: 1, timeout: 1),
      ] {
        _ = end.send(ServiceRequest(client, action))
      }
      for question: ServiceQuestion in [.authorization, .regions(of: nil)] { _ = end.ask(question) }
      for piece in pieces(bytes, of: count) {
        for message in end.receive(piece, at: 0) {
          read += "\(message)\n"
          if case .authorizationPrompt(let shown, _) = message { prompt = shown.number }
        }
      }
      end.reply(to: prompt, .allowOnce, accuracy: .reduced)
      let isUsable = end.isOpen
      let written = end.takeOutput()
      if isUsable { check(written) }
      _ = end.disconnected("away")
      end.connected(at: 0)
      check(end.takeOutput())
      return (read, failures)
    }
    let (whole, cut) = (run(max(1, bytes.count)), run(1 + bytes.count % 7))
    var failures = whole.failures + cut.failures
    if whole.read != cut.read { failures.append("pieces are read as something else") }
    return failures
  }
}
