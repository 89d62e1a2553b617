// Calibration of what cannot be tumbled: from turning alone, or from headings that something else knows.

public import LinearAlgebra
public import SensorTypes

#if canImport(Glibc)
  import Glibc
#else
  import Musl
#endif

/// Calibrates a magnetometer whose board only turns, or whose heading is known from elsewhere.
///
/// One regression does it all (`ReferencedRegression`); what it is given makes the method. Headings are of
/// the body's y axis, radians clockwise from *magnetic* north. A refused outcome says why; nothing is
/// guessed that the samples do not show: it stays as uncertain as it was and the covariance says so.
public struct ReferencedFitter: Sendable {
  /// Samples of a while in which the heading was known.
  public struct Sighting: Sendable, Hashable {
    /// What was measured meanwhile.
    public var samples: [CalibrationSample]
    /// The heading, radians from magnetic north.
    public var heading: Double
    /// One sigma of the heading, radians: what all samples of the sighting share.
    public var deviation: Double
    /// One sigma of what each sample's heading may differ by from the sighting's, radians: yawing.
    public var ownDeviation: Double
    /// Sightings with the same number, one after the other, share the error that `deviation` speaks of.
    public var reference: Int?

    /// Makes a sighting.
    public init(
      samples: [CalibrationSample], heading: Double, deviation: Double,
      ownDeviation: Double = 1.5 * .pi / 180, reference: Int? = nil
    ) {
      self.samples = samples
      self.heading = heading
      self.deviation = deviation
      self.ownDeviation = ownDeviation
      self.reference = reference
    }
  }

  /// From the magnetometer's frame to the body's: the mount, and the level after it.
  let toBody: Matrix3
  /// The earth's field here; `nil` where the place is not known.
  public var earth: EarthField?
  /// Soft iron that is known already (a record's matrix, sensor frame): what is found comes on top of it,
  /// and is thought to be smaller then.
  public var basis: Matrix3?

  /// Makes a fitter.
  ///
  /// - Parameters:
  ///   - mount: How the magnetometer sits on the board.
  ///   - level: How the board sits in its carrier, as its level record says: headings are the carrier's, as
  ///     those are that the hub publishes.
  ///   - earth: The earth's field here; `nil` where the place is not known.
  ///   - basis: Soft iron that is known already.
  public init(
    mount: Mount, level: Quaternion = .identity, earth: EarthField?, basis: Matrix3? = nil
  ) {
    self.init(toBody: level.matrix * mount.matrix, earth: earth, basis: basis)
  }

  private init(toBody: Matrix3, earth: EarthField?, basis: Matrix3?) {
    self.toBody = toBody
    self.earth = earth
    self.basis = basis
  }

  /// Samples are averaged over this long, seconds.
  private static let binLength = 0.1
  /// Waves and what passes by last longer: of so many seconds' bins one counts, on a turn and in sightings,
  /// which are short against a wave.
  private static let coherence = (turn: 0.4, sighting: 0.8)
  /// What pulls to the inside of a turn and is taken for tilt, m/s^2: half a metre a second at a circle a
  /// minute. No turn to one side can show it.
  private static let pull = 0.05
  /// Further than this the field in one bin may not have turned, as a share of its length.
  private static let spread = 0.25

  /// A board that turns, a whole turn at least: hard iron, and soft iron in the plane of the turn.
  ///
  /// How the chip is turned about the vertical no turn can show: that stays the mount's word, and is part of
  /// the heading error that is foretold. The vertical part of the hard iron follows from the earth's
  /// vertical field; without a place it stays open, with a covariance that says so.
  public func planar(_ samples: [CalibrationSample]) -> CalibrationOutcome {
    var observations = bins(samples)
    guard observations.count >= 60 else {
      return CalibrationOutcome(fit: nil, refusal: "too few samples: turn slowly, a whole turn")
    }
    for i in observations.indices { observations[i].group = i }
    guard let first = circle(observations) else {
      return CalibrationOutcome(fit: nil, refusal: "the field did not turn: nothing to fit")
    }
    var regression = ReferencedRegression()
    regression.noise.independence = Self.binLength / Self.coherence.turn
    sway(&observations, &regression, hasGyro: samples.contains { $0.angularRate != nil })
    let known = earth ?? first.earth
    guard var result = regression.solve(observations, earth: known, start: first.offset) else {
      return CalibrationOutcome(fit: nil, refusal: "the samples do not lie on an ellipse")
    }
    if samples.contains(where: { $0.force != nil }) {
      let shift = result.vertical * Self.pull / standardGravity
      result.covariance[0][0] += shift * shift
    }
    return outcome(.planar, observations, result, samples: samples.count)
  }

