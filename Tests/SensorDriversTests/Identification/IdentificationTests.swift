// Whole boards of chips that share addresses: each is identified, or narrowed down to a set that it is in.

import LinearAlgebra
import SensorDrivers
import SensorTypes
import Testing

@testable import SimulatedDevices

@Suite struct IdentificationTests {
  /// Those that no board has without the other half.
  private static let halves = ["LSM9DS1-AG", "LSM9DS1-M", "LSM303DLHC-M", "LSM303DLHC-A"]

  /// One board: chips at the addresses that they share, all of them or few. The two halves of a package share its
  /// wires, so that either both answer or none.
  private func board(
    _ index: Int, _ receiver: StreamReceiver
  ) throws -> (scan: BoardScan, pascals: Double) {
    var random = SeededGenerator(seed: 2026, stream: 6, index: UInt64(index))
    // From a beach to a summit; where there is nobody to own a board, there are none.
    let pascals = 31_000 + 77_000 * random.unit()
    let direction = random.symmetricVector().normalized ?? Vector3(1, 0, 0)
    let world = Stimulus(
      // Of the earth: an MMC5983MA looks whether there is one.
      magneticField: (25 + 40 * random.unit()) * direction,
      specificForce: 9.8 * random.symmetricVector(),
      angularRate: random.symmetricVector(), pressure: pascals,
      temperature: 20 + 35 * random.symmetric(), humidity: 50)
    var scan = BoardScan(SeededGenerator(seed: 2026, stream: 7, index: UInt64(index)))
    func isThere() -> Bool { random.next() % 3 != 0 }

    // Packages of two chips.
    if isThere() {
      try scan.add("LSM9DS1-AG", at: random.pick([0x6A, 0x6B]), world)
      try scan.add("LSM9DS1-M", at: random.pick([0x1C, 0x1E]), world)
    }
    if isThere(), !scan.truths.keys.contains(0x1E) {
      try scan.add("LSM303DLHC-M", at: 0x1E, world)
      try scan.add("LSM303DLHC-A", at: 0x19, world)
    }
    if isThere() { scan.add(receiver, at: 0x10) }
    // And at every address any chip of its own that can be there.
    for address in ChipCatalog.addresses where isThere() {
      let names = ChipCatalog.chips.filter {
        $0.addresses.contains(address) && TwinCatalog.twin(named: $0.name) != nil
          && !Self.halves.contains($0.name)
      }.map(\.name)
      guard !names.isEmpty else { continue }
      let name = random.pick(names)
      try scan.add(name, at: address, world, make: IndividualTwin.maker(name, &random))
    }
    return (scan, pascals)
  }

  /// Chips that nothing tells apart and that one driver serves, whichever of the names it goes by.
  private static let servedAlike: [Set<String>] = [
    ["DPS310", "DPS368", "SPL06"], ["LSM6DS3", "LSM6DS33"], ["LSM6DS3TR-C", "LSM6DSL"],
    ["LSM6DSO", "LSM6DSOX"],
  ]

  /// Whether no more can be told of a chip than that it is one of these.
  private func isOpen(
    _ names: Set<String>, _ truth: String, in scan: BoardScan, pascals: Double, isHeightKnown: Bool
  ) -> Bool {
    guard names.contains(truth) else { return false }
    switch names {
    case ["MS5611", "MS5607"]:
      // What the other would read must be on earth, and the altitude unknown.
      let other = truth == "MS5611" ? 2 * pascals : pascals / 2
      return !isHeightKnown && (29_000...111_000).contains(other)
    case ["LIS3MDL", "LSM9DS1-M"]:
      // Two places with that core, and one other half for them.
      let cores = [UInt8(0x1C), 0x1E].compactMap { scan.truths[$0] }.filter(names.contains)
      return cores.count == 2 && scan.truths.values.contains("LSM9DS1-AG")
    default: return Self.servedAlike.contains(names)
    }
  }

  /// Whether it is a BMI160 whose gyro's offset is an MPU's identity: both are possible, and neither is known.
  private func isEither(_ found: [ChipIdentification], _ truth: String) -> Bool {
    let names = Set(found.candidates.map(\.chip))
    return truth == "BMI160" && found.allSatisfy { !$0.isTold } && names.contains(truth)
      && names.isSubset(of: ["BMI160", "MPU6050", "MPU6500", "MPU9250"])
  }

