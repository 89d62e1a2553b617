// What the library has to say about the program that uses it.

import Glibc
import Synchronization

/// Lines for a program's author, each said once, and who takes them.
final class DiagnosticLog: Sendable {
  /// Lines that are remembered as said; a program has fewer classes.
  static let limit = 1_000

  private let state = Mutex(DiagnosticLogState())

  /// Takes each new line.
  var handler: LodestoneRuntime.DiagnosticHandler {
    get { state.withLock { $0 }.handler }
    set { state.withLock { $0.handler = newValue } }
  }

  /// Says a line, unless it was said before.
  func add(_ line: String) {
    let state = state.withLock { state -> DiagnosticLogState? in
      guard state.said.count < Self.limit, state.said.insert(line).inserted else { return nil }
      return state
    }
    state?.handler(line)
  }
}

// The closure stands in a struct: Swift 6.0 dies when it optimises a closure that a mutex holds bare.
struct DiagnosticLogState: Sendable {
  var said: Set<String> = []
  var handler: LodestoneRuntime.DiagnosticHandler = { line in
    LineOutput.write("lodestone: \(line)", to: STDERR_FILENO)
  }
}
