// Whole boards of lookalikes: each chip is told rightly, or said to be one of a set that it is in.

import LinearAlgebra
import SensorBus
import SensorDrivers
import SensorTypes
import Testing

@testable import SimulatedDevices

/// A receiver on I2C that gives the next byte of what it has to say to every read, and none back (PA1010D).
private final class StreamReceiver: RegisterDevice {
  private(set) var taken = 0

  func read(_ register: UInt8, into buffer: UnsafeMutableRawBufferPointer) throws(BusError) {
    taken += buffer.count
    for index in buffer.indices { buffer[index] = 0x0A }
  }

  func write(_ register: UInt8, from bytes: UnsafeRawBufferPointer) throws(BusError) {}
}

/// What a scan makes of one bus.
private struct Scan {
  private(set) var truths: [UInt8: String] = [:]
  private var devices: [UInt8: any RegisterDevice] = [:]
  let clock = VirtualClock()
  var random: SeededGenerator

  init(_ random: SeededGenerator) { self.random = random }

  /// Puts a chip of its own errors and noise on the bus, if its address is free; one in two is in use already.
  mutating func add(
    _ name: String, at address: UInt8, _ world: Stimulus,
    make: ((TwinCore) -> any ChipTwin)? = nil
  ) throws {
    guard truths[address] == nil else { return }
    let description = try #require(TwinCatalog.twin(named: name))
    let core = TwinCore(
      source: ConstantStimulus(world), errors: description.errors(&random, 1), seed: random.next())
    var twin = (make ?? description.make)(core)
    twin.powerOn(at: clock.now().advanced(bySeconds: -1))
    let device = SimulatedRegisterDevice(
      slot: RegisterSlot(bus: "bus", address: address, interrupt: nil, twin: twin), bus: "bus",
      address: address, clock: clock)
    truths[address] = name
    devices[address] = device
    guard random.next() % 2 == 0, let chip = ChipCatalog.chip(named: name)?.chip?(50) else {
      return
    }
    try use(chip, device)
  }

  private func use(_ chip: some RegisterChip, _ device: SimulatedRegisterDevice) throws {
    var driver = RegisterDriver(device, chip)
    for _ in 0..<30 {
      guard case .wait(let seconds) = try driver.start() else { break }
      clock.advance(bySeconds: seconds)
    }
    for _ in 0..<3 {
      clock.advance(bySeconds: max(driver.conversionTime ?? 0, 0.025))
      // The world of one chip may be beyond the range of another.
      _ = try? driver.poll()
    }
  }

  mutating func add(_ receiver: StreamReceiver, at address: UInt8) {
    guard truths[address] == nil else { return }
    truths[address] = "receiver"
    devices[address] = receiver
  }

  func identifications() throws -> [(truth: String, found: [ChipIdentification])] {
    let addresses = ChipCatalog.addresses.filter { devices[$0] != nil }
    let found = try addresses.map { address in
      let device = SharedDevice(try #require(devices[address]))
      return try ChipCatalog.identify(device, at: address) { clock.advance(bySeconds: $0) }
    }
    return zip(addresses.map { truths[$0] ?? "" }, ChipCatalog.toldByPartners(found)).map {
      (truth: $0, found: $1)
    }
  }
}

@Suite struct IdentificationTests {
  private static func pick<T>(_ values: [T], _ random: inout SeededGenerator) -> T {
    values[Int(random.next() % UInt64(values.count))]
  }

  private static func spread(_ middle: Double, _ share: Double, _ random: inout SeededGenerator)
    -> Double
  {
    (middle * (1 + share * random.symmetric())).rounded()
  }

