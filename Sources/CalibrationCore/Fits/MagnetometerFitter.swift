// From raw samples to a calibration: hard iron, soft iron and alignment, with what they are worth.

import LinearAlgebra
public import SensorTypes

/// Fits a magnetometer's iron to samples of a board that was turned about.
///
/// The corrected field has one length wherever the board points, and with an accelerometer one angle to
/// gravity. Both are fitted together, by least squares of geometric residuals with weights that fall to
/// nothing for what lies off (Tukey's biweight); disturbances of half a second and more are left out with
/// their surroundings. Sphere, diagonal or ellipsoid is chosen by Schwarz's criterion.
///
/// Nothing in it has a unit: the strength of the field comes out in the unit of the samples. Soft iron is
/// scaled so that its diagonal's mean is 1, or so that the corrected field has the expected strength where
/// one is given.
public struct MagnetometerFitter: Sendable, Hashable {
  /// What a fit assumes and demands.
  public var params: FitParameters

  /// Makes a fitter.
  public init(params: FitParameters = FitParameters()) { self.params = params }

  /// Fits samples, in order of time.
  ///
  /// - Parameter expected: What is known of the field; strength in the unit of the samples.
  /// - Returns: What was found and whether it may be used. It takes some milliseconds, more samples do not
  ///   take more than some tens.
  public func fit(
    _ samples: [CalibrationSample], expected: CalibrationField = CalibrationField()
  ) -> CalibrationOutcome {
    // A field beyond any chip's is a fault of the data, and its square would be infinite.
    let finite = samples.filter { $0.field.isFinite && $0.field.length < 1e12 }
    let stops = EndStops(
      finite.map(\.field), radius: CloudFrame(finite.map(\.field))?.scale ?? 0)
    let usable = finite.filter { stops.contains($0.field) }
    let stopped = finite.isEmpty ? 0 : 1 - Double(usable.count) / Double(finite.count)
    let given = Self.stretches(of: usable, most: params.mostGiven)
    guard given.count >= params.leastSamples else {
      return CalibrationOutcome(
        fit: nil,
        refusal: "\(given.count) samples are too few, \(params.leastSamples) the least"
          + (stopped > 0 ? ": \(stops.words(stopped))" : ""))
    }
    guard let frame = CloudFrame(given.map(\.field)), let first = given.first else {
      return CalibrationOutcome(fit: nil, refusal: "the field never changed: turn the board")
    }
    guard frame.scale > Self.leastField, frame.scale < Self.mostField else {
      return CalibrationOutcome(
        fit: nil,
        refusal: "the samples differ by \(2 * frame.scale) at most: no magnetometer's field is so "
          + (frame.scale < 1 ? "weak" : "strong") + " in any unit")
    }
    let known = expected.strength.flatMap { strength -> (value: Double, deviation: Double)? in
      guard strength.isFinite, strength > 0, strength / frame.scale < 1e3 else { return nil }
      let deviation = min(1, max(1e-3, expected.strengthDeviation))
      return (strength / frame.scale, deviation * strength / frame.scale)
    }
    let vertical = expected.dip.flatMap { dip -> (value: Double, deviation: Double)? in
      guard dip.isFinite, abs(dip) <= .pi / 2 else { return nil }
      return (-sin(dip), max(0.005, expected.dipDeviation * cos(dip)))
    }
    let prior = DistortionSolver.Prior(
      radius: known, vertical: vertical, soft: params.softDeviation, turn: params.turnDeviation)

    let points = ironPoints(given, frame: frame, start: first)
    guard var solver = solved(points, prior: prior) else {
      return CalibrationOutcome(fit: nil, refusal: "the samples lie on no sphere: turn the board")
    }
    let method = choose(&solver)
    return judged(
      solver, method: method, all: usable, frame: frame, expected: expected, known: known,
      stops: stops, stopped: stopped)
  }

  // MARK: Parts

  /// The earth's field is at least 2e-5 T, and no log has a larger unit: a field 10,000 times weaker cannot be the earth's.
  static let leastField = 2e-9
  /// It is 7e4 nT at most, a chip's counts end at 2^24, and no log has a smaller unit.
  static let mostField = 1e9

  /// Some seconds at a chip's usual rate: what gravity is followed over with a gyro must not be torn.
  private static let stretchLength = 400

  /// At most `most` of the samples, in stretches as they came, each in the middle of its share of the whole.
  static func stretches(of samples: [CalibrationSample], most: Int) -> [CalibrationSample] {
    guard samples.count > max(0, most) else { return samples }
    let count = max(1, most / stretchLength)
    let length = max(0, most) / count
    var kept: [CalibrationSample] = []
    kept.reserveCapacity(count * length)
    for stretch in 0..<count {
      let (from, to) = (samples.count * stretch / count, samples.count * (stretch + 1) / count)
      let start = from + max(0, to - from - length) / 2
      kept += samples[start..<min(to, start + length)]
    }
    return kept
  }

