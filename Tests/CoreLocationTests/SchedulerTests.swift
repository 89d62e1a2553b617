import Combine
import CoreLocation
import FacadeTestSupport
import Synchronization
import Testing

struct SchedulerTests {
  /// What has come, on which thread it does not matter.
  private final class Heard: Sendable {
    private let state = Mutex<[String]>([])
    var all: [String] { state.withLock { $0 } }
    func note(_ text: String) { state.withLock { $0.append(text) } }
  }

  @Test(
    "values come on the run loop, the queue and the operation queue that are asked for, in order")
  func receiving() async {
    let heard = await onThread {
      let heard = (Heard(), Heard(), Heard())
      let (queue, operations) = (DispatchQueue(label: "test"), OperationQueue())
      operations.maxConcurrentOperationCount = 1
      let subject = PassthroughSubject<Int, Never>()
      let subscriptions = [
        subject.receive(on: RunLoop.current).sink { heard.0.note("\($0)") },
        subject.receive(on: queue).sink { heard.1.note("\($0)") },
        subject.receive(on: operations).sink { heard.2.note("\($0)") },
      ]
      for value in 0..<20 { subject.send(value) }
      let before = heard.0.all
      turn { heard.0.all.count == 20 }
      queue.sync {}
      operations.waitUntilAllOperationsAreFinished()
      return withExtendedLifetime(subscriptions) {
        [before, heard.0.all, heard.1.all, heard.2.all]
      }
    }
    let all = (0..<20).map { "\($0)" }
    #expect(heard[0] == [])
    #expect(heard[1] == all && heard[2] == all && heard[3] == all)
  }

  @Test("of what comes in a burst the last is left, on each scheduler")
  func debounce() async {
    let heard = await onThread {
      let (heard, done) = (Heard(), DispatchSemaphore(value: 0))
      @Sendable func note(_ text: String) {
        heard.note(text)
        done.signal()
      }
      let subject = PassthroughSubject<Int, Never>()
      let subscriptions = [
        subject.debounce(for: .milliseconds(20), scheduler: RunLoop.current)
          .sink { note("loop \($0)") },
        subject.debounce(for: .milliseconds(20), scheduler: DispatchQueue.global())
          .sink { note("queue \($0)") },
        subject.debounce(for: 0.02, scheduler: OperationQueue()).sink { note("operations \($0)") },
      ]
      for value in 0..<5 { subject.send(value) }
      turn { heard.all.contains("loop 4") }
      for _ in 0..<3 { _ = done.wait(timeout: .now() + 10) }
      return withExtendedLifetime(subscriptions) { heard.all.sorted() }
    }
    #expect(heard == ["loop 4", "operations 4", "queue 4"])
  }

  @Test("a timer publishes while it is connected, a notification while it is subscribed to")
  func publishers() async {
    let counts = await onThread {
      let (ticks, notes) = (Heard(), Heard())
      let timer = Timer.publish(every: 0.005, on: .current, in: .default).autoconnect()
        .sink { _ in ticks.note("tick") }
      // A timer alone does not end a turn.
      for _ in 0..<1_000 where ticks.all.count < 3 {
        RunLoop.current.run(until: Date(timeIntervalSinceNow: 0.01))
      }
      timer.cancel()
      let count = ticks.all.count
      let (center, name) = (NotificationCenter(), Notification.Name("moved"))
      let subscription = center.publisher(for: name).compactMap { $0.userInfo?["to"] as? String }
        .sink { notes.note($0) }
      center.post(name: name, object: nil, userInfo: ["to": "Berlin"])
      center.post(name: Notification.Name("other"), object: nil)
      subscription.cancel()
      center.post(name: name, object: nil, userInfo: ["to": "Rome"])
      _ = RunLoop.current.run(mode: .default, before: Date(timeIntervalSinceNow: 0.02))
      return (count, ticks.all.count, notes.all)
    }
    #expect(counts.0 >= 3 && counts.1 == counts.0)
    #expect(counts.2 == ["Berlin"])
  }

  @Test("moments and spans add up")
  func arithmetic() {
    #expect(SchedulerInterval.milliseconds(1_500) == 1.5 && SchedulerInterval(-2).magnitude == 2)
    #expect(SchedulerDate(.distantPast).distance(to: SchedulerDate(.distantPast)) == 0)
  }
}