  /// A board that is held still at a heading that is known: its hard iron.
  ///
  /// One attitude cannot tell hard from soft iron: soft iron stays what it was (`basis`).
  public func knownHeading(
    _ samples: [CalibrationSample], heading: Double, deviation: Double
  ) -> CalibrationOutcome {
    guard earth != nil else {
      return CalibrationOutcome(
        fit: nil, refusal: "position unknown: one heading needs the earth's field")
    }
    return referenced(
      .knownHeading, [Sighting(samples: samples, heading: heading, deviation: deviation)])
  }

  /// Headings known at several points of the compass, as a compass adjuster swings a ship.
  ///
  /// Without a place the horizontal field is an unknown like the iron.
  public func deviation(_ sightings: [Sighting]) -> CalibrationOutcome {
    guard sightings.count >= 4 else {
      return CalibrationOutcome(
        fit: nil, refusal: "\(sightings.count) headings are too few: four at least, better eight")
    }
    return referenced(.deviation, sightings)
  }

  /// Headings from a receiver's course (`CourseGathering` makes the sightings).
  public func course(_ sightings: [Sighting]) -> CalibrationOutcome {
    guard earth != nil else {
      return CalibrationOutcome(fit: nil, refusal: "position unknown: no fix yet")
    }
    guard !sightings.isEmpty else {
      return CalibrationOutcome(
        fit: nil, refusal: "no steady course yet: drive straight for a while")
    }
    return referenced(.course, sightings)
  }

  private func referenced(_ method: CalibrationMethod, _ sightings: [Sighting])
    -> CalibrationOutcome
  {
    var outcome = fit(method, sightings)
    guard outcome.isAccepted, let first = outcome.fit else { return outcome }
    if let refusal = disagreement(sightings, first) {
      outcome.refusal = refusal
      return outcome
    }
    let factor = understatement(sightings, first)
    guard factor > 1 else { return outcome }
    var doubted = sightings
    for i in doubted.indices { doubted[i].deviation *= factor }
    return fit(method, doubted)
  }

  private func fit(_ method: CalibrationMethod, _ sightings: [Sighting]) -> CalibrationOutcome {
    var observations: [ReferencedRegression.Observation] = []
    var (samples, group) = (0, 0)
    var reference: Int?
    let bias = gyroBias(sightings.map(\.samples))
    for sighting in sightings {
      guard sighting.heading.isFinite, sighting.deviation > 0, sighting.deviation.isFinite,
        sighting.ownDeviation >= 0, sighting.ownDeviation.isFinite
      else { continue }
      if sighting.reference == nil || sighting.reference != reference { group += 1 }
      reference = sighting.reference
      samples += sighting.samples.count
      for var observation in bins(sighting.samples, gyroBias: bias) {
        observation.heading = sighting.heading
        observation.deviation = sighting.ownDeviation
        (observation.group, observation.groupDeviation) = (group, sighting.deviation)
        observations.append(observation)
      }
    }
    guard observations.count >= 3 else {
      return CalibrationOutcome(fit: nil, refusal: "too few samples")
    }
    var regression = ReferencedRegression()
    regression.noise.independence = Self.binLength / Self.coherence.sighting
    sway(
      &observations, &regression,
      hasGyro: sightings.contains { $0.samples.contains { $0.angularRate != nil } })
    if method != .knownHeading {
      // How the board stands in the vehicle is part of what headings from outside show.
      regression.prior.turn = 5 * .pi / 180
    }
    if basis != nil, method == .knownHeading {
      (regression.prior.soft, regression.prior.skew) = (0.02, 0.014)
    }
    let known: EarthField
    if let earth {
      known = earth
    } else if let found = horizontalField(observations) {
      known = found
    } else {
      return CalibrationOutcome(
        fit: nil,
        refusal: "position unknown, and the headings are too few to do without the earth's field")
    }
    let mean = observations.reduce(Vector3.zero) { $0 + $1.field } / Double(observations.count)
    guard let result = regression.solve(observations, earth: known, start: mean) else {
      return CalibrationOutcome(fit: nil, refusal: "the samples give no solution")
    }
    return outcome(method, observations, result, samples: samples)
  }

