// What the attitude filter has done so far, kept for a smoother.

import LinearAlgebra
import SensorTypes

/// The history of an `AttitudeEstimator`, for an `AttitudeSmoother`.
///
/// Memory: some 100 bytes a gyro sample for good, what arrays hold in reserve included, and 5 kB a tenth of a
/// second for the last 15 minutes at most. Whenever there are as many, the oldest ten minutes are smoothed by
/// what came after them, which is at least five minutes, and their 5 kB are let go. An hour at 208 Hz took
/// 186 MB at its peak.
struct AttitudeHistory: Sendable {
  /// A block of the filter, from the end of the one before to its own.
  private struct Block: Sendable {
    /// One past its last sample.
    var sampleEnd: Int
    var tapeEnd: TapePosition
    /// What its measurements turned the attitude by.
    var turn = Quaternion.identity
    var mark: SmootherCheckpoint
    /// Of a block that ends with the filter's start: its first sample. It holds what came just before.
    var start: Int?
    /// What turned out at its end to have been wrong before.
    var doubt = Doubt.nothing
  }

  private enum Doubt: Sendable {
    case nothing
    case heading
    case attitude
  }

  /// What is known for good of a block.
  struct Smoothed: Sendable {
    /// One past its last sample.
    var sampleEnd: Int
    /// Covariance of the attitude at its end, rad^2, earth frame.
    var attitude: Matrix3
    var hiddenIron: Matrix3
    var doubt: HeadingDoubt
  }

  private let params: SmootherParameters

  /// Times and attitudes at the gyro's samples: smoothed before `blocks`, as the filter had them after.
  private(set) var times: [Timestamp] = []
  private(set) var attitudes: [Quaternion] = []
  /// The samples with which an attitude began that has nothing to do with the one before.
  private(set) var starts: [Int] = []
  private(set) var smoothed: [Smoothed] = []
  /// The calibrations, and the samples from which they are good.
  private(set) var qualities: [(sample: Int, quality: MagnetometerQuality)] = []

  /// The samples at which a receiver's course was taken.
  private(set) var courses: [Int] = []

  private var blocks: [Block] = []
  private var tape = ErrorTape()
  /// Whether the newest samples are those before a start: their attitudes are in the frame of the first.
  private var isStarting = false

  /// Makes an empty history.
  init(_ params: SmootherParameters) { self.params = params }

  /// Whether nothing has been taken yet.
  var isEmpty: Bool { times.isEmpty }

  mutating func note(_ quality: MagnetometerQuality) {
    qualities.append((times.count, quality))
  }

  /// The filter takes a course, at the newest sample.
  mutating func noteCourse() { courses.append(times.count - 1) }

  /// Takes a sample before the filter's start.
  /// - Parameter frame: Body to the frame that the body had at the first sample.
  mutating func add(starting frame: Quaternion, at time: Timestamp) {
    if !isStarting {
      finish()
      starts.append(times.count)
      isStarting = true
    }
    append(frame, time)
  }

  /// Takes an attitude of the running filter.
  mutating func add(_ attitude: Quaternion, at time: Timestamp) { append(attitude, time) }

  private mutating func append(_ attitude: Quaternion, _ time: Timestamp) {
    times.append(time)
    attitudes.append(attitude)
  }

  /// The filter has started, at the newest sample.
  mutating func begin(_ filter: inout ErrorStateFilter) {
    filter.startTape()
    let mark = filter.mark
    if isStarting, let first = starts.last, let frame = attitudes.last {
      // In the frame of the first sample so far.
      let turn = mark.attitude * frame.conjugate
      for index in first..<attitudes.count {
        attitudes[index] = (turn * attitudes[index]).normalized
      }
    } else {
      // It was running before anybody wanted a history.
      starts.append(times.count - 1)
    }
    isStarting = false
    append(start: mark)
  }

  private mutating func append(start mark: SmootherCheckpoint, doubt: Doubt = .nothing) {
    blocks.append(
      Block(
        sampleEnd: times.count, tapeEnd: tape.end, mark: mark, start: starts.last ?? 0,
        doubt: doubt))
  }

  /// The filter has closed a block, at the newest sample.
  mutating func close(_ filter: inout ErrorStateFilter) {
    guard let before = attitudes.last else { return }
    let (cut, doubtsHeading) = filter.takeTape(into: &tape)
    let mark = cut?.mark ?? filter.mark
    blocks.append(
      Block(
        sampleEnd: times.count, tapeEnd: tape.end, turn: mark.attitude * before.conjugate,
        mark: mark, doubt: doubtsHeading ? .heading : .nothing))
    if let cut {
      if !cut.wasWrong { finish() }
      // The same moment once more, as it is seen from then on.
      starts.append(times.count)
      append(filter.strapdown.attitude, times[times.count - 1])
      append(start: filter.mark, doubt: cut.wasWrong ? .attitude : .nothing)
    }
    if blocks.count >= params.window + params.overlap { smooth(first: params.window) }
  }

