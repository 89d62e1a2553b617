// A recording in two halves that share the whole of its time.

/// Equal parts of a recording in order of time, dealt out in turn to two halves.
///
/// A fit to one half is judged by the other. Neighbours in time are in the same part, so that the errors they share (a
/// disturbance, a hand's motion) are not taken for a confirmation.
struct TimeBlocks: Sendable, Hashable {
  /// The number of samples.
  let samples: Int
  /// The number of parts.
  let count: Int

  /// The part that a sample belongs to, from 0.
  func block(of place: Int) -> Int { min(count - 1, place * count / max(1, samples)) }

  /// The samples of one half, 0 or 1, in order of time.
  func half(_ which: Int) -> [Int] { (0..<samples).filter { block(of: $0) % 2 == which } }
}
