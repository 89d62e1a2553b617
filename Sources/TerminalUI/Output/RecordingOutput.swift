// Where the bytes of a recording or of a log go, and what becomes of them while there is no room.

import Glibc
import StateStore
import Synchronization

/// The bytes of one run of a recording on their way into a file that may refuse them for a while.
///
/// A file that refuses bytes has a hole from there on, behind which the run cannot be replayed. What comes then is counted and
/// dropped; the file is tried every second, by a line feed, which ends a line that was cut off. Once it takes that the run is
/// over, and another one can begin.
package final class RecordingOutput: Sendable {
  private enum Progress {
    case going
    /// The file cannot be written now.
    case refused(FileProblem, nextTry: ContinuousClock.Instant)
    /// It can be written again: the run is over.
    case over
  }

  private struct State {
    var progress = Progress.going
    var lost = 0
    var nextNote: ContinuousClock.Instant?
  }

  /// How long a file that could not be written is left alone, seconds.
  private static let tryInterval = 1.0
  /// Seconds between two notes of the same trouble.
  private static let noteInterval = 60.0

  private let path: String
  private let keepsTrying: Bool
  private let what: String
  private let put: @Sendable (UnsafeRawBufferPointer) throws -> Int
  private let state = Mutex(State())

  /// - Parameters:
  ///   - path: The file, for messages.
  ///   - keepsTrying: Whether a write error is waited out; else the first one is thrown.
  ///   - what: What the bytes belong to, for messages.
  ///   - put: Writes the first bytes of what it is given, one at least. Returns how many.
  package init(
    path: String, keepsTrying: Bool, what: String = "recording",
    put: @escaping @Sendable (UnsafeRawBufferPointer) throws -> Int
  ) {
    self.path = path
    self.keepsTrying = keepsTrying
    self.what = what
    self.put = put
  }

  /// The number of bytes that were not written.
  package var lost: Int { state.withLock { $0.lost } }

  /// Whether the run is over: the file can be written again after a time in which it could not.
  package var isOver: Bool {
    state.withLock { if case .over = $0.progress { true } else { false } }
  }

  /// Writes a piece. Throws what the file system says, unless it is to be waited out; a reader that has gone away is
  /// never waited for.
  package func write(_ piece: UnsafeRawBufferPointer, at now: ContinuousClock.Instant = .now) throws
  {
    // One thread writes. A write can block for as long as a reader pauses, so nothing is locked meanwhile.
    var progress = state.withLock { $0.progress }
    var done = 0
    do {
      switch progress {
      case .going:
        while done < piece.count {
          done += try put(UnsafeRawBufferPointer(rebasing: piece[done...]))
        }
      case .refused(_, let nextTry) where now >= nextTry:
        _ = try withUnsafeBytes(of: UInt8(ascii: "\n")) { try put($0) }
        progress = .over
      case .refused, .over: break
      }
    } catch let problem as FileProblem where keepsTrying && problem.code != EPIPE {
      progress = .refused(problem, nextTry: now.advanced(by: .seconds(Self.tryInterval)))
    }
    state.withLock { state in
      state.progress = progress
      state.lost += piece.count - done
    }
  }

  /// Returns the message that is due: when the file can no longer be written, every minute until it can, and when it can be
  /// written again. Returns `nil` if no message is due.
  ///
  /// - Parameters:
  ///   - now: The time of the call.
  ///   - isLast: Whether the run has ended. The message then announces no further attempts, and an error that was
  ///     reported before is not repeated.
  package func note(at now: ContinuousClock.Instant = .now, isLast: Bool = false) -> String? {
    state.withLock { state in
      let lost = "\(state.lost) bytes of the \(what) are lost" + (isLast ? "" : " so far")
      guard case .refused(let problem, _) = state.progress else {
        guard state.nextNote != nil else { return nil }
        state.nextNote = nil
        return "\(path) can be written again; \(lost)"
      }
      if let next = state.nextNote, isLast || now < next { return nil }
      state.nextNote = now.advanced(by: .seconds(Self.noteInterval))
      return isLast ? "\(problem); \(lost)" : "\(problem): trying again every second; \(lost)"
    }
  }
}
