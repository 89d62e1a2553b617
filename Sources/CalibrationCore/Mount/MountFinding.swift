// What the mount detective says of a chip.

import LinearAlgebra
public import SensorTypes

/// What the detective says of one chip.
public struct MountFinding: Sendable, Hashable {
  /// The chip, by its place in the list that the detective was given.
  public var chip: Int
  /// How it sits, where that is sure.
  public var mount: Mount?
  /// The best placement, sure or not; `nil` where there is nothing to choose by.
  public var best: Mount?
  /// Its probability, 0 to 1.
  public var probability: Double
  /// The second best.
  public var runnerUp: Mount?
  /// The odds of the best against it, as a natural logarithm.
  public var margin: Double
  /// Where nothing is sure but for a chip that is no mirror image: how it sits then.
  public var ifNotMirrored: Mount?
  /// The placement that turns the chip's frame into the reference chip's, where that is sure; `nil` for
  /// the reference itself.
  public var relative: Mount?
  /// The same for a chip that is no mirror image of the reference, where only that is sure.
  public var relativeIfNotMirrored: Mount?
  /// Why there is no `mount`, and what would help; `nil` where there is one.
  public var refusal: String?

  /// Nothing is known, for a reason.
  init(chip: Int, refusal: String) {
    self.chip = chip
    self.refusal = refusal
    probability = 0
    margin = 0
  }

  /// How the chip sits if the reference sits as `mount` says, where the relative placement is sure.
  public func mount(ifReferenceIs mount: Mount) -> Mount? {
    guard let relative = relative ?? relativeIfNotMirrored else { return nil }
    let product = mount.matrix * relative.matrix
    return Mount.everyPlacement.first { $0.matrix == product }
  }
}
