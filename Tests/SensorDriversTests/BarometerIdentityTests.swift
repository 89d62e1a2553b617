// Every barometer's twin is told for what it is, or for one of a stated set that behaves the same.

import SensorDrivers
import SensorTypes
import Testing

@testable import SimulatedDevices

@Suite struct BarometerIdentityTests {
  /// Chips that answer alike.
  static let alike: [Set<String>] = [["DPS310", "DPS368", "SPL06"], ["MS5611", "MS5607"]]

  static let barometers = ChipCatalog.chips.filter { $0.kind == .barometer }.map(\.name)

  @Test(
    "each is told, at each of its addresses, and no chip of another sort", arguments: barometers)
  func told(name: String) throws {
    let chip = try #require(ChipCatalog.chip(named: name))
    let twin = try #require(TwinCatalog.twin(named: name))
    for address in chip.addresses {
      let bench = ContractBench(address: address) { twin.make(TwinCore(source: $0)) }
      let found = try ChipCatalog.identify(bench.device, at: address)
      let expected = Self.alike.first { $0.contains(name) } ?? [name]
      #expect(Set(found.map(\.chip)) == expected)
      for identification in found where expected.count > 1 {
        #expect(identification.confidence < .certain)
        #expect(identification.evidence.contains("answer"))
      }
    }
  }

  @Test("a PROM of any coefficients is an MS5611's, and nothing else is")
  func proms() throws {
    var random = SeededGenerator(seed: 5611, stream: 0, index: 0)
    for _ in 0..<200 {
      let c = (0..<6).map { _ in (32768 + 30_000 * random.symmetric()).rounded() }
      let bench = ContractBench(address: 0x77) {
        MS5611Twin(TwinCore(source: $0), MS5611Prom(c: c, isMS5607: false))
      }
      #expect(
        try ChipCatalog.identify(bench.device, at: 0x77).map(\.chip) == ["MS5611", "MS5607"])
    }
  }
}