  private func ironPoints(
    _ samples: [CalibrationSample], frame: CloudFrame, start: CalibrationSample
  ) -> [DistortionPoint] {
    let gravities = GravityReference.felt(samples)
    return zip(samples, gravities).map { sample, gravity in
      // A hundredth of a radian is what the field's noise comes to.
      let doubt = (gravity?.deviation ?? 0) / 0.01
      return DistortionPoint(
        raw: (sample.field - frame.center) / frame.scale, up: gravity?.force.normalized,
        doubt: (1 + doubt * doubt).squareRoot(),
        rate: sample.angularRate.flatMap { $0.isFinite && $0.length < 100 ? $0 : nil } ?? .zero,
        time: sample.time.seconds(since: start.time))
    }
  }

  /// The best of several fits, each from another start.
  private func solved(_ points: [DistortionPoint], prior: DistortionSolver.Prior)
    -> DistortionSolver?
  {
    func thinned(_ limit: Int) -> [DistortionPoint] {
      DistortionStart.thinned(points, limit: limit).map { points[$0] }
    }
    let few = thinned(250)
    let starts = DistortionStart.spheres(few.map(\.raw), radius: prior.radius, count: 3)
    var best: (model: DistortionModel, cost: Double)?
    for start in starts {
      var model = DistortionModel()
      (model.offset, model.radius) = (start.center, start.radius)
      var solver = DistortionSolver(points: few, prior: prior, model: model)
      solver.solve(rounds: 8)
      guard solver.model.isSane else { continue }
      var cost = solver.middle
      if let known = prior.radius {
        cost *= 1 + abs(solver.model.radius - known.value) / known.deviation
      }
      if cost < best?.cost ?? .infinity { best = (solver.model, cost) }
    }
    guard let best else { return nil }
    var middle = DistortionSolver(
      points: thinned(min(800, params.mostSamples)), prior: prior, model: best.model)
    middle.solve()
    guard middle.model.isSane else { return nil }
    // Places where the board lay count no more than twice what the others do.
    var points = thinned(params.mostSamples)
    let model = middle.model
    let soft = model.soft
    let cells = points.map { SphereCells.index(of: soft * ($0.raw - model.offset)) ?? 0 }
    var counts = [Int](repeating: 0, count: SphereCells.count)
    for cell in cells { counts[cell] += 1 }
    let most =
      2 * Double(max(1, DistortionSolver.median(counts.filter { $0 > 0 }.map(Double.init))))
    for i in points.indices { points[i].share = min(1, most / Double(counts[cells[i]])) }
    var solver = DistortionSolver(points: points, prior: prior, model: model)
    (solver.run, solver.tiltRun) = (middle.run, middle.tiltRun)
    solver.solve(rounds: 4, settled: true)
    return solver.model.isSane ? solver : nil
  }

  /// Leaves the solver with the simplest model that says what the samples say.
  private func choose(_ solver: inout DistortionSolver) -> CalibrationMethod {
    let independent = solver.weights.reduce(0, +) / solver.run
    var best: (solver: DistortionSolver, criterion: Double, freedom: DistortionFreedom)?
    for freedom in DistortionFreedom.allCases {
      var candidate = solver
      let left = candidate.refit(freedom)
      let criterion = left + Double(freedom.rawValue) * log(max(2, independent))
      if criterion < best?.criterion ?? .infinity { best = (candidate, criterion, freedom) }
    }
    guard let best else { return .ellipsoid }
    solver = best.solver
    switch best.freedom {
    case .sphere: return .sphere
    case .diagonal: return .diagonal
    case .ellipsoid: return .ellipsoid
    }
  }

