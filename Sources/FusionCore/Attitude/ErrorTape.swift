// What the attitude filter did to its covariance, step by step, so that a smoother can go back over it.

import LinearAlgebra

/// The steps of a Kalman filter, to be played backwards.
///
/// Three stacks: a step takes from the other two what it put there. A step that only adds variance needs no
/// entry: what is learned later passes it unchanged on its way back.
struct ErrorTape: Sendable {
  private(set) var steps: [TapeStep] = []
  private(set) var vectors: [ErrorVector] = []
  private(set) var numbers: [Double] = []
  /// Where the attitude was begun anew; what comes after it is not taped.
  private(set) var cuts: [Cut] = []
  /// Whether heading turned out to have been wrong for a while.
  private(set) var doubtsHeading = false

  /// A moment at which the filter gave up what it thought it knew.
  struct Cut: Sendable {
    /// How things stood before.
    var mark: SmootherCheckpoint
    /// Whether it had been wrong since it began.
    var wasWrong: Bool
  }

  /// Ends here: what was measured before and what is learned later do not belong together.
  mutating func cut(_ mark: SmootherCheckpoint, wasWrong: Bool) {
    if cuts.isEmpty { cuts.append(Cut(mark: mark, wasWrong: wasWrong)) }
  }

  /// What the field has said of heading so far was wrong.
  mutating func doubtHeading() { doubtsHeading = true }

  mutating func propagate(_ f: ErrorCovariance.Transition) {
    guard cuts.isEmpty else { return }
    steps.append(.propagate)
    vectors.append(f.attitude.0)
    vectors.append(f.attitude.1)
    vectors.append(f.attitude.2)
    numbers.append(f.lift)
  }

  mutating func update(h: ErrorVector, ph: ErrorVector, innovation: Double, spread: Double) {
    guard cuts.isEmpty else { return }
    steps.append(.update)
    vectors.append(h)
    vectors.append(ph)
    numbers.append(innovation)
    numbers.append(spread)
  }

  mutating func decouple(_ index: Int) {
    guard cuts.isEmpty else { return }
    steps.append(.decouple)
    numbers.append(Double(index))
  }

  mutating func fade(_ index: Int, by factor: Double) {
    guard cuts.isEmpty else { return }
    steps.append(.fade)
    numbers.append(Double(index))
    numbers.append(factor)
  }

  mutating func turnEarth(sine: Double, cosine: Double) {
    guard cuts.isEmpty else { return }
    steps.append(.turnEarth)
    numbers.append(sine)
    numbers.append(cosine)
  }

  /// Moves everything to the end of another tape; the memory stays.
  mutating func appendTo(_ other: inout ErrorTape) {
    other.steps += steps
    other.vectors += vectors
    other.numbers += numbers
    steps.removeAll(keepingCapacity: true)
    vectors.removeAll(keepingCapacity: true)
    numbers.removeAll(keepingCapacity: true)
    cuts.removeAll()
    doubtsHeading = false
  }

  var end: TapePosition {
    TapePosition(steps: steps.count, vectors: vectors.count, numbers: numbers.count)
  }

  /// Forgets what lies before `position`.
  mutating func removeFirst(to position: TapePosition) {
    steps.removeFirst(position.steps)
    vectors.removeFirst(position.vectors)
    numbers.removeFirst(position.numbers)
  }
}

enum TapeStep: UInt8, Sendable {
  /// `P <- F P F'`: three rows of F, and what two more follow from.
  case propagate
  /// A scalar measurement: `h`, `P h`; what it said beyond the estimate, and the variance of that.
  case update
  /// An error that was replaced by a new one: its index.
  case decouple
  /// The earth frame was turned: sine, cosine.
  case turnEarth
  /// One error was multiplied: its index and the factor.
  case fade
}

/// Where the tape ends at a moment.
struct TapePosition: Sendable, Hashable {
  var steps = 0
  var vectors = 0
  var numbers = 0

  static func - (a: TapePosition, b: TapePosition) -> TapePosition {
    TapePosition(
      steps: a.steps - b.steps, vectors: a.vectors - b.vectors, numbers: a.numbers - b.numbers)
  }
}

/// What the measurements after a moment say of the errors at it: the smoother's state, going backwards.
///
/// The smoother of Bierman (1973; also "modified Bryson-Frazier"): it yields what that of Rauch, Tung and Striebel
/// yields, without the inverse of a covariance, and variance that the filter adds between its measurements
/// is nothing special to it. With P of the filter, the smoothed error is `-P slope` and its covariance
/// `P - P weight P`.
struct ErrorAdjoint: Sendable {
  private(set) var slope = ErrorVector.zero
  private var weight = [ErrorVector](repeating: .zero, count: ErrorVector.count)
  private var position: TapePosition

  /// Begins where a tape ends: nothing is known beyond.
  init(at end: TapePosition) { position = end }

