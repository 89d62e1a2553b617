// The numbers in the readings of a chip, by quantity.

import LinearAlgebra
import SensorHub
import SensorTypes

/// The numbers of one quantity in a chip's readings.
struct Channels {
  static let quantities = [
    "field", "acceleration", "angular rate", "pressure", "temperature", "humidity",
  ]

  /// One series an axis, or one for a scalar.
  var values: [[Double]] = []
  /// The vectors themselves, for a quantity that has three axes.
  var vectors: [Vector3] = []

  init(_ readings: [SensorReading], quantity: String) {
    var scalars: [Double] = []
    for reading in readings {
      switch (reading.sample.value, quantity) {
      case (.magneticField(let v), "field"): vectors.append(v)
      case (.acceleration(let v), "acceleration"): vectors.append(v)
      case (.inertial(_, let v), "acceleration"), (.clippedInertial(_, let v, _), "acceleration"):
        vectors.append(v)
      case (.inertial(let v, _), "angular rate"), (.clippedInertial(let v, _, _), "angular rate"):
        vectors.append(v)
      case (.atmosphere(let p, _, _), "pressure"): scalars.append(p)
      case (.atmosphere(_, let t, _), "temperature"): scalars.append(t)
      case (.atmosphere(_, _, let h?), "humidity"): scalars.append(h)
      default: break
      }
    }
    if !scalars.isEmpty { values = [scalars] }
    if !vectors.isEmpty { values = [vectors.map(\.x), vectors.map(\.y), vectors.map(\.z)] }
  }

  static func unit(of quantity: String) -> String {
    switch quantity {
    case "field": "uT"
    case "acceleration": "m/s^2"
    case "angular rate": "rad/s"
    case "pressure": "Pa"
    case "humidity": "%"
    default: "deg C"
    }
  }
}
