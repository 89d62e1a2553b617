// Who carries out what a scenario asks for: a rig with twins, the simulation, or a person.

/// Something that goes wrong, by the name it has in scenarios and on a rig's control line.
public enum RigFault: String, Sendable, CaseIterable, Codable {
  /// The chip's wire is off; it comes back with reset values.
  case noAnswer
  /// Every transfer times out.
  case timeout
  /// Reads end early.
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
  public func suits(receiver: Bool) -> Bool {
    switch self {
    case .noAnswer, .timeout: true
    case .receiverSilent, .receiverGarbage: receiver
    default: !receiver
    }
  }
}

/// What a chip is to see from now on, in its own frame.
public enum Shown: Sendable, Hashable, CustomStringConvertible {
  /// Magnetic field, microtesla.
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
  public var description: String {
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

/// A step that could not be carried out, and why.
public struct OperatorError: Error, Sendable, CustomStringConvertible {
  /// One line for a person.
  public let description: String

  /// Makes an error.
  public init(_ description: String) { self.description = description }
}

/// Carries out what a scenario asks for.
public protocol Operator: Sendable {
  /// Who it is, for the report.
  var name: String { get }

  /// Whether it is a person, whose hands take longer than a rig's.
  var isPerson: Bool { get }

  /// Lets something go wrong with a chip (its name in the board file) for a while, beginning now.
  func inject(_ fault: RigFault, chip: String, seconds: Double) throws

  /// Lets a chip see something from now on.
  func show(_ shown: Shown, chip: String) throws

  /// Ends what was shown.
  func endShow(chip: String) throws

  /// Asks for something that only hands can do; returns when it is about to be done.
  func ask(_ instruction: String) throws
}

/// Nobody: only what needs no hands can be tried.
struct Nobody: Operator {
  let name = "nobody"
  let isPerson = false
  private let help = OperatorError(
    "nobody is there to do this: give --rig PATH for a rig's control line, or --interactive")

  func inject(_ fault: RigFault, chip: String, seconds: Double) throws { throw help }
  func show(_ shown: Shown, chip: String) throws { throw help }
  func endShow(chip: String) throws { throw help }
  func ask(_ instruction: String) throws { throw help }
}
