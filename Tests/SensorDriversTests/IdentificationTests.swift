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

/// A chip that nobody knows: registers that hold something, and others.
private final class Stranger: RegisterDevice {
  private let rest: UInt8
  private let registers: [UInt8: UInt8]

  init(rest: UInt8, registers: [UInt8: UInt8]) { (self.rest, self.registers) = (rest, registers) }

  func read(_ register: UInt8, into buffer: UnsafeMutableRawBufferPointer) throws(BusError) {
    for index in buffer.indices {
      buffer[index] = registers[register &+ UInt8(truncatingIfNeeded: index)] ?? rest
    }
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

  /// Those that no board has without the other half.
  private static let halves = ["LSM9DS1-AG", "LSM9DS1-M", "LSM303DLHC-M", "LSM303DLHC-A"]

  /// A chip whose own memory holds something else than another's of its kind, where that is read to tell it: the PROM of a
  /// barometer, the trim of a self-test, which lies where other chips have their identity.
  private static func individual(
    _ name: String, _ random: inout SeededGenerator
  ) -> ((TwinCore) -> any ChipTwin)? {
    switch name {
    case "MS5611", "MS5607":
      let usual = name == "MS5607" ? MS5611Prom.ms5607 : .ms5611
      let c = usual.c.map { spread($0, 0.1, &random) }
      return { MS5611Twin($0, MS5611Prom(c: c, isMS5607: usual.isMS5607)) }
    case "MPU6050":
      let trim = (0..<6).map { _ in UInt8(1 + random.next() % 31) }
      return { MPUTwin(.mpu6050, $0, trim: trim) }
    case "MPU6500", "MPU9250", "ICM20948", "ICM42688P":
      let trim = (0..<6).map { _ in UInt8(1 + random.next() % 255) }
      return {
        switch name {
        case "ICM20948": ICM20948Twin($0, trim: trim)
        case "ICM42688P": ICM42688PTwin($0, trim: trim)
        default: MPUTwin(name == "MPU6500" ? .mpu6500 : .mpu9250, $0, trim: trim)
        }
      }
    default: return nil
    }
  }

  /// One board: chips at the addresses that they share, all of them or few. The two halves of a package share its wires,
  /// so that either both answer or none.
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

    // Packages of two chips.
    if isThere() {
      try scan.add("LSM9DS1-AG", at: Self.pick([0x6A, 0x6B], &random), world)
      try scan.add("LSM9DS1-M", at: Self.pick([0x1C, 0x1E], &random), world)
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
          // The two together pass for an LSM303DLHC.
          && !($0.name == "HMC5883L" && scan.truths[0x19] == "LIS3DH")
      }.map(\.name)
      guard !names.isEmpty else { continue }
      let name = Self.pick(names, &random)
      try scan.add(name, at: address, world, make: Self.individual(name, &random))
    }
    return scan
  }

  @Test("1000 boards of all chips: each is named rightly, or in the set that is named")
  func boards() throws {
    var named: [String: Int] = [:]
    var inSet: [String: Int] = [:]
    var possible: [String: Int] = [:]
    var wrong: [String] = []
    var met: [String: Int] = [:]
    for index in 0..<1000 {
      let receiver = StreamReceiver()
      let scan = try board(index, receiver)
      for (address, truth) in scan.truths { met["\(truth) \(address)", default: 0] += 1 }
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
    // Every chip was met at each of its addresses, and so every pair that shares one.
    for chip in ChipCatalog.chips where TwinCatalog.twin(named: chip.name) != nil {
      for address in chip.addresses { #expect(met["\(chip.name) \(address)", default: 0] >= 10) }
    }
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

  /// Chips that share an address with ours, by what tells them: Linux's drivers and headers have these numbers.
  private static let strangers: [(name: String, address: UInt8, identity: [UInt8: UInt8])] = [
    ("AK09911", 0x0C, [0x00: 0x48, 0x01: 0x05]), ("AK09912", 0x0C, [0x00: 0x48, 0x01: 0x04]),
    ("MAG3110", 0x0E, [0x07: 0xC4]), ("MMA8452Q", 0x1C, [0x0D: 0x2A]),
    ("LSM303D", 0x1E, [0x0F: 0x49]), ("BMA400", 0x14, [0x00: 0x90]), ("BMA255", 0x18, [0x00: 0xFA]),
    ("KXTJ2", 0x0F, [0x0F: 0x09]), ("BMI088 accelerometer", 0x18, [0x00: 0x1E]),
    ("ITG3200", 0x68, [0x00: 0x68]), ("BMI270", 0x68, [0x00: 0x24]), ("BMG160", 0x69, [0x00: 0x0F]),
    ("ICM20602", 0x68, [0x75: 0x12]), ("ICM42605", 0x69, [0x75: 0x42]),
    ("L3GD20", 0x6A, [0x0F: 0xD4]), ("L3GD20H", 0x6B, [0x0F: 0xD7]),
    ("LSM6DSV", 0x6B, [0x0F: 0x70]), ("LPS331AP", 0x5C, [0x0F: 0xBB]),
    ("INA219", 0x46, [0x00: 0x39]), ("DS3231", 0x68, [0x0E: 0x1C]),
  ]

  @Test("unknown chips stay unknown, whatever else they hold")
  func unknown() throws {
    for (place, stranger) in Self.strangers.enumerated() {
      for index in 0..<20 {
        var random = SeededGenerator(seed: 2026, stream: UInt64(100 + place), index: UInt64(index))
        // What a register that is not there reads as.
        let rest: UInt8 = index % 2 == 0 ? 0x00 : 0xFF
        // Outputs are anything.
        let outputs = Dictionary(
          uniqueKeysWithValues: (0x22...0x2D).map { (UInt8($0), UInt8(random.next() & 0xFF)) })
        let device = Stranger(
          rest: rest, registers: outputs.merging(stranger.identity) { $1 })
        let found = try ChipCatalog.identify(device, at: stranger.address) { _ in }
        #expect(
          found.allSatisfy { $0.confidence == .possible }, "\(stranger.name) is said to be \(found)"
        )
      }
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
