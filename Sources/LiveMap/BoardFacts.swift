import MapDrawing
import SensorDrivers
import SensorTypes
import TerminalUI
import TextForms

/// What a page is told of the board before anything is measured.
struct BoardFacts {
  private let name: String
  private let isSimulated: Bool
  private let tiles: TileStore?

  init(board: BoardDescription, tiles: TileStore?) {
    name = board.name
    isSimulated = board.isSimulated
    self.tiles = tiles
  }

  func write(into line: inout JSONLine) {
    line.set("name", name)
    line.set("isSimulated", isSimulated)
    guard let tiles else { return }
    var nested = JSONLine()
    nested.set("minimumZoom", tiles.minimumZoom)
    nested.set("maximumZoom", tiles.maximumZoom)
    nested.set("attribution", tiles.attribution)
    line.set("tiles", nested)
  }
}
