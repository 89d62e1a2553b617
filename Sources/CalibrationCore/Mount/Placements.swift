// The 48 ways to put a chip's axes along the body's, and likelihoods over them.

import LinearAlgebra
public import SensorTypes

extension Mount {
  /// The 24 rotations and the 24 mirror images.
  public static let everyPlacement: [Mount] = SignedAxis.allCases.flatMap { x in
    SignedAxis.allCases.flatMap { y in
      SignedAxis.allCases.compactMap { z in Mount(x: x, y: y, z: z) }
    }
  }

  /// As in a board file: `[+y, -x, +z]`.
  public var line: String { "[\(x.rawValue), \(y.rawValue), \(z.rawValue)]" }
}

/// What is known of one of the 48 placements: a logarithm of likelihood for each, by their order in
/// `Mount.everyPlacement`.
struct Placements: Sendable {
  static let count = Mount.everyPlacement.count
  static let matrices = Mount.everyPlacement.map(\.matrix)
  /// The place of `first * second`, by `first * count + second`.
  private static let products: [Int] = matrices.flatMap { first in
    matrices.map { second in
      let product = first * second
      return matrices.firstIndex { $0 == product } ?? 0
    }
  }

  /// Natural logarithms, of which only differences mean something.
  var logs: [Double]

  init(logs: [Double] = Array(repeating: 0, count: count)) { self.logs = logs }

  /// Adds what another piece of evidence says, independent of the first.
  static func += (a: inout Placements, b: Placements) {
    for index in 0..<count { a.logs[index] += b.logs[index] }
  }

  /// The placements of a chip against the body, where `self` holds those of the reference against the body
  /// and `relative` those of the chip against the reference.
  func followed(by relative: Placements) -> Placements {
    let (first, second) = (probabilities, relative.probabilities)
    var sums = [Double](repeating: 0, count: Self.count)
    for i in 0..<Self.count where first[i] > 0 {
      for j in 0..<Self.count { sums[Self.products[i * Self.count + j]] += first[i] * second[j] }
    }
    // What has died out numerically stays very unlikely instead of becoming impossible.
    return Placements(logs: sums.map { log(max($0, 1e-30)) })
  }

  /// The 48 probabilities, none preferred beforehand.
  var probabilities: [Double] {
    let highest = logs.max() ?? 0
    let weights = logs.map { exp($0 - highest) }
    let sum = weights.reduce(0, +)
    return weights.map { $0 / sum }
  }

  /// The best and the second best among those that `isAllowed`.
  func best(_ isAllowed: (Mount) -> Bool = { _ in true }) -> (first: Int, second: Int) {
    let order = (0..<Self.count).filter { isAllowed(Mount.everyPlacement[$0]) }
      .sorted { (logs[$0], $1) > (logs[$1], $0) }
    return (order[0], order[1])
  }
}