  /// How many times further than they were said to the headings err, as the fit misses them; 1 where it does not
  /// show.
  ///
  /// The variance of a normal error of unknown scale, with what was said weighing as two headings; the fit itself
  /// has used up five, a deviation card's coefficients A to E.
  private func understatement(_ sightings: [Sighting], _ fit: CalibrationFit) -> Double {
    var shares: [Double] = []
    var group: (reference: Int?, miss: Double, variance: Double, count: Double)?
    func close() {
      guard let group else { return }
      let miss = group.miss / group.count
      shares.append(miss * miss / (group.variance / group.count))
    }
    for sighting in sightings {
      guard let shown = heading(sighting.samples, by: fit.applied) else { continue }
      let miss = (shown - sighting.heading).remainder(dividingBy: 2 * .pi)
      // Yawing averages out over a sighting.
      var seconds = 0.0
      if let first = sighting.samples.first, let last = sighting.samples.last {
        seconds = last.time.seconds(since: first.time)
      }
      let own = sighting.ownDeviation * sighting.ownDeviation
      let variance =
        sighting.deviation * sighting.deviation + own / max(1, seconds / Self.coherence.sighting)
      if let open = group, let reference = sighting.reference, reference == open.reference {
        group = (reference, open.miss + miss, open.variance + variance, open.count + 1)
      } else {
        close()
        group = (sighting.reference, miss, variance, 1)
      }
    }
    close()
    // A heading that is simply wrong has lost its weight in the fit, and says nothing of the others.
    shares.sort()
    let usual = shares.isEmpty ? 1 : max(1, shares[shares.count / 2] / 0.455)
    let kept = shares.filter { $0 < 16 * usual }
    let freedom = Double(kept.count - 5)
    guard freedom > 0 else { return 1 }
    return max(1, ((2 + kept.reduce(0, +)) / (2 + freedom)).squareRoot())
  }

  /// Why headings cannot all be right: most of them miss the fit by far more than they may.
  private func disagreement(_ sightings: [Sighting], _ fit: CalibrationFit) -> String? {
    var shares: [Double] = []
    var misses: [Double] = []
    for sighting in sightings {
      guard let shown = heading(sighting.samples, by: fit.applied) else { continue }
      let miss = abs((shown - sighting.heading).remainder(dividingBy: 2 * .pi))
      misses.append(miss * 180 / .pi)
      shares.append(miss / hypot(sighting.deviation, sighting.ownDeviation))
    }
    guard !shares.isEmpty else { return nil }
    misses.sort()
    shares.sort()
    // The median of a normal error is two thirds of its sigma.
    guard shares[shares.count / 2] > 2.5 else { return nil }
    let figure = (misses[misses.count / 2] * 10).rounded() / 10
    return
      "the headings do not fit together, most miss by \(figure) deg: held too short, or the board "
      + "does not point the way it is said to"
  }

  // MARK: Samples

  /// Means over `binLength`, in the chip's own frame and in order of time: what is kept beside a record, whose residual
  /// is that of such means too. Unlike `bins` it judges no sample. Without angular rates.
  public static func means(_ samples: [CalibrationSample]) -> [CalibrationSample] {
    var result: [CalibrationSample] = []
    var (field, force) = (Vector3.zero, Vector3.zero)
    var (count, forces) = (0.0, 0.0)
    var start: Timestamp?
    func close() {
      defer { (field, force, count, forces) = (.zero, .zero, 0, 0) }
      guard let start, count > 0 else { return }
      result.append(
        CalibrationSample(
          time: start, field: field / count, force: forces > 0 ? force / forces : nil))
    }
    for sample in samples.sorted(by: { $0.time < $1.time }) where sample.field.isFinite {
      if start.map({ sample.time.seconds(since: $0) >= binLength }) ?? true {
        close()
        start = sample.time
      }
      field += sample.field
      count += 1
      if let felt = sample.force, felt.isFinite {
        force += felt
        forces += 1
      }
    }
    close()
    return result
  }