  /// One board: lookalikes at the addresses that they share, all of them or few. The two halves of a package share its
  /// wires, so that either both answer or none.
  private func board(_ index: Int, _ receiver: StreamReceiver) throws -> Scan {
    var random = SeededGenerator(seed: 2026, stream: 6, index: UInt64(index))
    // From a beach to a summit; where there is nobody to own a board, there are none.
    let pascals = 31_000 + 77_000 * random.unit()
    let world = Stimulus(
      magneticField: 45 * random.symmetricVector(), specificForce: 9.8 * random.symmetricVector(),
      angularRate: random.symmetricVector(), pressure: pascals,
      temperature: 20 + 35 * random.symmetric(), humidity: 50)
    var scan = Scan(SeededGenerator(seed: 2026, stream: 7, index: UInt64(index)))
    func isThere() -> Bool { random.next() % 3 != 0 }

    // LIS3MDL, LSM9DS1 (one or two), QMC6310, HMC5883L, LSM303DLHC and LIS2MDL.
    if isThere() {
      try scan.add("LSM9DS1-AG", at: Self.pick([0x6A, 0x6B], &random), world)
      try scan.add("LSM9DS1-M", at: Self.pick([0x1C, 0x1E], &random), world)
    }
    if isThere() { try scan.add("LIS3MDL", at: Self.pick([0x1C, 0x1E], &random), world) }
    switch random.next() % 4 {
    case 0: try scan.add("HMC5883L", at: 0x1E, world)
    case 1: try scan.add("LIS2MDL", at: 0x1E, world)
    case 2 where !scan.truths.keys.contains(0x1E):
      try scan.add("LSM303DLHC-M", at: 0x1E, world)
      try scan.add("LSM303DLHC-A", at: 0x19, world)
    default: break
    }
    if isThere() { try scan.add("LIS3DH", at: 0x18, world) }
    if isThere() { try scan.add("QMC6310", at: Self.pick([0x1C, 0x3C], &random), world) }
    if isThere() { try scan.add("QMC5883L", at: 0x0D, world) }
    if isThere() { try scan.add("QMC5883P", at: 0x2C, world) }
    try scan.add(Self.pick(["MMC5603", "MMC5983MA"], &random), at: 0x30, world)
    try scan.add(
      Self.pick(["AK8963", "AK09916", "AK09918", "IST8310"], &random), at: 0x0C, world)
    if isThere() { scan.add(receiver, at: 0x10) }
    try scan.add("BMM150", at: Self.pick([0x10, 0x11, 0x12, 0x13], &random), world)
    for address: UInt8 in [0x6A, 0x6B] where isThere() {
      let family = [
        "LSM6DS3", "LSM6DS33", "LSM6DS3TR-C", "LSM6DSL", "LSM6DSO", "LSM6DSOX", "ISM330DHCX",
      ]
      try scan.add(Self.pick(family, &random), at: address, world)
    }
    if isThere() {
      let family = ["LPS22HB", "LPS22HH", "LPS25HB", "LPS28DFW"]
      try scan.add(Self.pick(family, &random), at: Self.pick([0x5C, 0x5D], &random), world)
    }
    for address: UInt8 in [0x76, 0x77] where isThere() {
      let family = [
        "BMP280", "BME280", "BMP388", "BMP390", "BME680", "DPS310", "DPS368", "SPL06", "SPA06",
        "MS5611", "MS5607", "MS5611", "MS5607",
      ]
      let name = Self.pick(family, &random)
      guard name.hasPrefix("MS56") else {
        try scan.add(name, at: address, world)
        continue
      }
      let usual = name == "MS5607" ? MS5611Prom.ms5607 : .ms5611
      let c = usual.c.map { Self.spread($0, 0.1, &random) }
      try scan.add(name, at: address, world) {
        MS5611Twin($0, MS5611Prom(c: c, isMS5607: usual.isMS5607))
      }
    }
    return scan
  }

  @Test("1000 boards of lookalikes: each chip is named rightly, or in the set that is named")
  func boards() throws {
    var named: [String: Int] = [:]
    var inSet: [String: Int] = [:]
    var possible: [String: Int] = [:]
    var wrong: [String] = []
    for index in 0..<1000 {
      let receiver = StreamReceiver()
      let scan = try board(index, receiver)
      for (truth, found) in try scan.identifications() {
        let candidates = found.candidates
        let names = candidates.map(\.chip)
        let isSure = names.count == 1 && candidates[0].confidence >= .likely
        if truth == "receiver" || truth == "BMM150" && !isSure {
          // Not asked: nothing is claimed of it, and the board file is asked for.
          let isOpen =
            candidates.allSatisfy { $0.confidence == .possible }
            && candidates.contains { $0.evidence.contains("board file") }
          if isOpen { inSet[truth, default: 0] += 1 } else { wrong.append("\(index): \(truth)") }
        } else if names == [truth] {
          // An LSM303DLHC's accelerometer has no documented identity: it is never more than possible.
          if isSure { named[truth, default: 0] += 1 } else { possible[truth, default: 0] += 1 }
        } else if names.count > 1, names.contains(truth) {
          inSet[truth, default: 0] += 1
        } else {
          wrong.append("\(index): \(truth) is said to be \(names)")
        }
      }
      #expect(receiver.taken == 0)
    }
    #expect(wrong == [], "\(wrong.count) wrong")
    #expect(possible.keys.allSatisfy { $0 == "LSM303DLHC-A" })
    func sum(_ counts: [String: Int]) -> Int { counts.values.reduce(0, +) }
    print(
      "identification: \(sum(named)) named, \(sum(inSet)) in a set or not asked, "
        + "\(sum(possible)) possible, \(wrong.count) wrong")
    for name in Set(named.keys).union(inSet.keys).union(possible.keys).sorted() {
      print(
        "  \(name): \(named[name] ?? 0) named, \(inSet[name] ?? 0) in a set or not asked, "
          + "\(possible[name] ?? 0) possible")
    }
  }

