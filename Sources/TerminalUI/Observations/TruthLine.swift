package import SensorTypes
package import SimulatedDevices
package import TextForms

/// What was really so at the moment of a line, with the same keys.
package enum TruthLine {
  package static func writer(_ simulation: SimulatedBusProvider) -> (Timestamp, inout JSONLine) ->
    Void
  {
    let start = simulation.world.description.altitude
    return { time, line in
      let truth = simulation.truth(at: time)
      line.set("magneticHeading", truth.magneticHeading, digits: 4)
      line.set("trueHeading", truth.heading, digits: 4)
      line.set("latitude", truth.latitude, digits: 9)
      line.set("longitude", truth.longitude, digits: 9)
      line.set("altitude", truth.altitude, digits: 4)
      line.set("relativeAltitude", truth.altitude - start, digits: 4)
      line.set("pressure", truth.pressure / 1_000, digits: 6)
      line.set("course", truth.course, digits: 4)
      line.set("speed", truth.speed, digits: 4)
      line.set("pitch", truth.pitch, digits: 3)
      line.set("roll", truth.roll, digits: 3)
      // An epoch is told to the millisecond: at the very edge of the sky either is true.
      let hadFix = [-0.001, 0.001].contains {
        simulation.truth(at: time.advanced(bySeconds: $0)).hasFix
      }
      line.set("hasFix", truth.hasFix || hadFix)
    }
  }
}
