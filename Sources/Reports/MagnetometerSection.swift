// All that a page says of one magnetometer.

import CalibrationCore
import LinearAlgebra
import SensorTypes
import TerminalUI
import TextForms

/// One magnetometer's part of a page.
struct MagnetometerSection: Sendable {
  let chip: CalibrationReport.Magnetometer
  /// Its number on the page.
  let number: Int

  private var id: String { "m\(number)" }

  func section() -> Markup {
    """
    <section aria-labelledby="\(id)"><h2 id="\(id)"><bdi>\(chip.chip)</bdi> at \
    <bdi>\(chip.position)</bdi></h2>\(content)</section>
    """
  }

  private var content: Markup {
    switch chip.present {
    case .none:
      return """
        <p class="notice">There is no calibration of this magnetometer: its heading is not to be \
        trusted. <code>\(Hints.complete("lodestone calibrate magnetometer"))</code> makes one.</p>\(history(nil))
        """
    case .unusable(let why):
      return """
        <p class="notice">The stored calibration is not applied: \(why). \
        <code>\(Hints.complete("lodestone calibrate rollback"))</code> brings the one before it back, where there is one.</p>\
        \(history(nil))
        """
    case .record(let record):
      return content(of: record)
    }
  }

  private func content(of record: CalibrationRecord) -> Markup {
    let set: SampleSet? =
      if case .kept(let samples) = chip.samples, !samples.samples.isEmpty {
        SampleSet(samples, of: record)
      } else { nil }
    let errors = CompassErrors(
      record: record, toBody: chip.toBody, sampleDip: set?.dip, modelDip: chip.modelDip)
    let compass = CompassPlots(errors: errors, former: chip.before, id: id)
    return """
      \(figures(record, errors))\(samplesNotice(set, record))\
      \(set.map { spheres($0, record) })\
      <h3>Heading error round the compass</h3>\(compass.figures())\
      \(set.map { "<h3>Residuals</h3>\(ResidualPlots(set: $0, id: id).figures())" })\
      <h3>Coverage of the sphere</h3>\(coverage(set, record))\
      \(history(record))\(numbers(record, errors))
      """
  }

  private func spheres(_ set: SampleSet, _ record: CalibrationRecord) -> Markup {
    """
    <h3>Samples on the sphere</h3>\
    <ul class="key"><li><svg class="swatch" viewBox="4 3 8 6" aria-hidden="true">\
    <path class="dots near" d="M8 6h0"/></svg> near side</li>\
    <li><svg class="swatch" viewBox="4 3 8 6" aria-hidden="true">\
    <path class="dots far" d="M8 6h0"/></svg> far side</li>\
    <li><svg class="swatch" viewBox="4 3 8 6" aria-hidden="true">\
    <path class="off" d="M5.8 3.8l4.4 4.4m0-4.4l-4.4 4.4"/></svg> does not agree with the fit</li></ul>\
    \(SpherePlots(record: record, set: set, id: id).figures())\
    \(TurnedSphere(set: set, record: record, id: id).figure())
    """
  }

  /// The five numbers that say most.
  private func figures(_ record: CalibrationRecord, _ errors: CompassErrors) -> Markup {
    func item(_ name: String, _ value: String, _ note: String) -> Markup {
      "<div><dt>\(name)</dt><dd><b>\(value)</b> <span>\(note)</span></dd></div>"
    }
    let without = Figures.degrees(errors.rms(of: nil))
    // Without a prediction of its own a record still says how well it knows the hard iron.
    let share = record.headingError == nil ? "hard iron alone" : "RMS"
    let percent = Figures.number(100 * record.residual / record.field, 1)
    let state =
      record.isLocked
      ? item("State", "Locked", "in use until unlocked")
      : item("State", "In use", "not locked")
    // The truth of a simulated board rests on no sample.
    let covered =
      record.samples > 0
      ? item("Coverage", Figures.percent(record.coverage), "of the sphere")
      : item("Coverage", "–", "no samples")
    let score = record.score.map { item("Score", "\($0)", "of 100, \(RecordPhrases.score($0))") }
    return """
      <dl class="figures">\
      \(score ?? item("Score", "–", "not judged"))\
      \(item("Heading error", Figures.degrees(errors.remaining), "\(share); \(without) without"))\
      \(covered)\
      \(item("Residual", Figures.number(record.residual, 2) + " µT", "\(percent)\u{A0}% of the field"))\
      \(state)\
      </dl>
      """
  }

