// Values on their way from one thread to another.

import Dispatch
import Inboxes
import Synchronization
import Testing

struct InboxTests {
  private enum Kind: Hashable, Sendable {
    case news
    case letter
    case parcel
    case leaflet
  }

  private struct Mail: Hashable, Sendable {
    var kind: Kind
    var number: Int
    var weight = 1
  }

  private typealias MailInbox = Inbox<Mail, Kind>

  private final class Count: Sendable {
    private let number = Atomic<Int>(0)
    var value: Int { number.load(ordering: .relaxed) }
    func add(_ more: Int) -> Int { number.add(more, ordering: .relaxed).newValue }
  }

  private static let limits: @Sendable (Kind) -> InboxLimit = { kind in
    switch kind {
    case .news: .newest
    case .letter: .oldestGo(4, together: 2)
    case .parcel: .oldestGo(10)
    case .leaflet: .newGoes(3)
    }
  }

  private func inbox(losesWhileHeld: Bool = false) -> MailInbox {
    MailInbox(
      InboxPolicy(
        kind: { $0.number < 0 ? nil : $0.kind }, limit: Self.limits, weight: \.weight,
        isCounted: { $0 != .letter }, losesWhileHeld: losesWhileHeld))
  }

  private func numbers(_ inbox: MailInbox) -> [Int] {
    var numbers: [Int] = []
    while let mail = inbox.take() { numbers.append(mail.number) }
    return numbers
  }

  @Test("what came first is taken first, and what the policy does not want is not taken in")
  func order() {
    let inbox = inbox()
    inbox.post(Mail(kind: .leaflet, number: 1))
    inbox.post(Mail(kind: .parcel, number: 2))
    inbox.post(Mail(kind: .letter, number: -3))
    inbox.post(Mail(kind: .letter, number: 4))
    #expect(inbox.count == 3 && numbers(inbox) == [1, 2, 4] && inbox.take() == nil)
  }

  @Test("the newest of a kind takes the place of the one before it, behind the others")
  func newest() {
    let inbox = inbox()
    for number in 0..<3 {
      inbox.post(Mail(kind: .news, number: number))
      inbox.post(Mail(kind: .parcel, number: 10 + number))
    }
    #expect(inbox.dropped == 0 && numbers(inbox) == [10, 11, 2, 12])
  }

