import Foundation

/// A person at the terminal, with the board on the desk.
public final class Person: Operator {
  /// For the report.
  public let name = "a person"
  /// Always.
  public let isPerson = true
  private let say: @Sendable (String) -> Void
  private let waitForReturn: @Sendable () -> Bool

  /// - Parameters:
  ///   - say: Shows a line.
  ///   - waitForReturn: Waits for the return key; false when there is nobody any more.
  public init(
    say: @escaping @Sendable (String) -> Void,
    waitForReturn: @escaping @Sendable () -> Bool
  ) {
    self.say = say
    self.waitForReturn = waitForReturn
  }

  /// Asks for the wire to be pulled; other faults are not for hands.
  public func inject(_ fault: RigFault, chip: String, seconds: Double) throws {
    guard fault == .noAnswer || fault == .receiverSilent else {
      throw OperatorError("\(fault.rawValue) is not for hands: it needs a rig")
    }
    try ask(
      "Pull the wire of \(chip) (SDA, or TX of a receiver); plug it back after "
        + "\(Int(seconds.rounded())) s. Press return at the moment of pulling.")
  }

  /// Not for hands.
  public func show(_ shown: Shown, chip: String) throws {
    throw OperatorError("showing an exact \(shown) is not for hands: it needs a rig")
  }

  /// Nothing was shown.
  public func endShow(chip: String) throws {}

  /// Shows the instruction and waits for the return key.
  public func ask(_ instruction: String) throws {
    say(instruction)
    guard waitForReturn() else { throw OperatorError("nobody pressed return") }
  }
}
