// Chips with the same identity are told apart by a partner, by what they measure, or by their other registers.

import LinearAlgebra
import SensorBus
import SensorDrivers
import SensorTypes
import Testing

@testable import SimulatedDevices

@Suite struct LookalikeTests {
  @Test(
    "an HMC5883L beside a LIS3DH is no LSM303DLHC, and the other way round; both stay as they were",
    arguments: [("HMC5883L", "LIS3DH"), ("LSM303DLHC-M", "LSM303DLHC-A")], [false, true])
  func package(pair: (String, String), isUsed: Bool) throws {
    for index in 0..<50 {
      var scan = BoardScan(SeededGenerator(seed: 2026, stream: 91, index: UInt64(index)))
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
