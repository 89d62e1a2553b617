// What a test rig shows a chip in place of the walk.

package import LinearAlgebra
package import SensorTypes
import Synchronization

/// A source in which single quantities can be replaced by constants, from any thread.
///
/// What is shown is what is around the board at the chip's place, in the chip's own frame: no mount turns
/// it. The board's iron distorts a shown field as it does the earth's (`DistortedStimulus`), so that a calibrated
/// reading is the shown field.
package final class ShownStimulus: StimulusSource {
  /// The quantities that are shown; `nil` is what the source behind says.
  package struct Quantities: Sendable, Hashable {
    /// Magnetic flux density around the board, microtesla, sensor frame.
    package var magneticField: Vector3?
    /// Specific force, m/s^2, sensor frame.
    package var specificForce: Vector3?
    /// Angular rate, rad/s, sensor frame.
    package var angularRate: Vector3?
    /// Static pressure, pascals.
    package var pressure: Double?
    /// Temperature of the chip, degrees Celsius.
    package var temperature: Double?
    /// Relative humidity, percent.
    package var humidity: Double?

    package init() {}
  }

  private let source: any StimulusSource
  private let quantities = Mutex(Quantities())

  /// Makes a source that passes on what `source` says.
  package init(_ source: any StimulusSource) { self.source = source }

  /// Replaces the quantities that are shown.
  package func show(_ shown: Quantities) { quantities.withLock { $0 = shown } }

  /// What is shown now.
  package var shown: Quantities { quantities.withLock { $0 } }

  /// What acts on the chip at that moment, in its own frame.
  package func stimulus(at time: Timestamp) -> Stimulus {
    var stimulus = source.stimulus(at: time)
    let shown = shown
    if let field = shown.magneticField { stimulus.magneticField = field }
    if let force = shown.specificForce { stimulus.specificForce = force }
    if let rate = shown.angularRate { stimulus.angularRate = rate }
    if let pressure = shown.pressure { stimulus.pressure = pressure }
    if let temperature = shown.temperature { stimulus.temperature = temperature }
    if let humidity = shown.humidity { stimulus.humidity = humidity }
    return stimulus
  }
}

/// What the board's own iron makes of a field: `softIron * field + hardIron`, sensor frame.
package struct DistortedStimulus: StimulusSource {
  private let source: any StimulusSource
  private let softIron: Matrix3
  private let hardIron: Vector3

  /// Makes a board around a source; `softIron` has no unit, `hardIron` is in microtesla.
  package init(_ source: any StimulusSource, softIron: Matrix3, hardIron: Vector3) {
    self.source = source
    self.softIron = softIron
    self.hardIron = hardIron
  }

  /// What acts on the chip at that moment, in its own frame.
  package func stimulus(at time: Timestamp) -> Stimulus {
    var stimulus = source.stimulus(at: time)
    stimulus.magneticField = softIron * stimulus.magneticField + hardIron
    return stimulus
  }
}