  private func samplesNotice(_ set: SampleSet?, _ record: CalibrationRecord) -> Markup {
    switch chip.samples {
    case .unusable(let why):
      return """
        <p class="notice">The samples kept with this record cannot be read (\(why)); the drawings that \
        need them are left out.</p>
        """
    case .none:
      return """
        <p class="notice">No samples are kept with this record; the drawings that need them are left \
        out.</p>
        """
    case .kept:
      guard let set else {
        return "<p class=\"notice\">The file of samples kept with this record is empty.</p>"
      }
      // Samples of another record stay behind when a person goes back to this one.
      guard 2 * set.inliers >= set.points.count else {
        return """
          <p class="notice">Only \(set.inliers) of \(set.points.count) kept samples agree with this record: \
          they are probably another record's, or something magnetic moved.</p>
          """
      }
      guard set.residual <= 1.5 * set.gate / SampleSet.reach else {
        return """
          <p class="notice">The kept samples lie \(Figures.number(set.residual, 2)) µT off, further than \
          the record says: they may be another record's.</p>
          """
      }
      return ""
    }
  }

  private func coverage(_ set: SampleSet?, _ record: CalibrationRecord) -> Markup {
    guard record.samples > 0 else { return "<p>No sample was taken for this record.</p>" }
    let share = Figures.percent(record.coverage)
    guard let set else {
      return "<p>\(share) of 100 cells of equal area held a sample. No map without samples.</p>"
    }
    let kept = Figures.percent(Double(set.seenCells) / Double(SphereCells.count))
    // What was only turned cannot fill the sphere, and need not.
    let ring: Markup =
      [.planar, .knownHeading, .deviation, .course].contains(
        CalibrationMethod(rawValue: record.method))
      ? "<p>This method goes by what a level board sees: a ring of the sphere, or a part of one.</p>"
      : ""
    return """
      <p>\(share) by the record, \(kept) by the \(set.inliers) kept samples that agree with it.</p>\(ring)\
      \(CoveragePlot(set: set, id: id).figure())
      """
  }

  private func history(_ present: CalibrationRecord?) -> Markup {
    "<h3>History</h3>\(HistoryTable(present: present, former: chip.former).table())"
  }

  private func numbers(_ record: CalibrationRecord, _ errors: CompassErrors) -> Markup {
    let rows = record.matrix.transposed.columns
    let deviations = record.offsetCovariance.columns
    let sigma = Vector3(
      deviations.x.x.squareRoot(), deviations.y.y.squareRoot(), deviations.z.z.squareRoot())
    func row(_ name: String, _ value: Markup) -> Markup {
      "<div><dt>\(name)</dt><dd>\(value)</dd></div>"
    }
    func matrixRow(_ v: Vector3) -> Markup {
      """
      <tr><td>\(Figures.number(v.x, 4))</td><td>\(Figures.number(v.y, 4))</td>\
      <td>\(Figures.number(v.z, 4))</td></tr>
      """
    }
    let matrix: Markup = """
      <table class="matrix"><tbody>\(matrixRow(rows.x))\(matrixRow(rows.y))\(matrixRow(rows.z))</tbody>\
      </table>
      """
    let mount = "[\(chip.mount.x.rawValue), \(chip.mount.y.rawValue), \(chip.mount.z.rawValue)]"
    let level = chip.level.map {
      row("Level", "\(Figures.degrees($0.rotationVector.length * 180 / .pi)) after the mount")
    }
    let temperature = record.temperature.map {
      row("Temperature", "\(Figures.number($0, 1)) °C, by the barometer")
    }
    let before = record.headingErrorBefore.map {
      row("Heading error before", "\(Figures.degrees($0)) RMS")
    }
    let accuracy = record.expectedAccuracy.map {
      row("Expected accuracy", "±\(Figures.degrees($0)), 95 % of headings")
    }
    return """
      <h3>The record</h3><dl class="numbers">\
      \(row("Board", "<bdi>\(record.board)</bdi>"))\
      \(row("Made", "\(Figures.date(record.date))"))\
      \(row("Method", "\(RecordPhrases.method(record.method))"))\
      \(row("Samples", "\(record.samples)"))\
      \(row("Field strength", "\(Figures.number(record.field, 2)) µT"))\
      \(row("Hard iron", "\(Figures.vector(record.offset, 2)) µT"))\
      \(row("Its deviation", "\(Figures.vector(sigma, 2)) µT, one sigma"))\
      \(before)\(accuracy)\(temperature)\
      \(row("Mount", "\(mount) on the board"))\(level)\
      \(row("Lock", record.isLocked ? "locked" : "not locked"))\
      \(row("Matrix", matrix))\
      </dl><p class="formula">corrected = matrix · (raw − hard iron), in the chip's own frame.</p>
      """
  }
}
