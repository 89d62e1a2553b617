import CalibrationCore

/// Swings a vessel through headings that are known, and draws its deviation card: `lodestone calibrate deviation`.
package struct DeviationRun {
  private let headings: [Double]
  private let isMagnetic: Bool
  private let error: Double
  private let hold: Double
  private let every: Double?

  /// - Parameters:
  ///   - headings: The headings to take, degrees.
  ///   - isMagnetic: Whether they are from magnetic north.
  ///   - error: How well each is known, degrees (one sigma).
  ///   - hold: Seconds for which each is held.
  ///   - every: Seconds from one heading to the next without a key; `nil` to wait for Return.
  package init(
    headings: [Double], isMagnetic: Bool, error: Double, hold: Double, every: Double?
  ) {
    self.headings = headings
    self.isMagnetic = isMagnetic
    self.error = error
    self.hold = hold
    self.every = every
  }

  /// Gathers, prints what came of it and saves it.
  package func run(_ given: ReferencedBench) throws {
    var bench = given
    var swing = CompassSwing(
      headings: headings, hold: hold, every: every, format: bench.saving.format)
    try swing.run(&bench)
    let declination = isMagnetic ? 0 : try bench.declination(magnetic: false)
    let sightings = sightings(of: swing.taken, declination: declination)
    let fitter = bench.fitter()
    var report = ReferencedReport(
      outcome: fitter.deviation(sightings), bench: bench, samples: sightings.flatMap(\.samples))
    report.judge(sightings, fitter)
    try report.finish()
  }

  /// What was taken, by magnetic north.
  ///
  /// - Parameters:
  ///   - taken: Headings in degrees with their samples.
  ///   - declination: From true to magnetic north, radians; 0 for headings that are magnetic already.
  func sightings(of taken: [CompassSwing.HeldHeading], declination: Double)
    -> [ReferencedFitter.Sighting]
  {
    taken.map { heading, samples in
      ReferencedFitter.Sighting(
        samples: samples, heading: heading * .pi / 180 - declination, deviation: error * .pi / 180)
    }
  }
}
