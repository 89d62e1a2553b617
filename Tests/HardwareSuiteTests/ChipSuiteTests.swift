import BoardTestSupport
import SensorDrivers
import SensorHub
import SensorTypes
import SimulatedDevices
import Testing

@testable import HardwareSuite

/// Every chip of the catalogue alone on a board: what the suite knows of it.
struct ChipSuiteTests {
  /// Chips of which no datasheet that was to be had names a noise.
  private static let silent: Set = [
    "AK8963", "AK09916", "AK09918", "IST8310", "LSM9DS1-M", "LSM9DS1-AG", "BMP388", "BMP390",
    "BMP585", "DPS368", "SPL06", "SPA06",
  ]
  /// Chips whose configuration cannot be read back.
  private static let unreadable: Set = ["BMP180", "MMC5603", "MMC5983MA", "MS5611", "MS5607"]

  // Not in the attribute: Swift 6.0.3 dies of closures there.
  private static let driven = ChipCatalog.chips.filter { $0.chip != nil }.map(\.name)

  @Test(
    "each chip is as noisy as its datasheet allows, and a flipped bit of its configuration is seen",
    arguments: driven)
  func chip(name: String) throws {
    let address = try #require(ChipCatalog.chip(named: name)?.addresses.first)
    let text = """
      schema: 1
      name: one chip
      level: true
      sensors:
        - {chip: \(name), bus: /dev/i2c-1, address: \(address)}
      simulation:
        start: {latitude: 52.5163, longitude: 13.3777, altitude: 36}
        legs: [{seconds: 600, fix: true}]
      """
    let board = try VirtualBoard(edit: { _ in text })
    _ = board.run(3)
    let noise = try board.test(seconds: 4).checks.filter { $0.name.contains(" noise of ") }
    #expect(noise.isEmpty == Self.silent.contains(name))
    for check in noise { #expect(check.outcome == .passed, "\(check.name): \(check.measures)") }
    let trial = FaultTrial(bench: board.bench(), sensor: 0, fault: .bitFlip, seconds: 3)
    let check = try trial.run("faults")
    guard !Self.unreadable.contains(name) else {
      #expect(check.detail.contains("no configuration that can be read back"), "\(check.detail)")
      return
    }
    #expect(check.outcome == .passed, "\(check.name): \(check.detail)")
    // It is the flipped bit that was seen, not what else a board may say.
    #expect(board.hub.status[0].counters.configurationsLost > 0)
  }
}
