// A motion beyond a chip's range on one axis: marked there, right on the others.

import LinearAlgebra
import SensorDrivers
import SensorTypes
import Testing

@testable import SimulatedDevices

@Suite("Contract: ends of the range") struct ClippingContractTests {
  static let chips = FaultContract.all.filter {
    ChipCatalog.chip(named: $0.chip)?.kind == .inertial
  }

  /// The newest of the readings of a tenth of a second: a queue holds older ones, and a filter has to settle.
  private func settled(_ contract: FaultContract, _ world: Stimulus) throws -> Reading {
    let bench = ContractBench(address: contract.address, contract.twin)
    bench.source.set(world)
    let driver = contract.driver(bench.device, .all)
    try bench.start(driver)
    var reading: Reading?
    for _ in 0..<20 { reading = try bench.nextReading(driver) ?? reading }
    return try #require(reading)
  }

  @Test(
    "a spin beyond the gyro's range is marked on its axis", arguments: Self.chips, [-1.0, 1])
  func spin(_ contract: FaultContract, sign: Double) throws {
    for axis in 0..<3 {
      var world = FaultContract.world
      world.angularRate = Vector3(0.1, -0.2, 0.3)
      world.angularRate[axis] = sign * 60
      guard case .clippedInertial(let rate, let force, let clipped) = try settled(contract, world)
      else {
        Issue.record("axis \(axis) is not marked")
        continue
      }
      #expect(clipped == InertialClipping(angularRate: ClippedAxes(axis: axis)))
      // Of its sign, and at the end of a range: 125 degrees a second at least.
      #expect(sign * rate[axis] > 2 && abs(rate[axis]) < 60)
      for other in 0..<3 where other != axis {
        #expect(abs(rate[other] - world.angularRate[other]) < 0.05)
      }
      #expect((force - world.specificForce).length < 0.5)
    }
  }

  @Test(
    "a blow beyond the accelerometer's range is marked on its axis", arguments: Self.chips,
    [-1.0, 1])
  func blow(_ contract: FaultContract, sign: Double) throws {
    for axis in 0..<3 {
      var world = FaultContract.world
      world.specificForce[axis] = sign * 400
      guard case .clippedInertial(let rate, let force, let clipped) = try settled(contract, world)
      else {
        Issue.record("axis \(axis) is not marked")
        continue
      }
      #expect(clipped == InertialClipping(acceleration: ClippedAxes(axis: axis)))
      #expect(sign * force[axis] > 19 && abs(force[axis]) < 400)
      for other in 0..<3 where other != axis {
        #expect(abs(force[other] - world.specificForce[other]) < 0.5)
      }
      #expect((rate - world.angularRate).length < 0.05)
    }
  }

  @Test("all axes of one sensor may be clipped; those of both are no motion", arguments: Self.chips)
  func all(_ contract: FaultContract) throws {
    var world = FaultContract.world
    world.angularRate = Vector3(60, -60, 60)
    guard case .clippedInertial(_, let force, let clipped) = try settled(contract, world) else {
      Issue.record("a spin about all axes is not marked")
      return
    }
    #expect(clipped == InertialClipping(angularRate: .all))
    #expect((force - world.specificForce).length < 0.5)
    world.specificForce = Vector3(-400, 400, 400)
    #expect(throws: DriverError.overflow) { try settled(contract, world) }
  }

  @Test("there are such chips") func count() { #expect(Self.chips.count == 15) }
}
