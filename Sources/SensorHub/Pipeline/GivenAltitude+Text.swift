// What is said of a height that a person has set.

import FusionCore
import SensorTypes
import StateStore

extension GivenAltitude.AltitudeEntry: CustomStringConvertible {
  var kind: KnownAltitudeItem {
    switch self {
    case .elevation: .elevation
    case .qnh: .qnh
    }
  }

  var given: Double {
    switch self {
    case .elevation(let elevation): elevation.given
    case .qnh(let qnh): qnh.given
    }
  }

  var utc: Double? {
    switch self {
    case .elevation(let elevation): elevation.utc
    case .qnh(let qnh): qnh.utc
    }
  }

  var verdict: KnownAltitudeStatus {
    switch self {
    case .elevation(let elevation): elevation.verdict
    case .qnh(let qnh): qnh.verdict
    }
  }

  var description: String {
    switch self {
    case .elevation(let elevation):
      "the elevation \(elevation.elevation) m +- \(elevation.accuracy)"
    case .qnh(let qnh): "the QNH \(qnh.qnh) hPa"
    }
  }
}
