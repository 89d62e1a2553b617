// NOAA's coefficient files (WMM.COF), so that a model newer than the built-in one can be used.

/// What is wrong with a coefficient file.
public struct CoefficientFileError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The line, from 1.
  public var line: Int
  /// What is wrong with it.
  public var message: String

  /// The message, in one line.
  public var description: String { "line \(line): \(message)" }
}

extension MagneticModel {
  /// Reads a coefficient file of degree 12 as NOAA distributes it: a head line with epoch, name and release
  /// date (month/day/year), then a line for each degree and order with g, h (nT) and their change (nT a
  /// year), then lines of nines.
  public init(coefficientFile text: String) throws(CoefficientFileError) {
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
    let head = lines.first.map { $0.split(whereSeparator: \.isWhitespace) } ?? []
    guard head.count >= 3, let epoch = Double(head[0]), (1900...2200).contains(epoch) else {
      throw CoefficientFileError(line: 1, message: "not epoch, name and date of release")
    }
    guard let release = Self.releaseDay(head[2]) else {
      throw CoefficientFileError(line: 1, message: "'\(head[2])' is no date: month/day/year")
    }
    var coefficients: [Coefficient] = []
    var seen: Set<Int> = []
    for (index, line) in lines.enumerated().dropFirst() {
      if line.hasPrefix("9999") { break }
      let words = line.split(whereSeparator: \.isWhitespace)
      if words.isEmpty { continue }
      let numbers = words.compactMap { Double($0) }
      guard words.count == 6, numbers.count == 6, numbers.allSatisfy({ abs($0) < 1e5 }),
        let degree = Int(words[0]), let order = Int(words[1])
      else {
        throw CoefficientFileError(line: index + 1, message: "not degree, order and four numbers")
      }
      guard (1...Self.degree).contains(degree), (0...degree).contains(order) else {
        throw CoefficientFileError(
          line: index + 1,
          message: "degree \(degree), order \(order): this version reads models of degree 12")
      }
      guard seen.insert(degree * 100 + order).inserted else {
        throw CoefficientFileError(
          line: index + 1, message: "degree \(degree), order \(order) comes twice")
      }
      coefficients.append(
        Coefficient(
          degree: degree, order: order, g: numbers[2], h: numbers[3], gRate: numbers[4],
          hRate: numbers[5]))
    }
    let expected = Self.degree * (Self.degree + 3) / 2
    guard coefficients.count == expected else {
      throw CoefficientFileError(
        line: lines.count, message: "\(coefficients.count) coefficients where \(expected) belong")
    }
    self.init(
      name: String(head[1]), epoch: epoch, released: release, coefficients: coefficients)
  }

  /// Whether this model takes the other's place: of a later epoch, or of the same one and released later.
  public func supersedes(_ other: MagneticModel) -> Bool {
    (epoch, released) > (other.epoch, other.released)
  }

  // A number that grows with the date; only its order counts.
  private static func releaseDay(_ text: Substring) -> Int? {
    let parts = text.split(separator: "/").compactMap { Int($0) }
    guard parts.count == 3, (1...12).contains(parts[0]), (1...31).contains(parts[1]),
      (1900...2200).contains(parts[2])
    else { return nil }
    return (parts[2] * 100 + parts[0]) * 100 + parts[1]
  }
}
