// Leads a person through a magnetometer's calibration: what to do next, how far it is, and when it is enough.

public import LinearAlgebra
public import SensorTypes

/// Says how to turn the board next, sees what that brought, and ends by itself when the fit is good, when more
/// turning would not help, or when time is up.
///
/// A value that is told everything, the time too. With an accelerometer it asks for the pose that would fill most
/// of what is missing; without one it goes through a fixed list. It keeps to what it has asked for until that is
/// done or a person has had time enough to try.
public struct CalibrationCoach: Sendable, Hashable {
  /// What disturbs.
  public enum Warning: Sendable, Hashable {
    /// The magnetometer is silent.
    case noField
    /// The accelerometer was heard, and is silent.
    case noForce
    /// The field is not the earth's: something magnetic is near, or moves.
    case magnet
    /// The field has changed for good, and what came before was thrown away.
    case startedOver
    /// Turned faster than chips can follow together.
    case tooFast
    /// Hardly turned.
    case tooStill
    /// Held otherwise than asked, and what to change.
    case otherPose(String)

    /// The message, in one line.
    public var words: String {
      switch self {
      case .noField: "Nothing comes from the magnetometer: is a wire loose?"
      case .noForce: "Nothing comes from the accelerometer: is a wire loose?"
      case .magnet: "Something magnetic is near: take it away, or go away from it."
      case .startedOver: "The field has changed for good: starting over."
      case .tooFast: "Slower, please."
      case .tooStill: "Keep turning it, slowly."
      case .otherPose(let change): "Not quite: \(change)."
      }
    }
  }

  /// How far from a pose is still that pose, radians: a little more than half of what is between two.
  static let poseReach = 28 * Double.pi / 180
  /// Faster is too fast, rad/s.
  private static let fastest = 2.6
  /// Slower is not turning, rad/s.
  private static let slowest = 0.1
  /// A chip that says nothing for so long is silent, seconds.
  private static let silence = 2.0
  /// The field's strength may be off by this share of it before a magnet is suspected.
  private static let strengthReach = 0.12
  /// A magnet that stays for so long has come to stay, seconds.
  private static let magnetPatience = 20.0
  /// No field on earth is weaker or stronger, nor is what a chip of a wrong gain makes of it, microtesla.
  private static let strengths = 10.0...150.0
  /// Without gain for so long, nothing is to be gained, seconds.
  static let stagnation = 45.0

  /// What it demands.
  public var params: CoachParameters
  /// What is known of the field here.
  public var expected: CalibrationField {
    didSet { if expected != oldValue { isFitDue = true } }
  }
  /// What is asked for at present.
  public internal(set) var pose = CoachPose.flat
  /// What disturbs at present; `nil` where nothing does.
  public private(set) var warning: Warning?
  /// What the last fit said. Its figures mean something once `isTelling`.
  public private(set) var outcome = CalibrationOutcome(fit: nil, refusal: "no sample yet")
  /// Whether so much was seen that a fit is one: the noise of a board that lies still is a little sphere of its
  /// own, with a strength, a score and an error of its own.
  public private(set) var isTelling = false
  /// Why it ended; `nil` while it goes on.
  public internal(set) var end: CoachEnd?
  /// Seconds since the first `update`.
  public private(set) var age = 0.0
  /// Cells of the sphere that were seen, in the magnetometer's axes.
  public private(set) var cells = SphereCells()
  /// Cells that the present pose could fill and nothing has filled yet.
  public internal(set) var wanted = SphereCells()
  /// Where the field points now, in the magnetometer's axes; `nil` while that is not known.
  public internal(set) var direction: Vector3?
  /// Strength of the corrected field now, microtesla; `nil` without a fit.
  public internal(set) var strength: Double?

  let toBody: Matrix3
  private let fitter = MagnetometerFitter()
  var collection = CoachCollection()

  // Times.
  private var start: Timestamp?
  var now: Timestamp?
  var poseStart: Timestamp?
  private var lastField: Timestamp?
  var lastForce: Timestamp?
  private var nextFit: Timestamp?
  private var isFitDue = false
  var fitted = 0

  // What the board does, each smoothed over a fraction of a second.
  var down: Vector3?
  var rate: Double?
  var strengthError = 0.0
  var recent: CalibrationSample?
  var older: CalibrationSample?
  var fieldBefore = Vector3.zero
  var fieldTwoBefore = Vector3.zero
  var jumpStart: Timestamp?
  var jumpEnd: Timestamp?
  private var magnetStart: Timestamp?
  var stillSince: Timestamp?
  private var startedOverAt: Timestamp?

  // The present pose.
  var secondsInPose = 0.0
  var turned = 0.0
  var attempts = [Int](repeating: 0, count: CoachPose.allCases.count)
  var place = 0
  var listed = 0
  var dip: Double?

