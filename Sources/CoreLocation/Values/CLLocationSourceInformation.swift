// Where a location comes from.

public import Foundation

/// Where a location comes from. It does not change.
open class CLLocationSourceInformation: NSObject, NSCopying, NSSecureCoding, @unchecked Sendable {
  // Sendable because nothing in it can change after `init`; unchecked because the class is open, as the SDK's is.

  private let isSoftware: Bool
  private let isAccessory: Bool

  /// Whether software has made it up: a simulated board, or a recording that is played.
  open var isSimulatedBySoftware: Bool { isSoftware }
  /// Whether an accessory has measured it. The receiver of a board is the board's own.
  open var isProducedByAccessory: Bool { isAccessory }

  /// Neither simulated nor an accessory's.
  public override init() {
    (isSoftware, isAccessory) = (false, false)
    super.init()
  }

  /// Makes the information from its two answers.
  public init(softwareSimulationState isSoftware: Bool, andExternalAccessoryState isAccessory: Bool)
  {
    self.isSoftware = isSoftware
    self.isAccessory = isAccessory
    super.init()
  }

  /// Itself: it does not change.
  open func copy(with zone: NSZone? = nil) -> Any { self }

  /// Whether the other says the same.
  open override func isEqual(_ object: Any?) -> Bool {
    guard let other = object as? CLLocationSourceInformation else { return false }
    return isSimulatedBySoftware == other.isSimulatedBySoftware
      && isProducedByAccessory == other.isProducedByAccessory
  }

  /// A hash over both answers.
  open override var hash: Int {
    (isSimulatedBySoftware ? 1 : 0) + (isProducedByAccessory ? 2 : 0)
  }

  /// Yes.
  open class var supportsSecureCoding: Bool { true }

  /// Writes both answers.
  open func encode(with coder: NSCoder) {
    coder.encode(number: isSimulatedBySoftware ? 1 : 0, forKey: "simulated")
    coder.encode(number: isProducedByAccessory ? 1 : 0, forKey: "accessory")
  }

  /// Reads both answers; `nil` where one is missing.
  public required init?(coder: NSCoder) {
    guard let isSoftware = coder.flag(forKey: "simulated"),
      let isAccessory = coder.flag(forKey: "accessory")
    else { return nil }
    self.isSoftware = isSoftware
    self.isAccessory = isAccessory
    super.init()
  }
}
