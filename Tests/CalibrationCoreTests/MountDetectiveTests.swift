import CalibrationCore
import Glibc
import LinearAlgebra
import SensorTypes
import Testing

@Suite("The mount detective")
struct MountDetectiveTests {
  static let inertial: [MountDetective.Senses] = [.field, [.force, .turning]]
  static let plain: [MountDetective.Senses] = [.field, .force]
  /// Where all this happens the field points down.
  static let down = 43.9

  /// A minute of handling as asked for.
  private func minute(_ random: inout HandlingRandom) -> Handling {
    var way = Handling.guided(&random)
    way.tumble(until: 60, &random)
    return way
  }

  private func findings(
    _ board: HandledBoard, _ way: Handling, _ random: inout HandlingRandom, down: Double? = down
  ) -> [MountFinding] {
    var detective = MountDetective(
      chips: board.hasGyro ? Self.inertial : Self.plain, downwardField: down)
    board.play(way, into: &detective, &random)
    return detective.findings()
  }

  @Test("all 48 placements of both chips are found in a minute of handling, with and without a gyro")
  func everyPlacement() {
    var least = [Double.infinity, Double.infinity]
    for (number, placement) in Mount.everyPlacement.enumerated() {
      for hasGyro in [true, false] {
        var random = HandlingRandom(UInt64(number) * 2 + (hasGyro ? 1 : 0))
        let other = Mount.everyPlacement[(number * 17 + 5) % 48]
        let board = HandledBoard(
          magnetometer: placement, inertial: other, hasGyro: hasGyro, iron: random.between(0, 3))
        let way = minute(&random)
        let found = findings(board, way, &random)
        #expect(found.count == 2)
        #expect(found[0].mount == placement, "\(number) gyro \(hasGyro): \(found[0])")
        #expect(found[1].mount == other, "\(number) gyro \(hasGyro): \(found[1])")
        least = [min(least[0], found[0].margin), min(least[1], found[1].margin)]
      }
    }
    print("least margins:", least)
  }
}