  // The end.
  var goodFits = 0
  private var bestScore = 0
  private var bestCells = 0
  var bestAt: Timestamp?

  /// - Parameters:
  ///   - mount: How the magnetometer sits on the board; what is asked for is told by the board's own sides.
  ///   - expected: What is known of the field here.
  ///   - params: What is demanded.
  public init(
    mount: Mount = .aligned, expected: CalibrationField = CalibrationField(),
    params: CoachParameters = CoachParameters()
  ) {
    toBody = mount.matrix
    self.expected = expected
    self.params = params
  }

  // MARK: What is shown

  /// What to do now, two short lines for a person.
  public var words: (pose: String, turn: String) { (pose.words, "and turn it slowly once round.") }

  /// The fit's score, 0 to 100; 0 while too little was seen for a fit to mean anything.
  public var score: Int { isTelling ? outcome.fit?.quality.score ?? 0 : 0 }

  /// The error of a heading that the fit predicts for itself, degrees; `nil` while that means nothing.
  public var headingError: Double? { score > 0 ? outcome.fit?.quality.headingError : nil }

  /// The share of the sphere that was seen, 0 to 1.
  public var coverage: Double { cells.coverage }

  /// The samples that the fit is made of, in order of time.
  public var samples: [CalibrationSample] { collection.samples }

  /// Why the fit may not be used yet, in words; `nil` where it may. The figures are those that are shown: a fit
  /// that means nothing yet counts cells of its own.
  public var refusal: String? {
    guard !isTelling else { return outcome.refusal }
    return collection.samples.isEmpty
      ? "no sample yet" : "too little was seen so far to say anything: turn it"
  }

  /// What is still missing for a good fit, in words; `nil` where nothing is.
  public var missing: String? {
    if let refusal { return refusal }
    guard let fit = outcome.fit else { return "no fit" }
    if fit.quality.score < params.goodScore {
      return fit.quality.reason.isEmpty ? "score \(fit.quality.score)" : fit.quality.reason
    }
    guard fit.quality.coverage < params.goodCoverage else { return nil }
    return "\(SphereCells.count - fit.quality.cells.filled) % of the sphere was not seen"
  }

  // MARK: What is told

  /// Takes a sample of the magnetometer with what belongs to it, in order of time.
  public mutating func take(_ sample: CalibrationSample) {
    guard end == nil, sample.field.isFinite, sample.field.length < 1e5 else { return }
    let time = sample.time
    let step = lastField.map { max(0, min(0.5, time.seconds(since: $0))) } ?? 0
    lastField = time
    follow(sample, step)
    watchField(sample, step)
    let isOff = warning == .magnet && magnetStart != nil
    if !isOff { _ = collection.take(sample) }
  }

  /// Looks how far things are, fits, and says what is next; to be called a few times a second.
  public mutating func update(at now: Timestamp) {
    guard end == nil else { return }
    self.now = now
    if start == nil { (start, poseStart, bestAt) = (now, now, now) }
    age = now.seconds(since: start ?? now)
    if isFitDue || now >= nextFit ?? now.advanced(bySeconds: 0), collection.samples.count > fitted {
      fit(at: now)
    }
    warn(at: now)
    guide(at: now)
    finish(at: now)
  }

  /// Throws the samples away and begins again; the time goes on.
  public mutating func startOver(at now: Timestamp) {
    collection = CoachCollection()
    outcome = CalibrationOutcome(fit: nil, refusal: "no sample yet")
    (cells, wanted) = (SphereCells(), SphereCells())
    (isTelling, strength, direction, magnetStart) = (false, nil, nil, nil)
    (recent, older, jumpStart, jumpEnd) = (nil, nil, nil, nil)
    (fitted, goodFits, bestScore, bestCells, strengthError) = (0, 0, 0, 0, 0)
    bestAt = now
    attempts = [Int](repeating: 0, count: attempts.count)
    ask(0, at: now)
  }

  // MARK: Parts

  /// Which way is down, how fast it turns, and how far it has turned in this pose.
  private mutating func follow(_ sample: CalibrationSample, _ step: Double) {
    let time = sample.time
    let share = 1 - exp(-step / 0.25)
    if let force = sample.force, let felt = force.normalized {
      lastForce = time
      let fresh = -(toBody * felt)
      let mixed = down.map { $0 + share * (fresh - $0) } ?? fresh
      down = mixed.normalized ?? fresh
    }
    var speed: Double?
    if let turning = sample.angularRate, turning.isFinite {
      speed = turning.length
      if let down, (isInPose(down)) {
        // About the vertical; a turn there and back is half as good as one on.
        turned += (toBody.determinant * (toBody * turning)).dot(down) * step
      }
    } else if let recent, step > 0, let strength = strength ?? expected.strength, strength > 0 {
      // Without a gyro, from the field: never more than it turns.
      let since = time.seconds(since: recent.time)
      if since > 0.15 { speed = (sample.field - recent.field).length / strength / since }
    }
    if let speed { rate = rate.map { $0 + share * (speed - $0) } ?? speed }
    if let down, isInPose(down) { secondsInPose += step }
  }