  /// The filter has stopped: what follows has nothing to do with what was before.
  mutating func finish() {
    smooth(first: blocks.count)
    if isStarting, let first = starts.popLast() {
      // It never came to a start: nobody knows where down was.
      times.removeSubrange(first...)
      attitudes.removeSubrange(first...)
    }
    isStarting = false
  }

  /// Smooths all blocks, and lets go of the first ones.
  private mutating func smooth(first count: Int) {
    guard !blocks.isEmpty else { return }
    var adjoint = ErrorAdjoint(at: tape.end)
    // Corrections at the ends of the blocks, after their measurements, and those of the bias.
    var ends = [Correction](repeating: Correction(), count: blocks.count)
    var trail: Trail?
    for index in blocks.indices.reversed() {
      let block = blocks[index]
      let now = times[block.sampleEnd - 1]
      adjoint.rewind(tape, to: block.tapeEnd)
      var end = Correction(adjoint, block.mark)
      trail?.amend(&end, block.mark, at: now)
      ends[index] = end
      if trail?.isOver(at: now) ?? false { trail = nil }
      if block.doubt != .nothing, trail?.doubt != .attitude || block.doubt == .attitude {
        trail = Trail(block.doubt, from: now, params)
      }
      guard index > 0 else { break }
      let before = blocks[index - 1]
      if block.start == nil {
        trail?.go(
          back: end, over: block.turn,
          lever: lever(before.sampleEnd - 1, block.sampleEnd - 1), from: block.mark,
          to: before.mark)
      } else {
        adjoint = ErrorAdjoint(at: block.tapeEnd)
        let turn = block.mark.attitude * before.mark.attitude.conjugate
        trail?.go(
          back: end, over: turn, lever: Matrix3(diagonal: .zero), from: block.mark,
          to: before.mark)
      }
    }
    for index in 0..<min(count, blocks.count) {
      apply(index, ends)
      smoothed.append(
        Smoothed(
          sampleEnd: blocks[index].sampleEnd, attitude: ends[index].covariance,
          hiddenIron: blocks[index].mark.hiddenIron,
          doubt: blocks[index].mark.doubt))
    }
    guard count < blocks.count else {
      blocks.removeAll()
      tape = ErrorTape()
      carried = nil
      return
    }
    carried = ends[count - 1]
    let done = blocks[count - 1].tapeEnd
    blocks.removeFirst(count)
    tape.removeFirst(to: done)
    for index in blocks.indices { blocks[index].tapeEnd = blocks[index].tapeEnd - done }
  }

  /// What was found for the end of the newest block that is smoothed for good.
  private var carried: Correction?

  private struct Correction: Sendable {
    var turn = Vector3.zero
    var bias = Vector3.zero
    var covariance = Matrix3(diagonal: .zero)

    init() {}

    init(_ adjoint: ErrorAdjoint, _ mark: SmootherCheckpoint) {
      let r = mark.rows
      let turn = Vector3(adjoint.error(r.0), adjoint.error(r.1), adjoint.error(r.2))
      let bias = Vector3(adjoint.error(r.3), adjoint.error(r.4), adjoint.error(r.5))
      let (xy, xz, yz) = (
        r.0[1] - adjoint.gain(r.0, r.1), r.0[2] - adjoint.gain(r.0, r.2),
        r.1[2] - adjoint.gain(r.1, r.2)
      )
      func variance(_ filtered: Double, _ row: ErrorVector) -> Double {
        min(max(filtered - adjoint.gain(row, row), 0), filtered)
      }
      let (x, y, z) = (variance(r.0[0], r.0), variance(r.1[1], r.1), variance(r.2[2], r.2))
      guard turn.isFinite, bias.isFinite, (x + y + z + xy + xz + yz).isFinite else {
        // Numbers that no longer are: the filter's stay.
        covariance = Matrix3(
          columns: r.0[vector: 0], r.1[vector: 0], r.2[vector: 0])
        return
      }
      self.turn = turn
      self.bias = bias
      covariance = Matrix3(
        columns: Vector3(x, xy, xz), Vector3(xy, y, yz), Vector3(xz, yz, z))
    }
  }