  /// Goes back over `tape` to where it was at `target`.
  mutating func rewind(_ tape: ErrorTape, to target: TapePosition) {
    while position.steps > target.steps {
      position.steps -= 1
      switch tape.steps[position.steps] {
      case .propagate:
        position.vectors -= 3
        position.numbers -= 1
        let v = position.vectors
        unpropagate(
          ErrorCovariance.Transition(
            attitude: (tape.vectors[v], tape.vectors[v + 1], tape.vectors[v + 2]),
            lift: tape.numbers[position.numbers]))
      case .update:
        position.vectors -= 2
        position.numbers -= 2
        let (v, n) = (position.vectors, position.numbers)
        take(
          h: tape.vectors[v], ph: tape.vectors[v + 1], innovation: tape.numbers[n],
          spread: tape.numbers[n + 1])
      case .decouple:
        position.numbers -= 1
        forget(Int(tape.numbers[position.numbers]))
      case .fade:
        position.numbers -= 2
        fade(Int(tape.numbers[position.numbers]), by: tape.numbers[position.numbers + 1])
      case .turnEarth:
        position.numbers -= 2
        turnBack(
          sine: tape.numbers[position.numbers], cosine: tape.numbers[position.numbers + 1])
      }
    }
  }

  /// `slope <- (I - K h)' slope - h y / s`, `weight <- (I - K h)' weight (I - K h) + h h' / s`, K = P h / s.
  private mutating func take(h: ErrorVector, ph: ErrorVector, innovation: Double, spread: Double) {
    let share = 1 / spread
    slope.add(h, times: -share * (ph.dot(slope) + innovation))
    let wk = weighted(ph, times: share)
    let both = share * (ph.dot(wk) + 1)
    weight.withUnsafeMutableBufferPointer { weight in
      for row in weight.indices {
        let (a, b) = (h[row], wk[row])
        weight[row].add(h, times: both * a - b)
        if a != 0 { weight[row].add(wk, times: -a) }
      }
    }
  }

  private func weighted(_ v: ErrorVector, times factor: Double) -> ErrorVector {
    weight.withUnsafeBufferPointer { weight in
      var product = ErrorVector.zero
      for row in weight.indices { product.add(weight[row], times: v[row] * factor) }
      return product
    }
  }

  /// `slope <- F' slope`, `weight <- F' weight F`.
  private mutating func unpropagate(_ f: ErrorCovariance.Transition) {
    let velocity = f.velocity
    func back(_ v: ErrorVector) -> ErrorVector {
      var result = v
      result.motion[0] = 0
      result.motion[1] = 0
      result.motion[2] = 0
      result.motion[6] = 0
      result.motion[7] = 0
      result.add(f.attitude.0, times: v.motion[0])
      result.add(f.attitude.1, times: v.motion[1])
      result.add(f.attitude.2, times: v.motion[2])
      result.add(velocity.0, times: v.motion[6])
      result.add(velocity.1, times: v.motion[7])
      return result
    }
    slope = back(slope)
    weight.withUnsafeMutableBufferPointer { weight in
      for row in weight.indices { weight[row] = back(weight[row]) }
      let (x, y, z) = (weight[0], weight[1], weight[2])
      let (vx, vy) = (weight[6], weight[7])
      for row in [0, 1, 2, 6, 7] { weight[row] = .zero }
      for row in weight.indices {
        weight[row].add(x, times: f.attitude.0[row])
        weight[row].add(y, times: f.attitude.1[row])
        weight[row].add(z, times: f.attitude.2[row])
        weight[row].add(vx, times: velocity.0[row])
        weight[row].add(vy, times: velocity.1[row])
      }
    }
  }

  private mutating func forget(_ index: Int) {
    slope[index] = 0
    weight[index] = .zero
    for row in weight.indices { weight[row][index] = 0 }
  }

  private mutating func fade(_ index: Int, by factor: Double) {
    slope[index] *= factor
    for row in weight.indices { weight[row][index] *= factor }
    var row = ErrorVector.zero
    row.add(weight[index], times: factor)
    weight[index] = row
  }

  private mutating func turnBack(sine: Double, cosine: Double) {
    for a in [ErrorVector.attitude, ErrorVector.velocity] {
      (slope[a], slope[a + 1]) = (
        cosine * slope[a] + sine * slope[a + 1], cosine * slope[a + 1] - sine * slope[a]
      )
      let (x, y) = (weight[a], weight[a + 1])
      weight[a] = .zero
      weight[a].add(x, times: cosine)
      weight[a].add(y, times: sine)
      weight[a + 1] = .zero
      weight[a + 1].add(y, times: cosine)
      weight[a + 1].add(x, times: -sine)
      for row in weight.indices {
        let (left, right) = (weight[row][a], weight[row][a + 1])
        weight[row][a] = cosine * left + sine * right
        weight[row][a + 1] = cosine * right - sine * left
      }
    }
  }

  /// The smoothed error whose row of the filter's covariance is `row`.
  func error(_ row: ErrorVector) -> Double { -row.dot(slope) }

  /// By how much the filter's covariance of two errors falls: `p weight q`.
  func gain(_ p: ErrorVector, _ q: ErrorVector) -> Double { weighted(p, times: 1).dot(q) }
}