  /// Whether a barometer's PROM is an MS5637's as well, as one of 16 is whose last word is its check sum alone: then
  /// one is known that reads more than an MS5637 can, where it is taken for what it is.
  private func isShared(
    _ found: [ChipIdentification], _ truth: String, pascals: Double, isHeightKnown: Bool
  ) -> Bool {
    guard let first = found.first, !first.isTold, first.evidence.contains("MS5637"),
      found.allSatisfy({ ["MS5611", "MS5607"].contains($0.chip) })
    else { return false }
    return truth == "MS5607" || truth == "MS5611" && !isHeightKnown && pascals < 60_500
  }

  @Test("1000 boards of all chips: each is named, or is in a set that one driver serves")
  func boards() throws {
    var named: [String: Int] = [:]
    var inSet: [String: Int] = [:]
    var unasked: [String: Int] = [:]
    var shared: [String: Int] = [:]
    var either = 0
    var wrong: [String] = []
    var met: [String: Int] = [:]
    for index in 0..<1000 {
      let receiver = StreamReceiver()
      let (scan, pascals) = try board(index, receiver)
      for (address, truth) in scan.truths { met["\(truth) \(address)", default: 0] += 1 }
      // One in two boards says how high it is, which weather and carelessness make 15 % wrong.
      let isHeightKnown = index % 2 == 0
      let share = index % 4 == 0 ? 0.87 : 1.15
      for (address, truth, found) in try scan.identifications(
        usualPressure: isHeightKnown ? share * pascals : nil)
      {
        let candidates = found.candidates
        let names = candidates.map(\.chip)
        if address == 0x10 {
          // Not asked: nothing is claimed of it, and the board file is asked for.
          let isOpen =
            candidates.allSatisfy { !$0.isTold }
            && candidates.contains { $0.evidence.contains("board file") }
          if isOpen {
            unasked[truth, default: 0] += 1
          } else {
            wrong.append("\(index): \(truth)")
          }
        } else if names == [truth], candidates[0].isTold {
          named[truth, default: 0] += 1
        } else if candidates.first?.isTold == true,
          isOpen(
            Set(names), truth, in: scan, pascals: pascals, isHeightKnown: isHeightKnown)
        {
          inSet[truth, default: 0] += 1
        } else if isEither(found, truth) {
          either += 1
        } else if isShared(
          found, truth, pascals: pascals, isHeightKnown: isHeightKnown)
        {
          shared[truth, default: 0] += 1
        } else {
          wrong.append("\(index): \(truth) is said to be \(names)")
        }
      }
      #expect(receiver.taken == 0)
    }
    #expect(wrong == [], "\(wrong.count) wrong")
    // Every chip was met at each of its addresses, and so every pair that shares one.
    for chip in ChipCatalog.chips where TwinCatalog.twin(named: chip.name) != nil {
      for address in chip.addresses { #expect(met["\(chip.name) \(address)", default: 0] >= 10) }
    }
    func sum(_ counts: [String: Int]) -> Int { counts.values.reduce(0, +) }
    print(
      "identification: \(sum(named)) named, \(sum(inSet)) in a set, \(sum(unasked)) not asked, "
        + "\(sum(shared)) with a PROM that others have, \(either) BMI160 or MPU, \(wrong.count) wrong"
    )
    // Where one was made so, which is half of them: of some 200.
    let share = Double(either) / Double(either + named["BMI160", default: 0])
    #expect((0.35...0.65).contains(share))
    // One in 16 of the one in four of them.
    #expect(sum(shared) * 32 < met.filter { $0.key.hasPrefix("MS56") }.map(\.value).reduce(0, +))
    for name in Set(named.keys).union(inSet.keys).union(unasked.keys).sorted() {
      print(
        "  \(name): \(named[name] ?? 0) named, \(inSet[name] ?? 0) in a set, "
          + "\(unasked[name] ?? 0) not asked, \(shared[name] ?? 0) shared")
    }
  }
}
