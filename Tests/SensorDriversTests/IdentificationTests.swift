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

  func listen(into buffer: UnsafeMutableRawBufferPointer) throws(BusError) {
    try read(0x00, into: buffer)
  }

  func write(_ register: UInt8, from bytes: UnsafeRawBufferPointer) throws(BusError) {}
}

/// A chip that answers to an MS5611's commands, with conversions that do not change.
private final class NextGeneration: RegisterDevice {
  private let prom: Stranger
  private let pressure: UInt32, temperature: UInt32
  private var result: UInt32 = 0

  init(_ prom: Stranger, pressure: UInt32, temperature: UInt32) {
    (self.prom, self.pressure, self.temperature) = (prom, pressure, temperature)
  }

  func read(_ register: UInt8, into buffer: UnsafeMutableRawBufferPointer) throws(BusError) {
    guard register == 0x00 else { return try prom.read(register, into: buffer) }
    for index in buffer.indices {
      buffer[index] = UInt8(truncatingIfNeeded: index < 3 ? result >> (16 - 8 * index) : 0)
    }
    result = 0
  }

  func write(_ register: UInt8, from bytes: UnsafeRawBufferPointer) throws(BusError) {
    if 0x40..<0x50 ~= register { result = pressure }
    if 0x50..<0x60 ~= register { result = temperature }
  }
}

/// A port expander (PCF8574): whatever is written are its outputs, whatever is read its pins, of which one changes. With
/// two ports (PCF8575) they take turns.
private final class Expander: RegisterDevice {
  private(set) var writes = 0
  private let toggles: Bool
  private let ports: [UInt8]

  init(toggles: Bool, ports: [UInt8]) { (self.toggles, self.ports) = (toggles, ports) }

  func read(_ register: UInt8, into buffer: UnsafeMutableRawBufferPointer) throws(BusError) {
    writes += 1
    try listen(into: buffer)
  }

  func listen(into buffer: UnsafeMutableRawBufferPointer) throws(BusError) {
    for index in buffer.indices {
      buffer[index] = ports[index % ports.count] | (toggles && index % 3 == 0 ? 0x80 : 0)
    }
  }

  func write(_ register: UInt8, from bytes: UnsafeRawBufferPointer) throws(BusError) { writes += 1 }
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
    guard random.next() % 2 == 0,
      // At any rate that it has, and any range.
      var chip = ChipCatalog.chip(named: name)?.chip?(Double(1 << Int(random.next() % 11)))
    else { return }
    for _ in 0..<random.next() % 5 { _ = chip.widen() }
    try use(chip, device)
    // Of these one in four sleeps again.
    if random.next() % 4 == 0 {
      for setting in chip.sleepSettings { try device.write(setting.register, setting.value) }
    }
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

