// Who is asked where a rule of the owner says that somebody is.

import FacadeTestSupport
import Foundation
import LocationDaemon
import LocationServices
import Lodestone
import Synchronization
import Testing

struct OwnerAgentTests {
  /// An agent that answers as it is told to, and counts what it was asked.
  private final class Agent: AuthorizationAgent {
    private let asked = Mutex<[AuthorizationClient]>([])
    private let answer: AuthorizationAnswer?
    private let isPatient: Bool
    private let ended = Atomic<Int>(0)
    var clients: [AuthorizationClient] { asked.withLock { $0 } }
    /// The number of prompts that were taken down.
    var takenDown: Int { ended.load(ordering: .relaxed) }

    /// - Parameter isPatient: Whether it never answers, as a person who has gone for lunch.
    init(_ answer: AuthorizationAnswer?, isPatient: Bool = false) {
      (self.answer, self.isPatient) = (answer, isPatient)
    }

    func reply(
      to prompt: AuthorizationPrompt, of client: AuthorizationClient,
      whileIt stands: @Sendable () -> Bool
    ) -> AuthorizationReply? {
      asked.withLock { $0.append(client) }
      guard isPatient else { return answer.map { AuthorizationReply($0) } }
      while stands() { sched_yield() }
      ended.add(1, ordering: .relaxed)
      return nil
    }
  }

  private static let rule = """
    schema: 1
    rules:
      - user: "\(geteuid())"
        authorization: ask

    """

  /// A program that has an agent of the owner, and as the daemon knows it.
  private func serve(_ agent: Agent, _ bench: DaemonBench) throws -> DaemonPort {
    let port = try bench.program()
    let before = bench.daemon?.status.agents ?? 0
    port.serveOwner(agent)
    #expect(eventually { bench.daemon?.status.agents == before + 1 })
    return port
  }

  /// A program that asks for authorization.
  private func asks(_ port: DaemonPort, _ listener: Listener) -> ClientID {
    let client = port.connect(listener)
    port.send(ServiceRequest(client, .requestAuthorization(.whenInUse)))
    return client
  }

  @Test("the owner's agent answers, and the program's own is not asked")
  func owner() throws {
    let bench = try DaemonBench(rules: Self.rule)
    let agent = Agent(.allowWhileUsing)
    let terminal = try serve(agent, bench)
    let port = try bench.program()
    let own = Agent(.allowWhileUsing)
    port.authorizationAgent = own
    let listener = Listener()
    _ = asks(port, listener)
    #expect(
      listener.hears {
        if case .authorization(let now) = $0 { now.status == .whenInUse } else { false }
      })
    #expect(agent.clients.map(\.executable) == [port.ask(.program)?.client.executable])
    #expect(own.clients.isEmpty)
    withExtendedLifetime(terminal) {}
  }

  @Test("without an agent of the owner nobody answers, whatever agent the program has")
  func nobody() throws {
    let bench = try DaemonBench(rules: Self.rule)
    let port = try bench.program()
    let own = Agent(.allowWhileUsing)
    port.authorizationAgent = own
    let listener = Listener()
    _ = asks(port, listener)
    port.settle()
    #expect(eventually { port.ask(.authorization).isBeingAsked == false })
    #expect(port.ask(.authorization).status == .notDetermined)
    #expect(own.clients.isEmpty)
    // The next request is answered, once there is one.
    let terminal = try serve(Agent(.dontAllow), bench)
    _ = asks(port, Listener())
    #expect(eventually { port.ask(.authorization).status == .denied })
    withExtendedLifetime(terminal) {}
  }

  @Test("of several agents the first answer counts, and the prompt goes from the others")
  func several() throws {
    let bench = try DaemonBench(rules: Self.rule)
    let (slow, quick) = (Agent(nil, isPatient: true), Agent(.allowWhileUsing))
    let lunch = try serve(slow, bench)
    let port = try bench.program()
    _ = asks(port, Listener())
    #expect(eventually { slow.clients.count == 1 })
    #expect(port.ask(.authorization).isBeingAsked)
    // It comes later, and is shown what stands.
    let desk = try serve(quick, bench)
    #expect(eventually { port.ask(.authorization).status == .whenInUse })
    #expect(eventually { slow.takenDown == 1 })
    withExtendedLifetime((lunch, desk)) {}
  }

  @Test("when the last agent goes, what stands is answered by nobody")
  func gone() throws {
    let bench = try DaemonBench(rules: Self.rule)
    let agent = Agent(nil, isPatient: true)
    var terminal: DaemonPort? = try serve(agent, bench)
    #expect(terminal != nil)
    let port = try bench.program()
    _ = asks(port, Listener())
    #expect(eventually { agent.clients.count == 1 })
    terminal = nil
    #expect(eventually { !port.ask(.authorization).isBeingAsked })
    #expect(port.ask(.authorization).status == .notDetermined)
  }

  @Test("when the program goes, its prompt is taken down")
  func withdrawn() throws {
    let bench = try DaemonBench(rules: Self.rule)
    let agent = Agent(nil, isPatient: true)
    let terminal = try serve(agent, bench)
    var port: DaemonPort? = try bench.program()
    if let port { _ = asks(port, Listener()) }
    #expect(eventually { agent.clients.count == 1 })
    port = nil
    #expect(eventually { agent.takenDown == 1 })
    withExtendedLifetime(terminal) {}
  }

  @Test("a user who is not the owner's is no agent, and sees no programs")
  func stranger() throws {
    guard geteuid() != 0 else { return }
    let bench = try DaemonBench(rules: Self.rule, owners: [])
    let terminal = try bench.program()
    let agent = Agent(.allowWhileUsing)
    terminal.serveOwner(agent)
    #expect(terminal.ask(.daemon)?.programs == nil)
    let port = try bench.program()
    _ = asks(port, Listener())
    port.settle()
    #expect(eventually { !port.ask(.authorization).isBeingAsked })
    #expect(agent.clients.isEmpty)
  }

  @Test("without a rule a program's own agent decides, in the daemon as in its own process")
  func own() throws {
    let bench = try DaemonBench()
    let port = try bench.program()
    let agent = Agent(.dontAllow)
    port.authorizationAgent = agent
    _ = asks(port, Listener())
    #expect(eventually { port.ask(.authorization).status == .denied })
    #expect(agent.clients.count == 1)
  }

  @Test("rules that change are heard with the next reload, and a decision is kept for the next run")
  func reload() throws {
    let bench = try DaemonBench(rules: Self.rule)
    let terminal = try serve(Agent(.allowWhileUsing), bench)
    var port: DaemonPort? = try bench.program()
    _ = asks(try #require(port), Listener())
    #expect(eventually { port?.ask(.authorization).status == .whenInUse })
    try bench.write(rules: Self.rule.replacingOccurrences(of: "ask", with: "denied"))
    bench.daemon?.reload()
    #expect(port?.ask(.authorization).status == .denied)
    try bench.write(rules: Self.rule)
    bench.daemon?.reload()
    #expect(port?.ask(.authorization).status == .whenInUse)
    port = nil
    let next = try bench.program()
    #expect(eventually { next.ask(.authorization).status == .whenInUse })
    withExtendedLifetime(terminal) {}
  }
}
