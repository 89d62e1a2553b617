// A recording's way into its file, also while the disk is full.

import Glibc
import SensorHub
import Synchronization

/// Writes a recording into a file that may refuse bytes for a while.
///
/// The recording comes in pieces, each of which holds whole steps. A piece that cannot be written is dropped as a whole and
/// counted. A piece of which only the beginning was written is completed before the next one. The first piece, which
/// holds the board file, is never dropped. The file therefore contains whole steps, except possibly at its end.
final class RecordingOutput: Sendable {
  /// The part of the recording that was dropped.
  struct Loss: Equatable {
    var pieces = 0
    var bytes = 0
  }

  private struct State {
    var hasBegun = false
    /// Bytes that must be written before the next piece.
    var owed: [UInt8] = []
    var loss = Loss()
    /// The error of the last attempt; `nil` if it succeeded.
    var problem: FileProblem?
    var nextTry: ContinuousClock.Instant?
    var nextNote: ContinuousClock.Instant?
  }

  /// Seconds between two attempts.
  private static let tryInterval = 1.0
  /// Seconds between two messages about the same error.
  private static let noteInterval = 60.0

  private let path: String
  private let keepsTrying: Bool
  private let put: @Sendable (UnsafeRawBufferPointer) throws -> Int
  private let state = Mutex(State())

  /// - Parameters:
  ///   - path: The file, for messages.
  ///   - keepsTrying: Whether to go on after a write error. If false, the first one is thrown.
  ///   - put: Writes at least the first of the bytes. Returns the number of bytes written.
  init(
    path: String, keepsTrying: Bool,
    put: @escaping @Sendable (UnsafeRawBufferPointer) throws -> Int
  ) {
    self.path = path
    self.keepsTrying = keepsTrying
    self.put = put
  }

  /// The part of the recording that was dropped so far.
  var loss: Loss { state.withLock { $0.loss } }

  /// Writes a piece. Throws a write error unless `keepsTrying`; `EPIPE` is always thrown, since a reader that has closed
  /// its end of a pipe does not come back.
  func write(_ piece: UnsafeRawBufferPointer, at now: ContinuousClock.Instant = .now) throws {
    try state.withLock { state in
      if let nextTry = state.nextTry, now < nextTry { return state.loss.add(piece) }
      let isFirst = !state.hasBegun
      state.hasBegun = true
      if isFirst, keepsTrying { state.owed = Array(piece) }
      var done = 0
      do {
        try pay(&state)
        if !isFirst || !keepsTrying {
          while done < piece.count {
            done += try put(UnsafeRawBufferPointer(rebasing: piece[done...]))
          }
        }
        (state.problem, state.nextTry) = (nil, nil)
      } catch let problem as FileProblem where keepsTrying && problem.code != EPIPE {
        (state.problem, state.nextTry) = (problem, now.advanced(by: .seconds(Self.tryInterval)))
        if done > 0 {
          state.owed = Array(piece[done...])
        } else if !isFirst {
          state.loss.add(piece)
        }
      }
    }
  }

  /// Writes what is left of a piece that was begun. Throws if that fails.
  func finish() throws { try state.withLock { try pay(&$0) } }

  private func pay(_ state: inout State) throws {
    while !state.owed.isEmpty {
      let count = try state.owed.withUnsafeBytes { try put($0) }
      state.owed.removeFirst(count)
    }
  }

  /// The message that is due: at once when the file cannot be written, every minute while that lasts, and when it is over.
  /// `nil` if none is due.
  func note(at now: ContinuousClock.Instant = .now) -> String? {
    state.withLock { state in
      let lost = "\(state.loss.bytes) bytes of the recording are lost so far"
      guard let problem = state.problem else {
        guard state.nextNote != nil else { return nil }
        state.nextNote = nil
        return "\(path) can be written again; \(lost)"
      }
      if let next = state.nextNote, now < next { return nil }
      state.nextNote = now.advanced(by: .seconds(Self.noteInterval))
      return "\(problem): trying again every second; \(lost)"
    }
  }
}

extension RecordingOutput.Loss {
  fileprivate mutating func add(_ piece: UnsafeRawBufferPointer) {
    pieces += 1
    bytes += piece.count
  }
}
