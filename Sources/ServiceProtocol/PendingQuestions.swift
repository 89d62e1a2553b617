// A program's questions, until they are answered.

import LocationServices

/// The questions of a program that have no answer yet.
///
/// The daemon hangs up on a program that asks too many at once, so some are held back. A statement outlives the connection
/// and the wait for its answer.
struct PendingQuestions: Sendable {
  private let most: Int
  private var last: UInt64 = 0
  private var questions: [UInt64: ServiceQuestion] = [:]
  /// The questions of this connection that the daemon has not answered, and those that wait until it has.
  private var (asked, held): (Set<UInt64>, [UInt64]) = ([], [])
  /// Statements whose answer nobody waits for any more.
  private var abandoned: Set<UInt64> = []

  init(most: Int) { self.most = most }

  /// Adds a question and returns its number.
  mutating func add(_ question: ServiceQuestion) -> UInt64 {
    last += 1
    questions[last] = question
    return last
  }

  /// Returns a question that is to be asked now, or `nil` if it is held back.
  mutating func begin(_ number: UInt64) -> ServiceQuestion? {
    guard let question = questions[number] else { return nil }
    guard asked.count < most else {
      held.append(number)
      return nil
    }
    asked.insert(number)
    return question
  }

  /// Takes note that the daemon is done with a question, and returns whether somebody waits for the answer.
  mutating func end(_ number: UInt64) -> Bool {
    asked.remove(number)
    let isAbandoned = abandoned.remove(number) != nil
    return questions.removeValue(forKey: number) != nil && !isAbandoned
  }

  /// Returns the next question that was held back, if it can be asked now.
  mutating func nextHeld() -> UInt64? {
    asked.count < most && !held.isEmpty ? held.removeFirst() : nil
  }

  /// Takes note that nobody waits for an answer any more. A statement stays.
  mutating func abandon(_ number: UInt64) {
    guard let question = questions[number] else { return }
    if question.isStatement { abandoned.insert(number) } else { questions[number] = nil }
  }

  /// Begins a connection, on which nothing was asked yet.
  mutating func restart() { (asked, held) = ([], []) }

  /// Ends a connection. Returns the questions whose answer is waited for in vain, in order.
  mutating func lose() -> [UInt64] {
    let lost = questions.keys.filter { !abandoned.contains($0) }.sorted()
    for number in lost { abandon(number) }
    return lost
  }

  /// The statements, or all other questions, in order.
  func numbers(areStatements: Bool) -> [UInt64] {
    questions.filter { $0.value.isStatement == areStatements }.keys.sorted()
  }
}