  private func isInPose(_ down: Vector3) -> Bool {
    down.dot(pose.down) > cos(Self.poseReach)
  }

  /// Whether the fit is sure enough to say that a field is wrong, rather than the other way round.
  private var isTrusted: Bool {
    outcome.isAccepted && score >= 55 && (outcome.fit?.quality.coverage ?? 0) >= 0.45
  }

  mutating func fit(at now: Timestamp) {
    (nextFit, isFitDue) = (now.advanced(bySeconds: params.refitInterval), false)
    let samples = collection.samples
    fitted = samples.count
    outcome = fitter.fit(samples, expected: expected)
    isTelling =
      outcome.fit.map {
        $0.quality.score > 0 && $0.quality.cells.filled > 8
          && Self.strengths.contains($0.fieldStrength)
      } ?? false
    collection.settle(by: isTelling ? outcome.fit?.applied : nil)
    if let fit = outcome.fit, isTelling {
      cells = fit.quality.cells
      dip = seenDip(fit.applied)
    } else {
      cells = collection.cells
    }
    goodFits = isGood ? goodFits + 1 : 0
    if score > bestScore + 1 || cells.filled > bestCells {
      (bestScore, bestCells) = (max(score, bestScore), max(cells.filled, bestCells))
      bestAt = now
    }
  }

  private var isGood: Bool {
    outcome.isAccepted && Self.strengths.contains(outcome.fit?.fieldStrength ?? 0)
      && score >= params.goodScore
      && (outcome.fit?.quality.coverage ?? 0) >= params.goodCoverage
  }

  /// The dip as the samples show it, radians.
  private func seenDip(_ calibration: AppliedCalibration) -> Double? {
    var (sum, count) = (0.0, 0)
    for sample in collection.samples {
      guard let up = sample.force?.normalized,
        let field = calibration.correct(sample.field).normalized
      else { continue }
      sum -= field.dot(up)
      count += 1
    }
    return count >= 30 ? asin(max(-1, min(1, sum / Double(count)))) : nil
  }

  private mutating func warn(at now: Timestamp) {
    let started = start ?? now
    if now.seconds(since: lastField ?? started) > Self.silence {
      warning = .noField
      return
    }
    if let lastForce, now.seconds(since: lastForce) > Self.silence {
      warning = .noForce
      return
    }
    if isTrusted, strengthError > Self.strengthReach {
      let since = magnetStart ?? now
      magnetStart = since
      if now.seconds(since: since) > Self.magnetPatience {
        startOver(at: now)
        startedOverAt = now
      }
      warning = .magnet
    } else {
      magnetStart = nil
      warning = jumpEnd.map { now < $0 } ?? false ? .magnet : nil
    }
    if let startedOverAt, now.seconds(since: startedOverAt) < 5 { warning = .startedOver }
    guard warning == nil, let rate else { return }
    if rate > Self.fastest {
      warning = .tooFast
    } else if rate < Self.slowest {
      let since = stillSince ?? now
      stillSince = since
      if now.seconds(since: since) > 3 { warning = .tooStill }
    } else {
      stillSince = nil
    }
    // A person must read the words and find the way first.
    if let down, now.seconds(since: poseStart ?? now) > 5, warning == nil || warning == .tooStill,
      let change = pose.correction(from: down)
    {
      warning = .otherPose(change)
    }
  }
}

/// What a guided calibration demands.
public struct CoachParameters: Sendable, Hashable {
  /// When to end at the latest, seconds from the first `update`.
  public var seconds = 240.0
  /// The quality score, 0 to 100, from which a fit is good enough to end.
  public var goodScore = 80
  /// The covered share of the sphere, 0 to 1, from which a fit is good enough to end.
  public var goodCoverage = 0.7
  /// A pose is asked for at least as long as this, seconds.
  public var leastPose = 5.0
  /// And no longer than this, seconds, however little of it was done.
  public var longestPose = 30.0
  /// Seconds between two fits; a slow machine takes more.
  public var refitInterval = 1.0

  /// Creates the default parameters.
  public init() {}
}

/// The reason why a guided calibration ended.
public enum CoachEnd: String, Sendable, Hashable {
  /// The fit is good.
  case good
  /// The fit may be used, and more turning did not better it.
  case nothingMore
  /// The time limit, `CoachParameters.seconds`, was reached.
  case timeUp
}
