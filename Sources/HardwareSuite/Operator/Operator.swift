// Who carries out what a scenario asks for: a rig with twins, the simulation, or a person.

package import BoardFile

/// Something that goes wrong, by the name it has in scenarios and on a rig's control line.
package enum RigFault: String, Sendable, CaseIterable, Codable {
  /// The chip's wire is off; it comes back with reset values.
  case noAnswer
  /// Every transfer times out.
  case timeout
  case shortRead
  /// The supply dips at the beginning: the chip loses its registers and goes on answering.
  case brownOut
  /// The output does not change any more.
  case stuckData
  /// The data line is held low while the chip is read: every byte is zero.
  case stuckLow
  /// One bit of a configuration register reads wrong.
  case bitFlip
  /// What is measured is beyond the chip's range.
  case overflow
  /// Transfers take 20 ms.
  case slow
  /// A receiver sends nothing.
  case receiverSilent
  /// A receiver's bytes are noise.
  case receiverGarbage

  /// Whether it can befall a receiver, a chip with registers, or both.
  package func suits(receiver: Bool) -> Bool {
    switch self {
    case .noAnswer, .timeout: true
    case .receiverSilent, .receiverGarbage: receiver
    default: !receiver
    }
  }
}

/// What a chip is to see from now on, in its own frame.
package enum Shown: Sendable, Hashable, CustomStringConvertible {
  /// Magnetic field around the board at the chip's place, microtesla.
  case field(SIMD3<Double>)
  /// Specific force, m/s^2.
  case acceleration(SIMD3<Double>)
  /// Angular rate, rad/s.
  case rate(SIMD3<Double>)
  /// Pressure, pascals.
  case pressure(Double)
  /// Temperature, degrees Celsius.
  case temperature(Double)

  /// As on a rig's control line.
  package var description: String {
    func text(_ v: SIMD3<Double>) -> String { "\(v.x) \(v.y) \(v.z)" }
    return switch self {
    case .field(let v): "field \(text(v))"
    case .acceleration(let v): "acceleration \(text(v))"
    case .rate(let v): "rate \(text(v))"
    case .pressure(let p): "pressure \(p)"
    case .temperature(let t): "temperature \(t)"
    }
  }
}

/// One chip of a board, by everything that it is called.
package struct ChipTarget: Sendable, Hashable {
  /// Its place in the board file, from 0.
  package let index: Int
  /// Which chip it is, by the catalogue's name.
  package let chip: String
  /// As reports and scenarios call it: with its place where the board has two of the kind.
  package let name: String
  /// As a rig's control line calls it: `LIS3MDL#2` is the second of its name.
  package let rigName: String

  /// The chip at a place of a board's list.
  package init(_ index: Int, of board: Board) {
    let sensor = board.sensors[index]
    self.index = index
    chip = sensor.chip
    let same = board.sensors.indices.filter { board.sensors[$0].chip == sensor.chip }
    name = same.count == 1 ? sensor.chip : "\(sensor.chip) at \(sensor.attachment)"
    rigName =
      same.count == 1
      ? sensor.chip : "\(sensor.chip)#\((same.firstIndex(of: index) ?? 0) + 1)"
  }
}

/// A step that could not be carried out, and why.
package struct OperatorError: Error, Sendable, CustomStringConvertible {
  /// The message, in one line.
  package let description: String

  package init(_ description: String) { self.description = description }
}

/// A step that somebody did not want to carry out: it counts as skipped.
package struct StepSkipped: Error, Sendable {
  /// Why, in one line.
  package let reason: String

  package init(_ reason: String) { self.reason = reason }
}

/// Carries out what a scenario asks for.
///
/// What is asked for throws `StepSkipped` where somebody does not want to, `BrokenOff` where the run is to end,
/// and `OperatorError` for what went wrong.
package protocol Operator: Sendable {
  /// Who it is, for the report.
  var name: String { get }

  /// Whether it is a person, whose hands take longer than a rig's.
  var isPerson: Bool { get }

  /// Whether a person has gone: whoever is asked for more does not answer.
  var hasLeft: Bool { get }

  /// Why a step is not to be had from this one, if so: said before anything runs.
  func objection(to action: ScenarioAction) -> String?

  /// Lets something go wrong with a chip for a while, beginning now.
  func inject(_ fault: RigFault, on chip: ChipTarget, seconds: Double) throws

  /// Lets a chip see something from now on.
  func show(_ shown: Shown, on chip: ChipTarget) throws

  /// Ends what was shown.
  func endShow(on chip: ChipTarget) throws

  /// Asks for something that only hands can do; returns when it is about to be done.
  func ask(_ instruction: String) throws

  /// After a step by hand that failed: whether it is to be tried again.
  func wantsAgain() throws(BrokenOff) -> Bool

  /// Seconds for which a rig's machine kept it from its work so far; none for what is no rig, or cannot say.
  func stoodStill() -> Double
}

extension Operator {
  package var hasLeft: Bool { false }

  /// A rig does the same thing again with the same result.
  package func wantsAgain() throws(BrokenOff) -> Bool { false }

  /// Hands and real chips are not kept from anything.
  package func stoodStill() -> Double { 0 }
}

extension ScenarioAction {
  /// Whether only hands can do it, whoever is there.
  var needsHands: Bool {
    switch self {
    case .turn, .tilt, .lift: true
    case .measure, .fault, .randomFaults, .show: false
    }
  }
}

/// Nobody: only what needs no hands can be tried.
struct Nobody: Operator {
  let name = "nobody"
  let isPerson = false
  private static let help =
    "nobody is there to do this: give --rig TTY for a rig's control line, or --interactive"
  private let refusal = OperatorError(Self.help)

  func objection(to action: ScenarioAction) -> String? {
    if case .measure = action { nil } else { Self.help }
  }
  func inject(_ fault: RigFault, on chip: ChipTarget, seconds: Double) throws { throw refusal }
  func show(_ shown: Shown, on chip: ChipTarget) throws { throw refusal }
  func endShow(on chip: ChipTarget) throws { throw refusal }
  func ask(_ instruction: String) throws { throw refusal }
}
