import BoardTestSupport
import SensorTypes
import SimulatedDevices

/// What a run has published, by kind.
extension [Observation] {
  var headings: [HeadingEstimate] {
    compactMap { if case .heading(let heading) = $0 { heading } else { nil } }
  }

  var absoluteAltitudes: [AbsoluteAltitudeEstimate] {
    compactMap { if case .absoluteAltitude(let altitude) = $0 { altitude } else { nil } }
  }

  var diagnostics: [(text: String, at: Timestamp)] {
    compactMap { if case .diagnostic(let text, let time) = $0 { (text, time) } else { nil } }
  }

  var diagnosticTexts: [String] { diagnostics.map(\.text) }
}

extension VirtualBoard {
  /// The errors of headings in degrees, within half a turn.
  func headingErrors(of headings: [HeadingEstimate]) -> [Double] {
    headings.map { heading in
      let truth = simulation.truth(at: heading.time).magneticHeading
      return (heading.magneticHeading * 180 / .pi - truth).remainder(dividingBy: 360)
    }
  }
}