  private func barometer(
    _ prom: MS5611Prom, pascals: Double
  ) throws -> [ChipIdentification] {
    let bench = ContractBench(address: 0x77) { MS5611Twin(TwinCore(source: $0), prom) }
    bench.source.set(Stimulus(pressure: pascals, temperature: 12))
    return try ChipCatalog.identify(bench.device, at: 0x77) {
      bench.clock.advance(bySeconds: $0)
    }
  }

  @Test(
    "the pressure that there is on earth tells an MS5611 from an MS5607, and says when it cannot")
  func pressure() throws {
    for (prom, pascals, names) in [
      (MS5611Prom.ms5611, 101_325.0, ["MS5611"]), (.ms5611, 60_000, ["MS5611"]),
      (.ms5611, 50_000, ["MS5607", "MS5611"]), (.ms5607, 50_000, ["MS5607"]),
      (.ms5607, 101_325, ["MS5607", "MS5611"]),
    ] {
      let found = try barometer(prom, pascals: pascals)
      #expect(found.candidates.map(\.chip) == names)
      #expect(found.count == 2 && found[0].evidence.contains("hPa"))
      #expect(found[0].evidence.contains("both can be") == (names.count == 2))
    }
  }

  @Test("a BMM150 is woken to be told, and sleeps again; at a receiver's address it is not asked")
  func asleep() throws {
    let bench = ContractBench(address: 0x13) { BMM150Twin(source: $0) }
    let before = try ChipCatalog.identify(bench.device, at: 0x13)
    #expect(before.map(\.confidence) == [.possible])
    let found = try ChipCatalog.identify(bench.device, at: 0x13) {
      bench.clock.advance(bySeconds: $0)
    }
    #expect(found.map(\.chip) == ["BMM150"] && found[0].confidence == .likely)
    #expect(try bench.device.byte(0x4B) == 0)
    let silent = ScriptedDevice([.write(0x40, [])])
    #expect(try ChipCatalog.identify(silent, at: 0x10).map(\.confidence) == [.possible])
    silent.expectDone()
    // Another chip that reads as zeros stays unknown.
    let zeros = ScriptedDevice([
      .read(0x40, [0]), .read(0x40, [0]), .read(0x4B, [0]), .read(0x4B, [0]), .write(0x4B, [1]),
      .read(0x40, [0]), .write(0x4B, [0]),
    ])
    #expect(try ChipCatalog.identify(zeros, at: 0x12) { _ in }.isEmpty)
    zeros.expectDone()
  }

  private func likely(_ names: String...) -> [ChipIdentification] {
    names.map {
      ChipIdentification(chip: $0, kind: .magnetometer, confidence: .likely, evidence: "")
    }
  }

  @Test("one other half tells one chip, and not two")
  func partners() {
    let pair = likely("LIS3MDL", "LSM9DS1-M")
    let half = likely("LSM9DS1-AG")
    func names(_ found: [ChipIdentification]...) -> [[String]] {
      ChipCatalog.toldByPartners(found).map { $0.candidates.map(\.chip) }
    }
    #expect(names(pair) == [["LIS3MDL"]])
    #expect(names(pair, half) == [["LSM9DS1-M"], ["LSM9DS1-AG"]])
    #expect(names(pair, pair, half).prefix(2).allSatisfy { $0 == ["LIS3MDL", "LSM9DS1-M"] })
    #expect(names(pair, pair, half, half).prefix(2).allSatisfy { $0 == ["LSM9DS1-M"] })
  }

  @Test("what a DPS310 measures is not taken for a BMP390's identity")
  func outputs() throws {
    for output: UInt8 in [0x50, 0x60] {
      let name = output == 0x50 ? "BMP388" : "BMP390"
      let device = ScriptedDevice([
        .read(0x00, [output]), .read(0x1A, [0xEF, 0x10, 0xFF, 0x1D, 0x01, 0x63]),
        .read(0x00, [output]),
      ])
      let chip = try #require(ChipCatalog.chip(named: name))
      #expect(try chip.identify(device) == nil)
      // A conversion that nobody fetched of an MS5607, which is gone once it was read.
      device.then([
        .read(0x00, [output]), .read(0x1A, [UInt8](repeating: 0, count: 6)), .read(0x00, [0x00]),
      ])
      #expect(try chip.identify(device) == nil)
      device.expectDone()
    }
  }
}