  /// Means over short whiles, in the body frame.
  func bins(_ samples: [CalibrationSample], gyroBias: Vector3? = nil)
    -> [ReferencedRegression.Observation]
  {
    let turn = toBody
    let sense = turn.determinant
    var tracker = UpTracker()
    tracker.bias = gyroBias ?? self.gyroBias([samples])
    var result: [ReferencedRegression.Observation] = []
    var (field, up, count) = (Vector3.zero, Vector3.zero, 0.0)
    var start: Timestamp?
    func close() {
      defer { (field, up, count, start) = (.zero, .zero, 0, nil) }
      guard count > 0, let up = up.normalized else { return }
      result.append(ReferencedRegression.Observation(field: field / count, up: up))
    }
    for sample in samples {
      let raw = turn * (basis.map { $0 * sample.field } ?? sample.field)
      guard raw.isFinite, raw.length < 5_000 else { continue }
      // A board without an accelerometer is level by the board file's word.
      let tilt = tracker.take(
        force: sample.force.map { turn * $0 }, rate: sample.angularRate.map { sense * (turn * $0) },
        at: sample.time)
      guard sample.force == nil || tilt != nil else { continue }
      if let begun = start {
        let age = sample.time.seconds(since: begun)
        if age < 0 || age >= Self.binLength || (raw - field / count).length > 20 * Self.spread {
          close()
        }
      }
      if start == nil { start = sample.time }
      field += raw
      up += tilt ?? Vector3(0, 0, 1)
      count += 1
    }
    close()
    return result
  }

  /// What the gyro says of a board that does not turn, body frame, rad/s, as far as it tilts: gravity draws the
  /// direction that a biased gyro carries away back all the time.
  private func gyroBias(_ lists: [[CalibrationSample]]) -> Vector3 {
    let turn = toBody
    let sense = turn.determinant
    var bias = Vector3.zero
    for _ in 0..<4 {
      var (drawn, seconds) = (Vector3.zero, 0.0)
      for samples in lists {
        var tracker = UpTracker()
        tracker.bias = bias
        // A short sighting has less to settle with.
        if let first = samples.first, let last = samples.last {
          let length = last.time.seconds(since: first.time)
          tracker.settling = min(tracker.settling, max(1, 0.3 * length))
        }
        for sample in samples {
          guard let force = sample.force, let rate = sample.angularRate else { continue }
          _ = tracker.take(force: turn * force, rate: sense * (turn * rate), at: sample.time)
        }
        drawn += tracker.drawn
        seconds += tracker.seconds
      }
      // Less says nothing that waves do not say as well.
      guard seconds > 3, drawn.isFinite else { return bias }
      bias += drawn / seconds
    }
    return bias.length < 0.2 ? bias : .zero
  }

  /// Says of each observation how far it sways, and how well that is known.
  private func sway(
    _ observations: inout [ReferencedRegression.Observation],
    _ regression: inout ReferencedRegression, hasGyro: Bool
  ) {
    let sum = observations.reduce(Vector3.zero) { $0 + $1.up }
    guard let usual = sum.normalized else { return }
    for i in observations.indices { observations[i].sway = observations[i].up - usual }
    // A gyro carries the direction over the waves; an accelerometer a metre up the mast feels a wave of four
    // seconds a quarter too strong.
    regression.prior.swing = hasGyro ? 0.03 : 0.25
  }

  /// A first hard iron from samples without headings: all corrected fields are of one length and have one
  /// vertical part. Both are linear in the hard iron.
  private func circle(_ observations: [ReferencedRegression.Observation])
    -> (offset: Vector3, earth: EarthField)?
  {
    let mean = observations.reduce(Vector3.zero) { $0 + $1.field } / Double(observations.count)
    let vertical = earth?.vertical ?? 0
    let doubt = earth?.verticalDeviation ?? 45
    var weights = [Double](repeating: 1, count: observations.count)
    var found: [Double] = []
    for _ in 0..<6 {
      // Hard iron less the mean (3), the squared strength less the hard iron's, the vertical field.
      var system = LeastSquares(unknowns: 5)
      for i in 0..<3 { system.expect(i, 0, deviation: 400) }
      system.expect(3, 0, deviation: 1e4)
      system.expect(4, vertical, deviation: doubt)
      for (o, weight) in zip(observations, weights) {
        let d = o.field - mean
        // 2 b.d + (F^2 - b^2) = d^2, over twice a usual strength to be in microtesla.
        system.add(
          [d.x / 50, d.y / 50, d.z / 50, 1, 0].map { $0 }, equals: d.lengthSquared / 100,
          weight: weight / 4)
        system.add([o.up.x, o.up.y, o.up.z, 0, -1], equals: o.up.dot(d), weight: weight)
      }
      guard let solution = system.solution() else { return nil }
      found = solution.x
      let b = Vector3(found[0], found[1], found[2])
      let errors = observations.map { o in
        let d = o.field - mean
        return abs(2 * b.dot(d) / 100 + found[3] - d.lengthSquared / 100)
          + abs(o.up.dot(d - b) + found[4])
      }
      let usual = max(1, errors.sorted()[errors.count / 2])
      weights = errors.map { $0 < 3 * usual ? 1 : (3 * usual / $0) * (3 * usual / $0) }
    }
    let offset = mean + Vector3(found[0], found[1], found[2])
    var radii = observations.map { o in
      let c = o.field - offset
      return (c - c.dot(o.up) * o.up).length
    }
    radii.sort()
    let radius = radii[radii.count / 2]
    guard radius > 2, radius < 100 else { return nil }
    // The scale of the chip and the field's are one: E's own doubt covers what is not known of it.
    return (
      offset,
      EarthField(
        horizontal: radius, vertical: found[4], horizontalDeviation: 0.05 * radius,
        verticalDeviation: 45)
    )
  }

