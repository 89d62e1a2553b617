// The mean of what a chip says while the board is held still, and how still it was.

public import LinearAlgebra
public import SensorTypes

/// A mean over seconds, with the means of short windows in it: a board that moves shows in those.
public struct StillMean: Sendable, Hashable {
  /// A window, seconds: longer than a shake of the hand, shorter than anything that drifts.
  public static let window = 0.5
  /// Windows that count.
  public private(set) var windows: [Vector3] = []
  /// Samples in the windows that count.
  public private(set) var samples = 0

  private var sum = Vector3.zero
  private var squares = 0.0
  private var count = 0
  private var begin: Timestamp?
  private var last: Timestamp?
  /// Of samples about their own window's mean, squared and added up.
  private var scatterSum = 0.0

  /// Makes a mean of nothing.
  public init() {}

  /// Takes one sample; one that is not finite or not later than the one before is left out. A pause of
  /// more than a quarter of a window begins it anew.
  public mutating func take(_ value: Vector3, at time: Timestamp) {
    guard value.isFinite else { return }
    if let last {
      let step = time.seconds(since: last)
      guard step > 0 else { return }
      if step > Self.window / 2 { begin = nil }
    }
    last = time
    if let begin, time.seconds(since: begin) < Self.window {
      add(value)
    } else {
      if begin != nil { close() }
      (sum, squares, count) = (.zero, 0, 0)
      begin = time
      add(value)
    }
  }

  private mutating func add(_ value: Vector3) {
    sum += value
    squares += value.lengthSquared
    count += 1
  }

  private mutating func close() {
    guard count > 0 else { return }
    let mean = sum / Double(count)
    windows.append(mean)
    samples += count
    scatterSum += max(0, squares - Double(count) * mean.lengthSquared)
  }

  /// Seconds that the windows cover.
  public var duration: Double { Double(windows.count) * Self.window }

  /// The mean of the windows; `nil` before the first.
  public var mean: Vector3? {
    guard !windows.isEmpty else { return nil }
    return windows.reduce(.zero, +) / Double(windows.count)
  }

  /// How far the window farthest from the mean is from it.
  public var wander: Double {
    guard let mean else { return 0 }
    return windows.map { ($0 - mean).length }.max() ?? 0
  }

  /// The largest angle between a window and the mean, radians; 0 where there is no direction.
  public var turn: Double {
    guard let mean = mean?.normalized else { return 0 }
    // From the chord, which keeps its digits where the cosine has none.
    let chord = windows.compactMap(\.normalized).map { ($0 - mean).length }.max() ?? 0
    return 2 * StillMath.arcSine(chord / 2)
  }

  /// Root mean square of the samples about their windows' means, all axes together.
  public var scatter: Double {
    samples > 0 ? (scatterSum / Double(samples)).squareRoot() : 0
  }

  /// One sigma of the mean on each axis, from how the windows differ; `nil` for fewer than four.
  public var deviation: Vector3? {
    guard windows.count >= 4, let mean else { return nil }
    let spread = windows.reduce(Vector3.zero) { $0 + ($1 - mean) * ($1 - mean) }
    let count = Double(windows.count)
    return (spread / ((count - 1) * count)).squareRoot()
  }
}
