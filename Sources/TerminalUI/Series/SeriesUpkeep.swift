// What is done for a series while its newest file is written.

import Dispatch
import StateStore
import Synchronization

/// Deletes the oldest files of a series and compresses finished ones, on a separate thread that the writer of the series never
/// waits for.
final class SeriesUpkeep: Sendable {
  /// How often a file that could not be compressed is tried in all.
  private static let attempts = 3
  /// How long the end waits for what is being done, in seconds.
  private static let patience = 5.0

  private let series: FileSeries
  private let keep: Int?
  private let compresses: Bool
  private let warn: @Sendable (String) -> Void
  private let queue = DispatchQueue(label: "lodestone.series", qos: .background)
  private let isWaiting = Atomic<Bool>(false)
  private let isStopped = Atomic<Bool>(false)
  /// How often a file could not be compressed. Touched on the queue alone.
  private let failures = Mutex<[String: Int]>([:])

  /// - Parameters:
  ///   - keep: The finished files that are kept; `nil` keeps all.
  ///   - compresses: Whether finished files are compressed.
  ///   - warn: Receives what went wrong, on any thread.
  init(
    of series: FileSeries, keep: Int?, compresses: Bool, warn: @escaping @Sendable (String) -> Void
  ) {
    self.series = series
    self.keep = keep
    self.compresses = compresses
    self.warn = warn
  }

  /// Has everything looked at that is there now.
  func wake() {
    guard keep != nil || compresses,
      !isWaiting.exchange(true, ordering: .acquiringAndReleasing)
    else { return }
    queue.async { [self] in
      isWaiting.store(false, ordering: .releasing)
      work()
    }
  }

  /// Ends what is being done, within a few seconds. What is due to be deleted is deleted; a file that was being compressed stays as it is, and the next run of the
  /// series compresses it.
  func finish() {
    isStopped.store(true, ordering: .releasing)
    let end = DispatchSemaphore(value: 0)
    queue.async { end.signal() }
    _ = end.wait(timeout: .now() + Self.patience)
  }

  private var isOver: Bool { isStopped.load(ordering: .acquiring) }

  private func work() {
    do {
      // First, because it may make the room that a compressed file needs.
      for problem in try series.prune(keeping: keep) { warn("\(problem): it could not be deleted") }
      guard compresses else { return }
      for entry in try series.uncompressed() where !isOver { compress(entry) }
    } catch {
      warn("\(error)")
    }
  }

  private func compress(_ entry: SeriesName.SeriesEntry) {
    let name = entry.name
    guard failures.withLock({ $0[name, default: 0] }) < Self.attempts else { return }
    do {
      _ = try FileCompressor(series: series).compress(entry) { isOver }
    } catch {
      guard !isOver else { return }
      let count = failures.withLock { failures in
        failures[name, default: 0] += 1
        return failures[name, default: 0]
      }
      warn("\(error); attempt \(count) of \(Self.attempts)")
    }
  }
}