  private func judged(
    _ solver: DistortionSolver, method: CalibrationMethod, all: [CalibrationSample],
    frame: CloudFrame,
    expected: CalibrationField, known: (value: Double, deviation: Double)?, stops: EndStops,
    stopped: Double
  ) -> CalibrationOutcome {
    let model = solver.model
    let soft = model.soft
    let turn = model.turn.matrix
    // Every sample's, not only those that were fitted.
    var cells = SphereCells()
    var (inliers, squares) = (0, 0.0)
    for sample in all {
      let raw = (sample.field - frame.center) / frame.scale
      let corrected = soft * (raw - model.offset)
      let residual = model.misfit(corrected, soft: soft)
      guard abs(residual) < DistortionSolver.reach * solver.spread else { continue }
      inliers += 1
      squares += residual * residual
      cells.insert(turn * corrected)
    }
    let residual = inliers > 0 ? (squares / Double(inliers)).squareRoot() : 0
    // The expected strength, where there is one, is what the corrected field shall have.
    let gain = known.map { $0.value / model.radius } ?? 1
    let covariance = solver.covariance()
    let unit = frame.scale * frame.scale
    func entry(_ i: Int, _ j: Int) -> Double { (covariance?[i][j] ?? 0) * unit }
    let hard = Matrix3(
      rows: Vector3(entry(0, 0), entry(0, 1), entry(0, 2)),
      Vector3(entry(1, 0), entry(1, 1), entry(1, 2)),
      Vector3(entry(2, 0), entry(2, 1), entry(2, 2)))

    let error = covariance.map {
      HeadingBudget(
        model, covariance: $0, dip: expected.dip ?? CalibrationField.usualDip, up: expected.up)
    }
    let axes = SymmetricEigenvalues(soft)?.values ?? Vector3(1, 1, 1)
    let directions = SymmetricEigenvalues(hard)?.values ?? Vector3(1, 1, 1)
    var evidence = FitEvidence(
      samples: all.count, inliers: inliers, cells: cells,
      residualPercent: 100 * residual / model.radius, budget: error,
      hasForce: solver.hasForce, axisRatio: axes.z > 0 ? axes.x / axes.z : .infinity,
      offsetRatio: ((model.offset * frame.scale + frame.center).length)
        / (model.radius * frame.scale),
      turn: model.turn.rotationVector.length)
    var refusal = evidence.refusal(params)
    if refusal == nil, stopped > params.mostStopped { refusal = stops.words(stopped) }
    let change =
      refusal == nil && params.demandsSteadyIron
      ? ironChange(solver, frame: frame, expected: expected) : nil
    if let change {
      evidence.changeError = change.degrees
      refusal = evidence.refusal(params)
    } else if refusal == nil, params.demandsSteadyIron {
      let test = HardIronChangeTest(points: solver.points, model: model, spread: solver.spread)
      evidence.wanderError = HeadingBudget.degrees(
        ofMisfits: test.wander() / model.radius, dip: expected.dip ?? CalibrationField.usualDip)
      refusal = evidence.refusal(params)
    }
    let (score, reason) = evidence.score
    let fit = CalibrationFit(
      method: method, hardIron: model.offset * frame.scale + frame.center, softIron: gain * soft,
      alignment: model.turn.matrix, fieldStrength: gain * model.radius * frame.scale,
      hardIronCovariance: hard, samples: all.count, inliers: inliers,
      quality: CalibrationQuality(
        score: score, reason: reason, cells: cells, residual: gain * residual * frame.scale,
        residualPercent: evidence.residualPercent, headingError: evidence.headingError,
        condition: directions.z > 0 ? (directions.x / directions.z).squareRoot() : 1))
    var outcome = CalibrationOutcome(fit: fit, refusal: refusal)
    outcome.change = change
    return outcome
  }

  /// How the hard iron changed while the samples were taken; `nil` where it did not.
  private func ironChange(
    _ solver: DistortionSolver, frame: CloudFrame, expected: CalibrationField
  ) -> HardIronChange? {
    let model = solver.model
    let test = HardIronChangeTest(points: solver.points, model: model, spread: solver.spread)
    guard let finding = test.finding(), let back = model.soft.inverse else { return nil }
    func applied(_ offset: Vector3) -> AppliedCalibration {
      AppliedCalibration(
        matrix: model.turn.matrix * model.soft, offset: offset, offsetCovariance: .identity,
        residual: 0)
    }
    // A field of the right strength in any direction.
    let field = finding.second + back * Vector3(model.radius, 0, 0)
    let degrees = headingDifference(
      applied(finding.first), applied(finding.second),
      of: [CalibrationSample(time: Timestamp(nanoseconds: 0), field: field)], expected: expected)
    return HardIronChange(
      kind: finding.kind, first: finding.first * frame.scale + frame.center,
      second: finding.second * frame.scale + frame.center, share: finding.share,
      degrees: degrees ?? 180)
  }
}

/// What a fit assumes and demands.
public struct FitParameters: Sendable, Hashable {
  /// Samples that are fitted; of more, those are taken that are spread most evenly.
  public var mostSamples = 6_000
  /// Samples that a fit is made from; of more, stretches that are spread evenly. All are counted in the end.
  public var mostGiven = 60_000
  /// Below it there is no fit.
  public var leastSamples = 30
  /// Below it a fit is refused, share of the sphere.
  public var leastCoverage = 0.25
  /// Above it a fit is refused, percent of the field.
  public var largestResidual = 10.0
  /// Above it a fit is refused, degrees.
  public var largestHeadingError = 3.0
  /// Share of samples beyond the chip's range above which a fit is refused: it would serve no heading there.
  public var mostStopped = 0.1
  /// Ratio of soft iron's longest to its shortest axis above which a fit is refused.
  public var largestAxisRatio = 2.0
  /// The same where at least `seenCoverage` of the sphere was seen: there the ratio is measured, and some chips' axes
  /// differ by more than two to one.
  public var largestSeenAxisRatio = 3.0
  /// The coverage, 0 to 1, from which `largestSeenAxisRatio` is allowed.
  public var seenCoverage = 0.7
  /// Hard iron above which a fit is refused, in field strengths: no chip measures it.
  public var largestOffset = 100.0
  /// Standard deviation of soft iron's entries: axes differ by a half at most.
  public var softDeviation = 0.15
  /// Standard deviation of the alignment about each axis, radians.
  public var turnDeviation = 1.5 * Double.pi / 180
  /// Whether a hard iron that changes while samples are taken is looked for (`HardIronChangeTest`). It takes several
  /// times as long as the fit itself. A change that alters the heading by more than `largestHeadingError` is refused;
  /// a smaller one is added to the heading error.
  public var demandsSteadyIron = false

  /// Creates the default parameters.
  public init() {}
}
