// What the library has to say about the program that uses it.

import Foundation
import Synchronization

/// Lines for a program's author, each said once, and who takes them.
final class DiagnosticLog: Sendable {
  /// Lines that are remembered as said; a program has fewer classes.
  static let limit = 1_000

  let state = Mutex(DiagnosticLogState())

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
    FileHandle.standardError.write(Data("lodestone: \(line)\n".utf8))
  }
}

extension LodestoneRuntime {
  /// Takes a line, on any thread.
  public typealias DiagnosticHandler = @Sendable (_ line: String) -> Void

  /// Takes what the library has to say about the program, a line each: a delegate that does not hear what it has asked
  /// for. Each is said once. At first it goes to standard error, because nobody who does not know of a mistake asks for
  /// it; a program that has a log of its own sets another one, or `{ _ in }`.
  public var diagnosticHandler: DiagnosticHandler {
    get { diagnostics.state.withLock { $0 }.handler }
    set { diagnostics.state.withLock { $0.handler = newValue } }
  }

  /// Says a line, unless it was said before.
  package func diagnose(_ line: String) { diagnostics.add(line) }
}
