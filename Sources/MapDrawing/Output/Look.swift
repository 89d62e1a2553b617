/// Whether a picture is light or dark.
package enum MapStyle: String, Hashable, Sendable, CaseIterable {
  /// Dark on light, as on paper.
  case light
  /// Light on dark, for the night.
  case dark
}

/// The colours that a look stands for.
struct Palette: Sendable {
  /// What surrounds the map's square.
  var outside: Colour
  /// The map where there is no tile.
  var ground: Colour
  var grid: Colour
  /// The equator, the meridians 0 and 180, and the map's edge.
  var mainGrid: Colour
  /// RecordPhrases at meridians and parallels.
  var gridText: Colour
  /// The scale bar, the arrow, the attribution.
  var ink: Colour
  /// What surrounds words and lines on tiles.
  var halo: Colour
  var plate: Colour
  /// The arrow's half that points north.
  var north: Colour
  /// Who looks at the map.
  var user: Colour
  /// The same, where it is not known any more.
  var staleUser: Colour
  /// What surrounds who looks at the map.
  var userRing: Colour

  init(_ look: MapStyle) {
    switch look {
    case .light:
      outside = Colour(hex: 0xE3E6E8)
      ground = Colour(hex: 0xF6F4EE)
      grid = Colour(hex: 0xC9CFD2)
      mainGrid = Colour(hex: 0x9DA9B0)
      gridText = Colour(hex: 0x5A6872)
      ink = Colour(hex: 0x2B333A)
      halo = Colour(hex: 0xFFFFFF, alpha: 0.85)
      plate = Colour(hex: 0xFFFFFF, alpha: 0.9)
      north = Colour(hex: 0xC8321F)
      user = Colour(hex: 0x1673E6)
      staleUser = Colour(hex: 0x8A949C)
      userRing = .white
    case .dark:
      outside = Colour(hex: 0x0C0E11)
      ground = Colour(hex: 0x1A1E24)
      grid = Colour(hex: 0x353D47)
      mainGrid = Colour(hex: 0x566271)
      gridText = Colour(hex: 0x9AA7B4)
      ink = Colour(hex: 0xE6EAEE)
      halo = Colour(hex: 0x14171B, alpha: 0.85)
      plate = Colour(hex: 0x252B33, alpha: 0.92)
      north = Colour(hex: 0xFF6A55)
      user = Colour(hex: 0x3D8FFF)
      staleUser = Colour(hex: 0x7B858F)
      userRing = .white
    }
  }
}
