// What is demanded of the BMM350: every setting swept, its faults. The datasheet's figures, restated.

import LinearAlgebra
import SensorDrivers
import SensorTypes

@testable import SimulatedDevices

extension ChipContract {
  static let bmm350 = ChipContract(
    settings: 2 * BMM350.outputRates.count, sweeps: Sweep.bmm350, faults: .bmm350)
}

extension Sweep {
  /// BMM350: +-2000 microtesla at each of its rates, with the memories of two chips. A count is 1 / 141.4 microtesla on X
  /// and Y and 1 / 139.4 on Z before the trim, of which the gain makes at most 8 % less.
  fileprivate static let bmm350: [Sweep] = {
    let other = BMM350Memory(words: [
      0xFBF6, 0x1FD8, 0x0E30, 0xF8C4, 0x11F3, 0xEC14, 0x0CEA, 0x08F0, 0xF50B, 0x09F7, 0xFE20,
    ])
    let rates = [1.5625, 3.125, 6.25, 12.5, 25, 50, 100, 200, 400]
    return [("typical", BMM350Memory.typical), ("mirrored", other)].flatMap { name, memory in
      rates.map { rate -> Sweep in
        .axes(
          BMM350(outputRate: rate), name,
          [.field(limit: 2000, lsb: Vector3(1 / 141.4, 1 / 141.4, 1 / 139.4))], address: 0x14,
          twin: { BMM350Twin($0, memory: memory) })
      }
    }
  }()
}

extension FaultContract {
  /// The noise: 190 nT on X and Y and 450 on Z, averaged over eight. Two bytes that mean nothing begin every read.
  fileprivate static let bmm350 = FaultContract(
    chip: "BMM350", address: 0x14, twin: { BMM350Twin(source: $0) },
    driver: { BoxedDriver(RegisterDriver($0, BMM350(outputRate: 50), checks: $1)) },
    world: world, isRight: isField(within: 6 * 0.36 * Vector3(0.19, 0.19, 0.45)),
    firstOfStart: Read(register: 0x00, count: 3), firstOfPoll: Read(register: 0x30, count: 3),
    data: Read(register: 0x31, count: 14),
    stranger: (
      .wrongIdentity(0x32),
      .wrongIdentity(chip: "BMM350", register: 0x00, expected: 0x33, found: 0x32)
    ), lost: .named(.configurationLost(register: 0x04, expected: 0x35, found: 0x14)), alike: 51)
}