  /// - Parameter usualPressure: As a board file that says the altitude has it.
  func identifications(
    usualPressure: Double?
  ) throws -> [(address: UInt8, truth: String, found: [ChipIdentification])] {
    let addresses = ChipCatalog.addresses.filter { devices[$0] != nil }
    let found = try addresses.map { address in
      let device = SharedDevice(try #require(devices[address]))
      return try ChipCatalog.identify(device, at: address, usualPressure: usualPressure) {
        clock.advance(bySeconds: $0)
      }
    }
    return zip(addresses, ChipCatalog.toldByPartners(found)).map {
      (address: $0, truth: truths[$0] ?? "", found: $1)
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

  private static func spread<Number: FixedWidthInteger>(
    _ middle: Number, _ share: Double, _ random: inout SeededGenerator
  ) -> Number {
    Number(clamping: Int(spread(Double(middle), share, &random)))
  }

  /// A chip whose own memory holds something else than another's of its kind: the PROM or the coefficients of a
  /// barometer, a magnetometer's trim, the trim of a self-test. They lie where other chips have their identity, or what
  /// tells them.
  private static func individual(
    _ name: String, _ random: inout SeededGenerator
  ) -> ((TwinCore) -> any ChipTwin)? {
    switch name {
    case "MS5611", "MS5607":
      let usual = name == "MS5607" ? MS5611Prom.ms5607 : .ms5611
      let c = usual.c.map { spread($0, 0.1, &random) }
      // Chips from the shelf have zeros in the words that no formula uses, or anything.
      let prom = MS5611Prom(
        c: c, isMS5607: usual.isMS5607,
        factory: random.next() % 4 == 0 ? 0 : UInt16(random.next() & 0xFFFF),
        serial: random.next() % 4 == 0 ? 0 : UInt16(random.next() & 0x0FFF))
      return { MS5611Twin($0, prom) }
    case "DPS310", "DPS368", "SPL06", "SPA06":
      var c: SimulatedDevices.DPS310TwinTrim = name == "SPA06" ? .quartic : .typical
      let sign: Int32 = random.next() % 2 == 0 ? 1 : -1
      for place in [\SimulatedDevices.DPS310TwinTrim.c0, \.c1, \.c00, \.c10] {
        c[keyPath: place] = spread(c[keyPath: place], 0.1, &random)
      }
      for place in [
        \SimulatedDevices.DPS310TwinTrim.c01, \.c11, \.c20, \.c21, \.c30, \.c31, \.c40,
      ] {
        c[keyPath: place] = sign * spread(c[keyPath: place], 0.5, &random)
      }
      let coefficients = c
      let variant: DPS310Twin.Variant =
        name == "SPA06" ? .spa06 : name == "SPL06" ? .spl06 : .infineon
      return { DPS310Twin($0, variant, coefficients: coefficients) }
    case "BMP180":
      var words = BMP180Words.datasheetExample
      // MB is at its end.
      for index in words.words.indices where index != 8 {
        words.words[index] = spread(words.words[index], 0.05, &random)
      }
      let trim = words
      return { BMP180Twin($0, trim: trim) }
    case "BMP280", "BME280":
      var trim = BoschTrim.datasheetExample
      trim.t1 = spread(trim.t1, 0.05, &random)
      trim.p1 = spread(trim.p1, 0.05, &random)
      for place in [
        \BoschTrim.t2, \.t3, \.p2, \.p3, \.p4, \.p5, \.p6, \.p7, \.p8, \.p9, \.h2, \.h4, \.h5,
      ] {
        trim[keyPath: place] = spread(trim[keyPath: place], 0.05, &random)
      }
      trim.h1 = UInt8(random.next() & 0xFF)
      let own = trim
      return { BMP280Twin(name == "BME280" ? .bme280 : .bmp280, $0, trim: own) }
    case "BMP388", "BMP390":
      var trim = BMP388Trim.typical
      for place in [\BMP388Trim.t1, \.t2, \.p5, \.p6] {
        trim[keyPath: place] = spread(trim[keyPath: place], 0.05, &random)
      }
      for place in [\BMP388Trim.p1, \.p2, \.p9] {
        trim[keyPath: place] = spread(trim[keyPath: place], 0.05, &random)
      }
      let own = trim
      return { BMP388Twin($0, identity: name == "BMP390" ? 0x60 : 0x50, trim: own) }
    case "BME680":
      var trim = BME680Trim.typical
      for index in trim.t.indices { trim.t[index] = spread(trim.t[index], 0.05, &random) }
      for index in trim.p.indices { trim.p[index] = spread(trim.p[index], 0.05, &random) }
      let own = trim
      return { BME680Twin($0, trim: own) }
    case "BMM150":
      var trim = BMM150TwinTrim()
      for place in [
        \BMM150TwinTrim.x2, \.y2, \.z1, \.z2, \.z3, \.z4, \.xy1, \.xy2, \.xyz1,
      ] {
        trim[keyPath: place] = spread(trim[keyPath: place], 0.3, &random)
      }
      (trim.x1, trim.y1) = (Int(random.next() % 21) - 10, Int(random.next() % 21) - 10)
      trim.hasTopBit = random.next() % 2 == 0
      let own = trim
      return { BMM150Twin($0, trim: own) }
    case "BMM350":
      let words = BMM350Memory.typical.words.map { $0 ^ UInt16(random.next() & 0x0707) }
      return { BMM350Twin($0, memory: BMM350Memory(words: words)) }
    case "BMI160":
      // What a compensation has left: one in two lies where an MPU has its identity.
      var offsets = (0..<7).map { _ in UInt8(random.next() & 0xFF) }
      if random.next() % 2 == 0 { offsets[4] = pick([0x68, 0x70, 0x71, 0x73, 0x98], &random) }
      let own = offsets
      return { BMI160Twin($0, offsets: own) }
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
  private func board(
    _ index: Int, _ receiver: StreamReceiver
  ) throws -> (scan: Scan, pascals: Double) {
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
      }.map(\.name)
      guard !names.isEmpty else { continue }
      let name = Self.pick(names, &random)
      try scan.add(name, at: address, world, make: Self.individual(name, &random))
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
    _ names: Set<String>, _ truth: String, in scan: Scan, pascals: Double, isHeightKnown: Bool
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

  /// Whether a barometer's PROM is an MS5637's as well, as one of 16 is whose last word is its check sum alone: then one
  /// is known that reads more than an MS5637 can, where it is taken for what it is.
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
    ("INA219", 0x46, [0x00: 0x39]),
    // Clocks, at 11:22:33 on a Tuesday; the DS3231 behind its alarms has control, status and temperature.
    (
      "DS3231", 0x68,
      [
        0x00: 0x33, 0x01: 0x22, 0x02: 0x11, 0x03: 0x02, 0x04: 0x17, 0x05: 0x11, 0x06: 0x26,
        0x0E: 0x1C, 0x0F: 0x88, 0x11: 0x19, 0x12: 0x40,
      ]
    ),
    ("DS1307", 0x68, [0x00: 0x33, 0x01: 0x22, 0x02: 0x11, 0x03: 0x02, 0x07: 0x03]),
    ("PCF8523", 0x68, [0x00: 0x00, 0x02: 0x80, 0x03: 0x33, 0x04: 0x22, 0x05: 0x11]),
    // At a QMC5883L's: AD5933 with its status.
    ("AD5933", 0x0D, [0x80: 0xA0, 0x81: 0x00, 0x8F: 0x06]),
    // Memsic's others, by their product identities.
    ("MMC5883MA", 0x30, [0x2F: 0x0C]), ("MMC3416", 0x30, [0x20: 0x06]),
    // VEML7700: words with the lower byte first, of which each command gives one; PMSA003I: a frame from any address.
    ("VEML7700", 0x10, [0x07: 0x81, 0x08: 0xC4]), ("PMSA003I", 0x12, [0x00: 0x42, 0x01: 0x4D]),
    ("VCNL4010", 0x13, [0x80: 0x80, 0x81: 0x21]), ("Si4713", 0x11, [0x00: 0x80]),
    ("VL53L0X", 0x29, [0xC0: 0xEE, 0xC1: 0xAA, 0xC2: 0x10]),
    ("TSL2591", 0x29, [0xB2: 0x50]), ("BNO055", 0x29, [0x00: 0xA0, 0x01: 0xFB, 0x02: 0x32]),
    // Barometers: commands where others have registers. HP206C: parameters from 0x80 on.
    ("HP206C", 0x76, [0x8D: 0x40, 0x8F: 0x02]), ("FBM320", 0x76, [0x6B: 0x42]),
    ("LPS22HB at another's", 0x77, [0x0F: 0xB1]),
  ]

  /// MS5637, MS5837 and MS8607: the example of the MS5637's datasheet (figure 9) and more, seven words with their check
  /// sum in the upper four bits of the first (application note AN520, for 112 bits).
  private static func sevenWords(_ random: inout SeededGenerator, rest: UInt8) -> NextGeneration {
    var words =
      [1 + random.next() % 0x0FFF]
      + ([46372, 43981, 29059, 27842, 31553, 28165] as [Int]).map {
        UInt64(spread($0, 0.1, &random))
      }
    // A division by x^4 + x + 1, bit by bit, of the words with an eighth of zeros.
    var remainder: UInt64 = 0
    for word in words + [0] {
      for byte in [word >> 8, word & 0xFF] {
        remainder ^= byte
        for _ in 0..<8 {
          remainder = (remainder & 0x8000 != 0 ? remainder << 1 ^ 0x3000 : remainder << 1) & 0xFFFF
        }
      }
    }
    words[0] |= (remainder >> 12) << 12
    var registers: [UInt8: UInt8] = [:]
    for (index, word) in words.enumerated() {
      registers[0xA0 + 2 * UInt8(index)] = UInt8(word >> 8)
      registers[0xA1 + 2 * UInt8(index)] = UInt8(word & 0xFF)
    }
    // 20 degrees, where there is no difference to the reference, and a pressure that there is on earth (figure 8).
    let pascals = 31_000 + 78_000 * random.unit()
    let (sensitivity, offset) = (Double(words[1]) * 0x1p16, Double(words[2]) * 0x1p17)
    return NextGeneration(
      Stranger(rest: rest, registers: registers),
      pressure: UInt32((pascals * 0x1p15 + offset) * 0x1p21 / sensitivity),
      temperature: UInt32(words[5]) << 8)
  }

  @Test("the next generation of the MS5611 is none, whatever its coefficients")
  func sevenWords() throws {
    var possible = 0
    for address: UInt8 in [0x76, 0x77] {
      for index in 0..<500 {
        var random = SeededGenerator(seed: 2026, stream: 90, index: UInt64(index))
        let device = Self.sevenWords(&random, rest: index % 2 == 0 ? 0x00 : 0xFF)
        let found = try ChipCatalog.identify(device, at: address)
        if !found.isEmpty { possible += 1 }
        let asked = try ChipCatalog.identify(device, at: address) { _ in }
        for told in found + asked {
          #expect(!told.isTold && told.evidence.contains("MS5637"), "\(index): \(told)")
        }
      }
    }
    // With an eighth word of zeros each has an MS5611's PROM, with one of ones one in 16.
    #expect((500...550).contains(possible))
  }

  @Test(
    "a port expander's outputs do not move, and it is not known", arguments: [false, true],
    [[0x22], [0x22, 0x5D], [0x00, 0x7F]] as [[UInt8]])
  func expander(toggles: Bool, ports: [UInt8]) throws {
    for address: UInt8 in [0x20, 0x21, 0x22, 0x23, 0x3C] {
      let device = Expander(toggles: toggles, ports: ports)
      let found = try ChipCatalog.identify(device, at: address) { _ in }
      #expect(device.writes == 0)
      #expect(!found.isEmpty && found.allSatisfy { !$0.isTold })
      #expect(found.allSatisfy { $0.evidence.contains("port expander") })
    }
    // An adapter that cannot listen: no register is named either.
    #expect(try ChipCatalog.identify(ScriptedDevice([]), at: 0x20).map(\.isTold) == [false])
    // A display gives its status to every read: SSD1306, on and off; SH1106, which also says busy; and what would be a
    // QMC6310's identity.
    for status: UInt8 in [0x03, 0x43, 0x08, 0x48, 0x88, 0xC8, 0x80] {
      let display = Stranger(rest: status, registers: [:])
      let found = try ChipCatalog.identify(display, at: 0x3C) { _ in }
      #expect(!found.isEmpty && found.allSatisfy { !$0.isTold }, "\(status)")
    }
  }

  @Test(
    "an HMC5883L beside a LIS3DH is no LSM303DLHC, and the other way round; both stay as they were",
    arguments: [("HMC5883L", "LIS3DH"), ("LSM303DLHC-M", "LSM303DLHC-A")], [false, true])
  func package(pair: (String, String), isUsed: Bool) throws {
    for index in 0..<50 {
      var scan = Scan(SeededGenerator(seed: 2026, stream: 91, index: UInt64(index)))
      let world = Stimulus(
        magneticField: Vector3(20, 0, -40), specificForce: Vector3(0, 0, 9.8),
        temperature: Double(index) - 20)
      try scan.add(pair.0, at: 0x1E, world)
      try scan.add(pair.1, at: 0x19, world)
      let names = try scan.identifications(usualPressure: nil).map {
        $0.found.candidates.map(\.chip)
      }
      #expect(names == [[pair.1], [pair.0]])
    }
    let model: HMC5883Variant = pair.0 == "HMC5883L" ? .hmc5883l : .lsm303dlhc
    let bench = ContractBench(address: 0x1E) {
      HMC5883Twin(TwinCore(source: $0), model: model == .hmc5883l ? .hmc5883l : .lsm303dlhc)
    }
    if isUsed {
      var driver = RegisterDriver(bench.device, HMC5883(model, outputRate: 75))
      _ = try startUp(&driver)
    }
    let before = try bench.device.burst(0x00, count: 9)
    _ = try ChipCatalog.identify(bench.device, at: 0x1E) { bench.clock.advance(bySeconds: $0) }
    let after = try bench.device.burst(0x00, count: 9)
    #expect((0..<3).allSatisfy { before[$0] == after[$0] })
  }

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
        // What is possible is not told: a scan says that it is not known.
        #expect(found.allSatisfy { !$0.isTold }, "\(stranger.name) is said to be \(found)")
      }
    }
  }

  /// What stands at an address without being any chip: the same answer from any register, as far as it goes.
  private final class Noise: RegisterDevice {
    /// What a read brings from a register on, and after so many bytes that were read before.
    private let byte: (_ register: UInt8, _ count: Int) -> UInt8
    private var count = 0

    init(_ byte: @escaping (_ register: UInt8, _ count: Int) -> UInt8) { self.byte = byte }

    func read(_ register: UInt8, into buffer: UnsafeMutableRawBufferPointer) throws(BusError) {
      for index in buffer.indices {
        buffer[index] = byte(register &+ UInt8(truncatingIfNeeded: index), count)
        count += 1
      }
    }

    func listen(into buffer: UnsafeMutableRawBufferPointer) throws(BusError) {
      try read(0x00, into: buffer)
    }

    func write(_ register: UInt8, from bytes: UnsafeRawBufferPointer) throws(BusError) {}
  }

  private func names(_ device: Noise, at address: UInt8) throws -> [String] {
    try ChipCatalog.identify(device, at: address) { _ in }.filter(\.isTold).map(\.chip)
  }

  @Test("of 1000 register files of noise at an address, one at the most is given a name")
  func noise() throws {
    var sum = 0
    for address in ChipCatalog.addresses {
      var told: [String] = []
      for index in 0..<1000 {
        var random = SeededGenerator(
          seed: 2027, stream: UInt64(address), index: UInt64(index))
        let file = (0..<256).map { _ in UInt8(random.next() >> 56) }
        told += try names(Noise { register, _ in file[Int(register)] }, at: address).prefix(1)
      }
      #expect(told.count <= 1, "\(hexadecimal(address)): \(told)")
      sum += told.count
    }
    print("noise: \(sum) of \(1000 * ChipCatalog.addresses.count) files are named")
  }

  @Test("one byte from every register, two in turn, and a counter are no chip")
  func monotony() throws {
    for address in ChipCatalog.addresses {
      for value in UInt8.min...(.max) {
        let lower = value ^ 0x5A
        for device in [
          Noise { _, _ in value }, Noise { register, _ in register % 2 == 0 ? value : lower },
          Noise { _, count in value &+ UInt8(truncatingIfNeeded: count) },
        ] {
          let names = try names(device, at: address)
          #expect(names == [], "\(hexadecimal(address)): \(hexadecimal(value))")
        }
      }
    }
  }

  /// A converter with one result gives its high byte first, whatever register is named, then the low one.
  private final class Word: RegisterDevice {
    private let high: UInt8

    init(_ high: UInt8) { self.high = high }

    func read(_ register: UInt8, into buffer: UnsafeMutableRawBufferPointer) throws(BusError) {
      for index in buffer.indices { buffer[index] = index == 0 ? high : 0x9C }
    }

    func listen(into buffer: UnsafeMutableRawBufferPointer) throws(BusError) {
      try read(0x00, into: buffer)
    }

    func write(_ register: UInt8, from bytes: UnsafeRawBufferPointer) throws(BusError) {}
  }

  @Test("light and voltages are no chip, whatever they are")
  func words() throws {
    // BH1750, INA219 and INA226, MCP342x and ADS1115, PCF8591 and AD5245, and any other.
    for address in ChipCatalog.addresses {
      for high in UInt8.min...(.max) {
        let told = try ChipCatalog.identify(Word(high), at: address) { _ in }.filter(\.isTold)
        #expect(told == [], "\(hexadecimal(address)): \(high)")
      }
    }
  }

  @Test("a servo driver in its reset state, and a clock that is stopped, are no chips")
  func others() throws {
    // PCA9685 (rev. 4, table 4): MODE1 0x11, MODE2 0x04, addresses, then four registers a channel with "full off".
    var servo: [UInt8: UInt8] = [0x00: 0x11, 0x01: 0x04, 0x02: 0xE2, 0x03: 0xE4, 0x04: 0xE8]
    servo[0x05] = 0xE0
    for channel in 0..<16 { servo[0x09 + 4 * UInt8(channel)] = 0x10 }
    servo[0xFE] = 0x1E
    for address: UInt8 in [0x5C, 0x5D, 0x68, 0x69, 0x6A, 0x6B, 0x76, 0x77] {
      let found = try ChipCatalog.identify(Stranger(rest: 0, registers: servo), at: address) { _ in
      }
      #expect(found.allSatisfy { !$0.isTold }, "\(found)")
    }
    // DS1307: 64 bytes, again and again; CH is bit 7 of the seconds, 51 of them are 0xD1.
    for (minutes, hours) in [(0x02, 0x11), (0x00, 0x00), (0x59, 0x23)] as [(UInt8, UInt8)] {
      for day in UInt8(1)...7 {
        let clock: [UInt8] = [0xD1, minutes, hours, day, 0x17, 0x11, 0x26, 0x03]
        let device = Noise { register, _ in
          let place = Int(register % 64)
          return place < clock.count ? clock[place] : 0
        }
        #expect(try names(device, at: 0x68) == [])
      }
    }
  }

  private func barometer(
    _ prom: MS5611Prom, pascals: Double, usual: Double? = nil
  ) throws -> [ChipIdentification] {
    let bench = ContractBench(address: 0x77) { MS5611Twin(TwinCore(source: $0), prom) }
    bench.source.set(Stimulus(pressure: pascals, temperature: 12))
    return try ChipCatalog.identify(bench.device, at: 0x77, usualPressure: usual) {
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
      #expect(found[0].doubt == nil && (found[1].doubt != nil) == (names.count == 2))
      // Who knows the altitude, within a fifth of its pressure, always knows the chip.
      for share in [0.85, 1, 1.2] {
        let told = try barometer(prom, pascals: pascals, usual: share * pascals)
        #expect(told.candidates.map(\.chip) == [prom.isMS5607 ? "MS5607" : "MS5611"])
        #expect(told[0].isTold && told[0].evidence.contains("at this altitude"))
      }
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
      .read(0x40, [0]), .read(0x40, [0]), .read(0x4B, [0]), .read(0x4B, [0]), .read(0x40, [0]),
      .write(0x4B, [1]), .read(0x4B, [1]), .read(0x40, [0]), .write(0x4B, [0]),
    ])
    // One that is neither asleep nor awake is not written to.
    let other = ScriptedDevice([
      .read(0x40, [0x32]), .read(0x4B, [0x32]), .read(0x4B, [0x32]), .read(0x40, [0x32]),
    ])
    #expect(try ChipCatalog.identify(other, at: 0x12) { _ in }.allSatisfy { !$0.isTold })
    other.expectDone()
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