  @Test("the oldest go, as many together as the limit says, and only counted kinds are counted")
  func oldest() {
    let inbox = inbox()
    for number in 0..<4 { #expect(inbox.post(Mail(kind: .letter, number: number)) == 0) }
    // The fifth takes the first two with it.
    #expect(inbox.post(Mail(kind: .letter, number: 4)) == 0)
    #expect(inbox.dropped == 0 && numbers(inbox) == [2, 3, 4])
  }

  @Test("weights count: against the limit, and as what is lost")
  func weights() {
    let inbox = inbox()
    inbox.post(Mail(kind: .parcel, number: 0, weight: 4))
    inbox.post(Mail(kind: .parcel, number: 1, weight: 6))
    #expect(inbox.count == 2)
    #expect(inbox.post(Mail(kind: .parcel, number: 2, weight: 1)) == 4)
    // More than all is taken alone.
    #expect(inbox.post(Mail(kind: .parcel, number: 3, weight: 50)) == 7)
    #expect(inbox.dropped == 11 && numbers(inbox) == [3])
  }

  @Test("a new one for which there is no room stays out, and is counted")
  func full() {
    let inbox = inbox()
    for number in 0..<3 { #expect(inbox.post(Mail(kind: .leaflet, number: number)) == 0) }
    #expect(inbox.post(Mail(kind: .leaflet, number: 3)) == 1)
    // Each kind has its own room.
    #expect(inbox.post(Mail(kind: .parcel, number: 4)) == 0)
    #expect(inbox.dropped == 1 && numbers(inbox) == [0, 1, 2, 4])
  }

  @Test("taking by kind, together, and all at once")
  func taking() {
    let inbox = inbox()
    for number in 0..<3 { inbox.post(Mail(kind: .parcel, number: number)) }
    inbox.post(Mail(kind: .news, number: 3))
    for number in 4..<6 { inbox.post(Mail(kind: .parcel, number: number)) }
    #expect(inbox.contains { $0 == .news } && !inbox.contains { $0 == .letter })
    #expect(inbox.take(.news)?.number == 3 && inbox.take(.news) == nil)
    inbox.post(Mail(kind: .leaflet, number: 6))
    inbox.post(Mail(kind: .parcel, number: 7))
    let run = inbox.take({ $0 != .news }, together: { $0 == .parcel })
    #expect(run.map(\.number) == [0, 1, 2, 4, 5])
    #expect(inbox.take({ $0 == .parcel }, together: { _ in false }).map(\.number) == [7])
    inbox.post(Mail(kind: .letter, number: 8))
    inbox.discard { $0 == .leaflet }
    var batch = [Mail(kind: .news, number: 99)]
    inbox.takeAll(into: &batch)
    #expect(batch.map(\.number) == [8] && inbox.count == 0 && inbox.dropped == 0)
  }

  @Test("after a restart a former ticket gets nothing")
  func tickets() {
    let inbox = inbox()
    let first = inbox.restart()
    inbox.post(Mail(kind: .parcel, number: 1))
    inbox.post(Mail(kind: .parcel, number: 2))
    #expect(inbox.take(by: first)?.number == 1)
    let second = inbox.restart()
    #expect(inbox.take(by: first) == nil && inbox.take(by: second) == nil)
    inbox.post(Mail(kind: .parcel, number: 3))
    #expect(inbox.take(by: first) == nil && inbox.take(by: second)?.number == 3)
  }

  @Test("while it is held nothing is handed out, by any way; it waits, or it is lost")
  func holding() {
    for losesWhileHeld in [false, true] {
      let inbox = inbox(losesWhileHeld: losesWhileHeld)
      let ticket = inbox.restart()
      inbox.post(Mail(kind: .parcel, number: 1))
      inbox.hold(true)
      inbox.post(Mail(kind: .news, number: 2))
      var batch: [Mail] = []
      inbox.takeAll(into: &batch)
      #expect(inbox.isHeld && batch.isEmpty && inbox.take() == nil && inbox.take(.news) == nil)
      #expect(inbox.take(by: ticket) == nil)
      #expect(inbox.take({ _ in true }, together: { _ in true }).isEmpty)
      inbox.hold(false)
      #expect(numbers(inbox) == (losesWhileHeld ? [] : [1, 2]))
      #expect(inbox.dropped == 0)
    }
  }

  @Test("whoever is woken is woken once a round, when it is held no more, and when it is closed")
  func waking() {
    let inbox = inbox()
    let wakes = Count()
    inbox.setWake(.atOnce { _ = wakes.add(1) })
    func count() -> Int { wakes.value }
    inbox.post(Mail(kind: .parcel, number: -1))
    #expect(count() == 0)
    for number in 0..<3 { inbox.post(Mail(kind: .parcel, number: number)) }
    #expect(count() == 1)
    #expect(inbox.beginRound().count == 3)
    inbox.post(Mail(kind: .parcel, number: 3))
    #expect(count() == 2)
    inbox.beginRound()
    inbox.hold(true)
    inbox.post(Mail(kind: .parcel, number: 4))
    #expect(count() == 2)
    inbox.hold(false)
    #expect(count() == 3)
    inbox.close()
    #expect(count() == 4 && inbox.isClosed && inbox.take() == nil)
    inbox.post(Mail(kind: .parcel, number: 5))
    #expect(count() == 4 && inbox.count == 0)
  }

  @Test("of many threads nothing is lost, and no wake either")
  func threads() {
    let (threads, posts) = (4, 25_000)
    let inbox = Inbox<Int, OneKind>(InboxPolicy(.all))
    let sum = Count()
    let isDone = DispatchSemaphore(value: 0)
    inbox.setWake(
      .onQueue { [weak inbox] in
        guard let inbox else { return }
        inbox.beginRound()
        while let number = inbox.take() {
          if sum.add(number) == threads * posts { isDone.signal() }
        }
      })
    DispatchQueue.concurrentPerform(iterations: threads) { _ in
      for _ in 0..<posts { inbox.post(1) }
    }
    // A lost wake would leave it waiting.
    #expect(isDone.wait(timeout: .now() + 60) == .success)
    #expect(inbox.count == 0 && inbox.dropped == 0)
  }

  @Test("what comes while a round runs leads to one more round, and nothing is lost")
  func merging() {
    let inbox = Inbox<Int, OneKind>(InboxPolicy(.all))
    let (rounds, sum) = (Count(), Count())
    let (gate, isIn) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    inbox.setWake(
      .onQueue { [weak inbox] in
        inbox?.beginRound()
        if rounds.add(1) == 1 {
          isIn.signal()
          _ = gate.wait(timeout: .now() + 300)
        }
        while let number = inbox?.take() { _ = sum.add(number) }
      })
    inbox.post(1)
    #expect(isIn.wait(timeout: .now() + 300) == .success)
    for _ in 0..<1_000 { inbox.post(1) }
    #expect(sum.value == 0)
    gate.signal()
    inbox.settle()
    #expect(rounds.value == 2 && sum.value == 1_001)
  }

  /// Posts into its inbox when it ends, as a closure of an application's may.
  private final class Echo: Sendable {
    let inbox: Inbox<Echo?, OneKind>
    init(_ inbox: Inbox<Echo?, OneKind>) { self.inbox = inbox }
    deinit { inbox.post(nil) }
  }

  @Test("what was dropped ends without the lock: it may come back to the inbox")
  func endings() {
    let inbox = Inbox<Echo?, OneKind>(InboxPolicy(.newest))
    inbox.post(Echo(inbox))
    // Dropped for another, thrown away, lost to a restart, and at the end.
    inbox.post(Echo(inbox))
    inbox.post(Echo(inbox))
    inbox.discard { _ in true }
    inbox.post(Echo(inbox))
    inbox.restart()
    inbox.post(Echo(inbox))
    inbox.close()
    #expect(inbox.count == 0)
  }
}