  /// The way back from a moment at which the filter found that it had been wrong: by the gyro alone, instead of by
  /// what was measured before.
  private struct Trail {
    let doubt: Doubt
    private let params: SmootherParameters
    private let time: Timestamp
    /// What it says of the end of the next block.
    private var turn = Quaternion.identity
    private var bias = Vector3.zero
    private var variance = Vector3.zero
    private var isNew = true

    init(_ doubt: Doubt, from time: Timestamp, _ params: SmootherParameters) {
      self.doubt = doubt
      self.params = params
      self.time = time
    }

    func isOver(at now: Timestamp) -> Bool { time.seconds(since: now) > params.reach }

    /// Goes back over a block.
    /// - Parameters:
    ///   - end: What was found for its end.
    ///   - turn: What its measurements turned the attitude by.
    ///   - lever: What an error of the bias turned it by.
    mutating func go(
      back end: Correction, over turn: Quaternion, lever: Matrix3, from: SmootherCheckpoint,
      to before: SmootherCheckpoint
    ) {
      if isNew {
        isNew = false
        let c = end.covariance.columns
        variance = Vector3(c.x.x, c.y.y, c.z.z)
      }
      bias = from.bias + end.bias
      let error = Quaternion(rotationVector: lever * (bias - before.bias))
      self.turn = error * Quaternion(rotationVector: end.turn) * turn
    }

    /// Puts what it says in the place of what was found.
    func amend(_ found: inout Correction, _ mark: SmootherCheckpoint, at now: Timestamp) {
      let age = time.seconds(since: now)
      let share = min(1, max(0, (params.reach - age) / (params.reach - params.whole)))
      guard share > 0 else { return }
      let other = Quaternion(rotationVector: found.turn)
      let (kept, difference): (Quaternion, Quaternion)
      if doubt == .attitude {
        (kept, difference) = (other, turn * other.conjugate)
        found.bias = bias - mark.bias
      } else {
        // Its heading, the other's tilt.
        let angle = Self.twist(turn * other.conjugate)
        (kept, difference) = (other, Quaternion(rotationVector: Vector3(0, 0, angle)))
      }
      found.turn =
        (Quaternion(rotationVector: difference.rotationVector * share) * kept).rotationVector
      let grown = variance + Vector3(repeating: params.noise * age)
      var c = found.covariance.columns
      if doubt == .attitude {
        c = Matrix3(diagonal: grown).columns
      } else {
        c.z.z = share < 1 ? max(c.z.z, grown.z) : grown.z
        // What goes with the heading that is put aside.
        (c.x.z, c.y.z, c.z.x, c.z.y) = (0, 0, 0, 0)
      }
      found.covariance = Matrix3(columns: c.x, c.y, c.z)
    }

    /// The part of a rotation that is one about the vertical, radians.
    private static func twist(_ q: Quaternion) -> Double {
      (2 * atan2(q.vector.z, q.w)).remainder(dividingBy: 2 * .pi)
    }
  }

  /// Corrects the samples of a block: as found at its begin, as found at its end, and evenly in between.
  private mutating func apply(_ index: Int, _ ends: [Correction]) {
    let block = blocks[index]
    let first: Int
    let begin: Quaternion
    let last = block.sampleEnd - 1
    let found = Quaternion(rotationVector: ends[index].turn)
    let end = found * block.turn
    if let start = block.start {
      first = start
      begin = found * Quaternion(rotationVector: lever(first, last) * ends[index].bias)
    } else {
      let before = index > 0 ? ends[index - 1] : carried ?? Correction()
      first = index > 0 ? blocks[index - 1].sampleEnd : smoothed.last?.sampleEnd ?? 0
      begin = Quaternion(rotationVector: before.turn)
    }
    guard first <= last else { return }
    // The block begins with the last sample of the one before.
    let origin = times[block.start ?? max(first - 1, 0)]
    let duration = times[last].seconds(since: origin)
    for sample in first...last {
      let share = duration > 0 ? times[sample].seconds(since: origin) / duration : 1
      let turn = begin.interpolated(to: end, share)
      attitudes[sample] = (turn * attitudes[sample]).normalized
    }
  }

  /// What an error of the gyro's bias turns the attitude by from one sample to another.
  private func lever(_ first: Int, _ last: Int) -> Matrix3 {
    var sum = Matrix3(diagonal: .zero)
    guard first < last else { return sum }
    for sample in first + 1...last {
      sum =
        sum + times[sample].seconds(since: times[sample - 1]) * attitudes[sample].matrix
    }
    return sum
  }
}
