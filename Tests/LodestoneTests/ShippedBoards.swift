// The board files of Boards/, and what stands on them whatever they say.

import BoardFile
import BoardTestSupport
import Foundation
import LinearAlgebra
import SensorTypes
import SimulatedDevices
import Testing

/// A file of Boards/.
struct ShippedBoard: Sendable, CustomTestStringConvertible {
  let name: String
  let text: String
  let board: Board

  var testDescription: String { name }

  /// Every one there is.
  static let all: [ShippedBoard] = {
    let folder = VirtualBoard.root.appending(path: "Boards")
    let files = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
    return files.sorted().compactMap { file in
      guard let text = try? String(contentsOf: folder.appending(path: file), encoding: .utf8),
        let board = try? BoardFile.parse(text, file: file)
      else { return nil }
      return ShippedBoard(name: String(file.dropLast(5)), text: text, board: board)
    }
  }()

  /// Those that stand for hardware.
  static let real = all.filter { $0.board.simulation == nil }

  /// Those on which two chips of one package are.
  static let packaged = real.filter { !$0.parts.isEmpty }

  /// How the axes of two chips in one package lie to each other, as the drivers deliver them: the mount of the second
  /// where the first is aligned. Not from the board files: as PX4's drivers of MPU9250, ICM20948 and LSM9DS1 read the
  /// datasheets' figures of axes (ours has turned the X of the LSM9DS1's accelerometer and gyro); an LSM303DLHC has one
  /// figure for both.
  private static let packages: [(host: String, part: String, mount: Mount?)] = [
    ("MPU9250", "AK8963", Mount(x: .plusY, y: .plusX, z: .minusZ)),
    ("ICM20948", "AK09916", Mount(x: .plusX, y: .minusY, z: .minusZ)),
    ("LSM9DS1-AG", "LSM9DS1-M", .aligned),
    ("LSM303DLHC-A", "LSM303DLHC-M", .aligned),
  ]

  /// How a second chip of a package sits where the first is aligned; `nil` for a chip that is none.
  static func packageMount(of part: String) -> Mount? {
    packages.first { $0.part == part }?.mount
  }

  /// The second chips of packages: their places, and how they sit if the first chip sits as the file says.
  var parts: [(place: Int, mount: Mount)] {
    board.sensors.indices.compactMap { place in
      guard let package = Self.packages.first(where: { $0.part == board.sensors[place].chip }),
        let host = board.sensors.first(where: { $0.chip == package.host }),
        let mount = package.mount
      else { return nil }
      return Self.mount(of: host.mount.matrix * mount.matrix).map { (place, $0) }
    }
  }

  private static func mount(of matrix: Matrix3) -> Mount? {
    for x in SignedAxis.allCases {
      for y in SignedAxis.allCases {
        for z in SignedAxis.allCases {
          if let mount = Mount(x: x, y: y, z: z), mount.matrix == matrix { return mount }
        }
      }
    }
    return nil
  }

  /// The place of the magnetometer that nobody sees before another chip was started.
  var hidden: Int? {
    board.sensors.firstIndex {
      $0.behind != nil || ["AK8963", "AK09916"].contains($0.chip)
    }
  }

  /// What the twins live through: at rest, a turn, and tilts unless the board is a level one.
  private func simulation(seed: Int) -> String {
    var legs = ["{seconds: \(Self.still), fix: true}", "{seconds: 6, turn: 120}"]
    if !board.isLevel {
      legs += [
        "{seconds: 4, pitch: 30}", "{seconds: 4, pitch: 0, roll: -25}", "{seconds: 4, roll: 0}",
      ]
    }
    return """
      \(text)
      simulation:
        seed: \(seed)
        start: {latitude: 52.5163, longitude: 13.3777, altitude: 36}
        heading: 40
        hardIron: [18.0, -31.0, 12.0]
        softIron: [[1.06, 0.02, -0.01], [0.02, 0.95, 0.03], [-0.01, 0.03, 1.01]]
        legs: [\((legs + ["{seconds: 30}"]).joined(separator: ", "))]
      """
  }

  /// How long the board lies still and level, seconds.
  static let still = 14

  /// The board with twins, on a clock of the test's. `edit` changes what the file says; where the chips of
  /// packages really sit stays as `packages` has it.
  func twins(
    seed: Int = 1, records: Bool = false, edit: (String) -> String = { $0 }
  ) throws -> VirtualBoard {
    try VirtualBoard(
      name,
      adapt: { simulated in
        for (place, mount) in parts { simulated.chips[place].mount = mount }
      },
      edit: { edit(board.simulation == nil ? simulation(seed: seed) : $0) }, records: records)
  }
}
