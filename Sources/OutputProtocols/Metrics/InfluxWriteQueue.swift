// Points on their way to a database, without I/O: what waits, what is sent next, and what an answer means
// (docs.influxdata.com/influxdb/v2/api, operation PostWrite).

package import SensorTypes

/// Points that wait to be written over HTTP. One request at a time is under way.
///
/// A request that fails is repeated with growing pauses. The oldest points are dropped and counted when too many wait.
package struct InfluxWriteQueue: Sendable {
  /// The most bytes that wait: days of points at the usual interval.
  package static let capacity = 4 << 20
  /// The most bytes of one request: less than what a new connection takes at once.
  package static let longestBody = 16_384
  /// The first and the longest pause after a failure, in seconds.
  package static let pauses = (first: 2.0, longest: 300.0)
  /// The longest pause that a server may ask for, in seconds.
  package static let longestWish = 3_600.0

  private struct Batch: Sendable {
    var lines: [UInt8]
    var points: UInt64
    /// Whether its points have a time. The server gives the others the time at which they arrive, so they are worth one attempt.
    var isDated: Bool
  }

  private var batches: [Batch] = []
  private var bytes = 0
  /// The batches that are under way, the first of the queue.
  private var underWay: Int?
  private var pause = 0.0
  private var nextTry: Timestamp?

  /// Points that the database has taken.
  package private(set) var written: UInt64 = 0
  /// Points that were given up.
  package private(set) var dropped: UInt64 = 0
  /// Why nothing is written at the moment, and what mends it.
  package private(set) var problem: String?

  package init() {}

  /// Whether a request is under way.
  package var isUnderWay: Bool { underWay != nil }
  /// Bytes that wait.
  package var waitingCount: Int { bytes }

  /// When a request is due; `nil` while one is under way, or nothing waits.
  package var deadline: Timestamp? {
    guard underWay == nil, !batches.isEmpty else { return nil }
    return nextTry ?? Timestamp(nanoseconds: 0)
  }

  /// Adds lines.
  ///
  /// - Parameter isDated: Whether they have a time.
  package mutating func add(_ lines: [UInt8], isDated: Bool) {
    guard !lines.isEmpty else { return }
    let points = UInt64(lines.count { $0 == 10 })
    guard lines.count <= Self.longestBody else {
      dropped += points
      return
    }
    batches.append(Batch(lines: lines, points: points, isDated: isDated))
    bytes += lines.count
    while bytes > Self.capacity {
      // What is under way stays until it is answered.
      remove(at: underWay ?? 0)
    }
  }

  /// Returns the body of the request that is due, which is then under way; `nil` if none is.
  package mutating func begin(at now: Timestamp) -> [UInt8]? {
    guard let deadline, now >= deadline else { return nil }
    var body: [UInt8] = []
    var count = 0
    while count < batches.count, body.count + batches[count].lines.count <= Self.longestBody {
      body += batches[count].lines
      count += 1
    }
    underWay = count
    return body
  }

  /// Takes the answer to the request that is under way.
  ///
  /// - Parameters:
  ///   - wish: The seconds that the server asks to wait (`Retry-After`).
  ///   - words: What the server says, printable and short.
  package mutating func take(status: Int, wish: Double?, words: String, at now: Timestamp) {
    guard let count = underWay else { return }
    switch status {
    case 200..<300:
      for batch in batches.prefix(count) { written += batch.points }
      finish(count)
      (pause, nextTry, problem) = (0, nil, nil)
    case 400, 413, 422:
      // The same lines would be refused again.
      for batch in batches.prefix(count) { dropped += batch.points }
      finish(count)
      (pause, nextTry) = (0, nil)
      problem = "the database refuses points (\(status)): \(words)"
    case 401, 403:
      fail(
        "the database refuses the token (\(status)): write one that may write to the bucket into tokenFile",
        wish: wish, at: now)
    case 404:
      fail(
        "the database has no such bucket or organization (404): mend bucket and organization in serve.yaml",
        wish: wish, at: now)
    default:
      fail("the database answers \(status): \(words)", wish: wish, at: now)
    }
  }

  /// Takes that the request that is under way was not answered.
  package mutating func fail(_ words: String, wish: Double? = nil, at now: Timestamp) {
    guard let count = underWay else { return }
    underWay = nil
    pause = min(max(Self.pauses.first, pause * 2), Self.pauses.longest)
    let asked = wish.map { min(max($0, 0), Self.longestWish) } ?? 0
    nextTry = now.advanced(bySeconds: max(pause, asked))
    var index = 0
    for _ in 0..<count {
      if batches[index].isDated { index += 1 } else { remove(at: index) }
    }
    problem = index < count ? "\(words); points do not wait while the clock is not set" : words
  }

  private mutating func finish(_ count: Int) {
    bytes -= batches.prefix(count).reduce(0) { $0 + $1.lines.count }
    batches.removeFirst(count)
    underWay = nil
  }

  private mutating func remove(at index: Int) {
    let batch = batches.remove(at: index)
    bytes -= batch.lines.count
    dropped += batch.points
  }
}
