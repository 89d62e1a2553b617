// How samples become the observations of the regression.

import LinearAlgebra
public import SensorTypes

extension ReferencedFitter {
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
    -> [RegressionRow]
  {
    let turn = toBody
    let sense = turn.determinant
    var tracker = UpTracker()
    tracker.bias = gyroBias ?? self.gyroBias([samples])
    var result: [RegressionRow] = []
    var (field, up, count) = (Vector3.zero, Vector3.zero, 0.0)
    var start: Timestamp?
    func close() {
      defer { (field, up, count, start) = (.zero, .zero, 0, nil) }
      guard count > 0, let up = up.normalized else { return }
      result.append(RegressionRow(field: field / count, up: up))
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
  func gyroBias(_ lists: [[CalibrationSample]]) -> Vector3 {
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
  func sway(
    _ observations: inout [RegressionRow],
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
  func circle(_ observations: [RegressionRow])
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
  func horizontalField(_ observations: [RegressionRow]) -> EarthField? {
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
