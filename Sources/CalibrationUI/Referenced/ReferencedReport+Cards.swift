package import CalibrationCore

extension ReferencedReport {
  /// Draws the cards of the record in force (none: the raw field) and of the new one.
  package mutating func judge(_ sightings: [ReferencedFitter.Sighting], _ fitter: ReferencedFitter)
  {
    let squares = sightings.reduce(0) { $0 + $1.deviation * $1.deviation }
    let count = max(1, sightings.count)
    judge = ((squares / Double(count)).squareRoot() * 180 / .pi, count)
    let old = fitter.card(sightings, by: bench.record)
    before = old.error
    guard let fit = outcome.fit else { return }
    let new = fitter.card(sightings, by: fit.applied)
    after = new.error
    cards = (old, new)
  }
}
