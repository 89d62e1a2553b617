// No chip comes into the catalogue without its contract.

import SensorDrivers
import Testing

@Suite("Contract: completeness") struct CompletenessTests {
  private static let known = Set(ChipCatalog.chips.map(\.name))

  @Test("every chip of the catalogue is swept, and no other")
  func sweeps() {
    #expect(Set(Sweep.all.map(\.chip)) == Self.known)
  }

  @Test("every chip of the catalogue has its faults, at an address that it can have")
  func faults() throws {
    let registers = FaultContract.all.map(\.chip)
    #expect(Set(registers).count == registers.count)
    // gpsd is a receiver behind a server: `GPSDContractTests`.
    #expect(Set(registers).union(ReceiverContract.all.map(\.chip)).union(["gpsd"]) == Self.known)
    for contract in FaultContract.all {
      let chip = try #require(ChipCatalog.chip(named: contract.chip))
      #expect(chip.kind != .receiver)
      #expect(chip.addresses.contains(contract.address))
    }
  }

  @Test("every receiver is tried on every wire that it can have")
  func wires() throws {
    for chip in ChipCatalog.chips where chip.kind == .receiver && chip.name != "gpsd" {
      let wires = Set(ReceiverContract.all.filter { $0.chip == chip.name }.map(\.wire))
      #expect(wires == (chip.addresses.isEmpty ? [.serial] : [.serial, .ddc]))
    }
  }

  @Test("the sweeps take every range and rate that a driver can be asked for")
  func settings() {
    for contract in ChipContract.all {
      #expect(contract.sweeps.allSatisfy { $0.chip == contract.faults.chip })
      // Rates are counted by the datasheets' tables, ranges by what can be asked for.
      if let settings = contract.settings { #expect(contract.sweeps.count == settings) }
    }
  }
}
