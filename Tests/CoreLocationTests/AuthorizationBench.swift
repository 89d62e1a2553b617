// A program that somebody is asked about.

import FacadeTestSupport
import LocationServices
import Lodestone
import SensorTypes
import Synchronization

@testable import CoreLocation

/// Somebody who is asked, and answers when a test says so.
final class ScriptedAgent: AuthorizationAgent {
  private let prompts = Mutex<[AuthorizationPrompt]>([])
  private let replies = Mutex<[AuthorizationReply?]>([])
  private let wasAnswered = DispatchSemaphore(value: 0)

  /// What was asked up to now.
  var asked: [AuthorizationPromptKind] { prompts.withLock { $0.map(\.kind) } }

  func answer(_ answer: AuthorizationAnswer?, _ accuracy: AccuracyAuthorization? = nil) {
    replies.withLock { $0.append(answer.map { AuthorizationReply($0, accuracy: accuracy) }) }
    wasAnswered.signal()
  }

  func reply(
    to prompt: AuthorizationPrompt, of client: AuthorizationClient,
    whileIt stands: @Sendable () -> Bool
  ) -> AuthorizationReply? {
    prompts.withLock { $0.append(prompt) }
    guard wasAnswered.wait(timeout: .now() + 600) == .success else { return nil }
    return replies.withLock { $0.removeFirst() }
  }
}

/// A runtime whose authorization file has one rule for the program, on a board of its own.
final class AuthorizationBench {
  static let usage =
    "usage: {NSLocationWhenInUseUsageDescription: a, NSLocationAlwaysUsageDescription: b, "
    + "NSLocationTemporaryUsageDescriptionDictionary: {route: c}}"

  let source = ScriptedSource()
  let agent = ScriptedAgent()
  let runtime: LodestoneRuntime
  let folder: URL
  private let isOwner: Bool
  private var now = 0.0

  /// - Parameter folder: That of an earlier bench, where it is another run of its program.
  init(_ rule: String = "authorization: ask, \(usage)", in former: URL? = nil) {
    folder =
      former
      ?? FileManager.default.temporaryDirectory
      .appending(path: "lodestone-authorization-\(UUID().uuidString)")
    isOwner = former == nil
    try? FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let policy = folder.appending(path: "authorization.yaml")
    try? Data("schema: 1\nrules:\n  - {\(rule)}\n".utf8).write(to: policy)
    runtime = LodestoneRuntime(
      source: source,
      authorization: AuthorizationSetup(
        of: AuthorizationClient(executable: "/usr/bin/boat", user: 1),
        policies: [AuthorizationPolicy(policy)], propertyList: nil, decisionsIn: folder))
    runtime.authorizationAgent = agent
  }

  deinit { if isOwner { try? FileManager.default.removeItem(at: folder) } }

  /// A manager whose delegate has heard how it stands; belongs to one thread.
  func manager(_ spy: any CLLocationManagerDelegate) -> CLLocationManager {
    let manager = CLLocationManager(port: runtime)
    manager.delegate = spy
    if let spy = spy as? Spy { turn { !spy.log.authorizations.isEmpty } }
    return manager
  }

  /// Runs on a thread of its own, with a manager whose delegate has heard how it stands.
  static func run<Result: Sendable>(
    _ rule: String = "authorization: ask, \(usage)",
    _ body: @escaping @Sendable (AuthorizationBench, Spy, CLLocationManager) -> Result
  ) async -> Result {
    await onThread {
      let (bench, spy) = (AuthorizationBench(rule), Spy())
      return body(bench, spy, bench.manager(spy))
    }
  }

  /// Has somebody asked for the first time, who answers; the delegate has heard of it afterwards.
  func ask(
    _ request: () -> Void, _ spy: Spy, _ answer: AuthorizationAnswer,
    _ accuracy: AccuracyAuthorization? = nil
  ) {
    request()
    waits(forPrompts: 1)
    agent.answer(answer, accuracy)
    turn { spy.log.authorizations.count == 2 }
  }

  func fix(_ latitude: Double, _ longitude: Double = 13) {
    now += 30
    source.publish(.location(latitude, longitude, at: now))
  }

  /// Waits until so many were asked; on a thread that turns its loop the answer may be on its way.
  func waits(forPrompts count: Int) { turnWithoutEvents { agent.asked.count >= count } }
}

/// Waits for something that wakes no run loop, ten seconds at most; returns whether it has come.
@discardableResult
func turnWithoutEvents(until condition: () -> Bool) -> Bool {
  let deadline = Date(timeIntervalSinceNow: 10)
  while !condition() {
    guard Date() < deadline else { return false }
    _ = RunLoop.current.run(mode: .default, before: Date(timeIntervalSinceNow: 0.005))
    Thread.sleep(forTimeInterval: 0.002)
  }
  return true
}
