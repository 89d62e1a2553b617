// Satellites as a map of the sky in characters.

import LinearAlgebra
import SensorTypes

/// The sky as a map of it: north is up, east on the right, the zenith in the middle and the horizon its edge; a dotted
/// ring marks the horizon, another 45 degrees.
///
/// A satellite stands where it is, by its label, in capitals where it is used; where another one's label is in the way
/// it is `*` or, not used, `o`. Those whose place the receiver does not say, or says to be below the horizon, are not
/// in it.
struct SkyPlot {
  /// Rows from the zenith to the horizon: as few as can be read, as many as are of use.
  private static let radii = 4...12

  /// Rows from the zenith to the horizon.
  private let radius: Int

  /// A plot for a room of so many columns and rows; `nil` where that is too small.
  init?(width: Int, rows: Int) {
    // A row is as high as two columns are wide, and labels stand out by one on both sides.
    let radius = min(Self.radii.upperBound, (rows - 1) / 2, (width - 3) / 4)
    guard Self.radii.contains(radius) else { return nil }
    self.radius = radius
  }

  /// Columns of its lines.
  var width: Int { 4 * radius + 3 }

  private var middle: Int { 2 * radius + 1 }

  /// The lines, each as wide as the plot.
  func lines(_ satellites: [GNSSSatellite]) -> [String] {
    let empty = [Character](repeating: " ", count: width)
    var grid = [[Character]](repeating: empty, count: 2 * radius + 1)
    for elevation in [0.0, 45] {
      for azimuth in stride(from: 0.0, to: 360, by: 2) {
        let (row, column) = place(elevation, azimuth)
        grid[row][column] = "."
      }
    }
    for (azimuth, letter) in zip([0.0, 90, 180, 270], "NESW") {
      let (row, column) = place(0, azimuth)
      grid[row][column] = letter
    }
    grid[radius][middle] = "+"
    var taken: Set<Int> = []
    for satellite in satellites.sorted(by: { $0.outranks($1) }) {
      guard let elevation = satellite.elevation, (0...90).contains(elevation),
        let azimuth = satellite.azimuth, azimuth.isFinite
      else { continue }
      let (row, column) = place(elevation, azimuth)
      let label = satellite.isUsed == true ? satellite.label : satellite.label.lowercased()
      let cells = (column - 1)...(column + 1)
      if cells.allSatisfy({ !taken.contains(row * width + $0) }) {
        for (cell, character) in zip(cells, label) {
          grid[row][cell] = character
          taken.insert(row * width + cell)
        }
      } else if taken.insert(row * width + column).inserted {
        grid[row][column] = satellite.isUsed == true ? "*" : "o"
      }
    }
    return grid.map { String($0) }
  }

  /// The cell of a place, of which both are degrees.
  private func place(_ elevation: Double, _ azimuth: Double) -> (row: Int, column: Int) {
    let distance = Double(radius) * (90 - elevation) / 90
    let angle = azimuth * .pi / 180
    return (
      radius - Int((distance * cos(angle)).rounded()),
      middle + Int((2 * distance * sin(angle)).rounded())
    )
  }
}
