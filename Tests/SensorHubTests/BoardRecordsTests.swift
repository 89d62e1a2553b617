import BoardFile
import CalibrationCore
import StateStore
import Testing

@testable import SensorHub

/// Which chips records can be of.
struct BoardRecordsTests {
  @Test(
    "a record is of a chip of its kind that the catalogue has",
    arguments: [
      (CalibrationKind.magnetometer, ["LIS3MDL"]), (.gyro, ["LSM6DSOX"]),
      (.level, ["LSM6DSOX", "LIS3DH"]),
    ])
  func kinds(kind: CalibrationKind, chips: [String]) {
    let names = ["LIS3MDL", "LSM6DSOX", "LIS3DH", "BMP280", "nothing of that name", ""]
    let board = Board(
      name: "many",
      sensors: names.enumerated().map { place, name in
        Board.Sensor(
          chip: name, attachment: .i2c(bus: "/dev/i2c-1", address: UInt8(0x10 + place)))
      })
    #expect(board.sensors(for: kind).map(\.chip) == chips)
    for sensor in board.sensors {
      #expect(board.sensors.filter(CalibrationKey(kind, sensor).fits) == [sensor])
    }
  }
}
