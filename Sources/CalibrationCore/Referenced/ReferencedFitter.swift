// Calibration of what cannot be tumbled: from turning alone, or from headings that something else knows.

public import LinearAlgebra
public import SensorTypes

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
  static let binLength = 0.1
  /// Waves and what passes by last longer: of so many seconds' bins one counts, on a turn and in sightings,
  /// which are short against a wave.
  private static let coherence = (turn: 0.4, sighting: 0.8)
  /// What pulls to the inside of a turn and is taken for tilt, m/s^2: half a metre a second at a circle a
  /// minute. No turn to one side can show it.
  private static let pull = 0.05
  /// Further than this the field in one bin may not have turned, as a share of its length.
  static let spread = 0.25

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
    var observations: [RegressionRow] = []
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
        return DeviationPoint(magnetic: degrees(sighting.heading), compass: degrees(shown))
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
