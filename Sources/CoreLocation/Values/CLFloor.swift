// The storey of a building.

public import Foundation

/// The storey of a building. It does not change. No board knows it: `CLLocation.floor` is `nil` unless a subclass says
/// otherwise.
open class CLFloor: NSObject, NSCopying, NSSecureCoding, @unchecked Sendable {
  // Sendable because nothing in it can change after `init`; unchecked because the class is open, as the SDK's is.

  private let storey: Int

  /// The storey; 0 is the ground floor.
  open var level: Int { storey }

  /// The ground floor.
  public override init() {
    storey = 0
    super.init()
  }

  init(level: Int) {
    storey = level
    super.init()
  }

  /// Itself: it does not change.
  open func copy(with zone: NSZone? = nil) -> Any { self }

  /// Whether the other is the same storey.
  open override func isEqual(_ object: Any?) -> Bool { (object as? CLFloor)?.level == level }

  /// The storey.
  open override var hash: Int { level }

  /// Yes.
  open class var supportsSecureCoding: Bool { true }

  /// Writes the storey.
  open func encode(with coder: NSCoder) { coder.encode(number: Double(level), forKey: "level") }

  /// Reads a floor from an archive; `nil` if the archive has no level. For a subclass that stored other keys the level is 0.
  public required init?(coder: NSCoder) {
    if coder.isWritten(bySubclass: Self.self, of: CLFloor.self, insteadOf: "level") {
      storey = 0
      super.init()
      return
    }
    guard let storey = coder.integer(forKey: "level", in: -1_000_000...1_000_000) else {
      return nil
    }
    self.storey = storey
    super.init()
  }
}