  /// The horizontal field by known headings all round, where the place is not known.
  private func horizontalField(_ observations: [ReferencedRegression.Observation]) -> EarthField? {
    var system = LeastSquares(unknowns: 5)
    for i in 0..<3 { system.expect(i, 0, deviation: 400) }
    system.expect(3, 25, deviation: 15)
    system.expect(4, 0, deviation: 45)
    var sectors: Set<Int> = []
    for o in observations {
      guard let heading = o.heading,
        let horizon = ReferencedRegression.horizon(up: o.up, heading: heading)
      else { continue }
      sectors.insert(Self.sector(heading, of: 8))
      for axis in [Vector3(1, 0, 0), Vector3(0, 1, 0), Vector3(0, 0, 1)] {
        system.add(
          [axis.x, axis.y, axis.z, axis.dot(horizon.north), -axis.dot(o.up)],
          equals: axis.dot(o.field))
      }
    }
    guard sectors.count >= 4, let x = system.solution()?.x, x[3] > 4, x[3] < 100 else { return nil }
    return EarthField(
      horizontal: x[3], vertical: x[4], horizontalDeviation: 0.1 * x[3], verticalDeviation: 45)
  }

  /// The part of the compass that a heading lies in, 0 up to `count`; 0 for what is no heading.
  static func sector(_ heading: Double, of count: Int) -> Int {
    guard heading.isFinite else { return 0 }
    let turn = heading / (2 * .pi)
    return min(count - 1, Int((turn - turn.rounded(.down)) * Double(count)))
  }
}

extension ReferencedFitter {
  /// The card of a compass that corrects by `calibration` (none: raw samples), by sightings; magnetic
  /// headings. Sightings without a sample are left out.
  public func card(_ sightings: [Sighting], by calibration: AppliedCalibration?) -> DeviationCard {
    DeviationCard(
      points: sightings.compactMap { sighting in
        guard let shown = heading(sighting.samples, by: calibration) else { return nil }
        func degrees(_ radians: Double) -> Double {
          let turn = radians / (2 * .pi)
          return 360 * (turn - turn.rounded(.down))
        }
        return DeviationCard.Point(magnetic: degrees(sighting.heading), compass: degrees(shown))
      })
  }

  /// The mean heading that samples show when they are corrected by `calibration`, radians from magnetic
  /// north; `nil` where they show none.
  public func heading(_ samples: [CalibrationSample], by calibration: AppliedCalibration?)
    -> Double?
  {
    let sums = headings(samples, by: calibration).reduce((0.0, 0.0)) {
      ($0.0 + sin($1), $0.1 + cos($1))
    }
    guard hypot(sums.0, sums.1) > 1e-9 else { return nil }
    return atan2(sums.0, sums.1)
  }

  /// The heading of each short while of the samples, corrected by `calibration`.
  public func headings(_ samples: [CalibrationSample], by calibration: AppliedCalibration?)
    -> [Double]
  {
    let plain = ReferencedFitter(toBody: toBody, earth: earth, basis: nil)
    let turn = toBody
    return plain.bins(samples).compactMap { o in
      let field = calibration.map { turn * $0.correct(turn.transposed * o.field) } ?? o.field
      return ReferencedRegression.heading(of: field, up: o.up)
    }
  }
}
