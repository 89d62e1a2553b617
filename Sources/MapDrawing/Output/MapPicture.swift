import Geodesy
import TextForms

/// A picture of a map: tiles or a graticule, what is put on them, and what a map needs to be read (a scale bar, an arrow
/// where north is not up, whose map it is).
///
/// The earth is shown once, half of it to the west of the viewport's middle and half to the east, where
/// `Viewport.picturePoint(of:)` has it. What lies beyond has another colour and nothing on it.
package struct MapPicture: Sendable {
  /// What is shown, and how large the picture is.
  package var viewport: Viewport
  /// The tiles below everything else; none for a graticule.
  package var tiles: TileStore?
  /// Tiles that lie on those, the lowest first. Where one is missing what is below is seen.
  package var tileLayers: [TileLayer]
  /// Light or dark colours, of everything but tiles and shapes.
  package var look: MapStyle
  /// How many pixels of a screen a point is, to choose tiles by and for `png()`.
  package var scale: Double
  /// Shapes below the graticule's words.
  package var belowLabels: [MapShape]
  package var overlays: [MapShape]
  package var annotations: [MapShape]
  /// Where somebody is who looks at the map. The circle lies below the annotations, the dot above them.
  package var userLocation: UserLocationMark?
  /// Whether there is a scale bar.
  package var showsScale: Bool
  /// Whether an arrow says where north is, where it is not up.
  package var showsCompass: Bool
  /// What the picture is, for who cannot see it and as a tool tip; it is not drawn.
  package var title: String?
  /// What the names within the file begin with. Pictures on one page need different ones.
  package var identifier: String

  /// Makes a light picture without tiles and shapes.
  package init(viewport: Viewport) {
    self.viewport = viewport
    look = .light
    scale = 1
    tileLayers = []
    belowLabels = []
    overlays = []
    annotations = []
    showsScale = true
    showsCompass = true
    identifier = "map"
  }

  package struct TileLayer: Sendable {
    package var tiles: TileStore
    /// How much they cover what lies below, 0 to 1.
    package var opacity: Double

    package init(tiles: TileStore, opacity: Double = 1) {
      self.tiles = tiles
      self.opacity = opacity
    }
  }

  /// A picture that was drawn.
  package struct Drawing: Sendable {
    /// The picture as a file.
    package var svg: String
    /// The zoom of the tiles that are shown; nil where there are none.
    package var tileZoom: Int?
    /// How many tiles there are in it.
    package var tileCount: Int
    /// Why tiles are missing that could not be read, in words: the first few. A tile that is not there is no fault.
    package var tileFaults: [String]
  }

  /// The picture as an SVG file that stands by itself: no script, no reference to anything outside of it, tiles
  /// embedded. What it needs of SVG 2 are `href` and `paint-order`.
  package func svg() -> String { drawn().svg }

  /// The picture as PNG, `scale` pixels for each point. Throws `RasterError`.
  package func png() throws -> [UInt8] {
    let factor = pixelScale
    return try Rasteriser.png(
      svg: svg(), width: Self.pixels(viewport.width * factor),
      height: Self.pixels(viewport.height * factor))
  }

  private static func pixels(_ value: Double) -> Int {
    value.isFinite ? Int(min(max(value.rounded(), 1), 1e6)) : 1
  }

  private var pixelScale: Double { scale > 0 && scale <= 8 ? scale : 1 }

  /// Draws the picture, and says what became of its tiles.
  package func drawn() -> Drawing {
    let palette = Palette(look)
    guard let view = viewport.drawable else {
      // Nothing that is shown would be true.
      return Drawing(
        svg: file(width: 1, height: 1, palette, definitions: "", body: ""), tileCount: 0,
        tileFaults: [])
    }
    let ground = view.ground
    let layer = BaseLayer(view: view, ground: ground, store: tiles, scale: pixelScale)
    let upper = tileLayers.map {
      BaseLayer(view: view, ground: ground, store: $0.tiles, scale: pixelScale)
    }
    let furniture = Furniture(
      view: view, palette: palette, attribution: tiles?.attribution, showsScale: showsScale,
      showsCompass: showsCompass)
    var writer = SVGWriter(frame: view.frame, prefix: name)

    let outline = ground.compactMap(view.unwrappedPicturePoint)
    if !ground.isEmpty {
      writer.add(.path(subpaths: [outline], closed: true, fill: palette.ground, stroke: nil))
    }
    let labels = addGraticule(view, ground, layer, furniture, palette, &writer)
    writer.add(layer)
    for (layer, tiles) in zip(upper, tileLayers) { writer.add(layer, opacity: tiles.opacity) }
    if !ground.isEmpty {
      // The map's edge, where it is in the picture.
      let edge = Stroke(colour: palette.mainGrid, width: 1, lineJoin: .miter)
      writer.add(edges(view, edge))
    }
    writer.add(belowLabels)
    writer.add(labels)
    writer.add(overlays)
    let user = userLocation.map { UserLocationDrawing(mark: $0, view: view, palette: palette) }
    if let user {
      writer.add(user.circle)
      if let cone = user.cone { writer.add(cone) }
    }
    writer.add(annotations)
    if let user { writer.add(user.dot) }
    writer.add(furniture.shapes)
    return Drawing(
      svg: file(
        width: view.width, height: view.height, palette, definitions: writer.definitions,
        body: writer.body),
      tileZoom: layer.zoom, tileCount: layer.tiles.count,
      tileFaults: layer.faults + upper.flatMap(\.faults))
  }

  /// Adds lines where there is no tile; the words at them, which are to be added later.
  private func addGraticule(
    _ view: Viewport, _ ground: [MercatorPoint], _ layer: BaseLayer, _ furniture: Furniture,
    _ palette: Palette, _ writer: inout SVGWriter
  ) -> [MapShape] {
    guard !layer.bare.isEmpty else { return [] }
    let graticule = Graticule(view: view, ground: ground)
    let lines = [false, true].compactMap { isMain -> MapShape? in
      let some = graticule.lines.filter { $0.isMain == isMain }
      guard !some.isEmpty else { return nil }
      return .path(
        subpaths: some.map { [$0.start, $0.end] }, closed: false, fill: nil,
        stroke: Stroke(
          colour: isMain ? palette.mainGrid : palette.grid, width: isMain ? 1 : 0.8, lineCap: .butt)
      )
    }
    let bare = layer.bare.map { $0.compactMap(view.unwrappedPicturePoint) }
    if tiles == nil {
      writer.add(lines)
    } else {
      writer.add(lines, clippedTo: bare.map { Plane.grown($0, by: 0.5) })
    }
    var labels = GraticuleLabels(
      view: view,
      style: TextStyle(
        size: 9.5, colour: palette.gridText, halo: palette.ground, anchor: .middle),
      taken: furniture.taken)
    return labels.shapes(graticule.lines) { place in
      tiles == nil || bare.contains { Plane.common([place, place, place], convex: $0).count > 0 }
    }
  }

  /// The northern and the southern end of the map, and its ends in the east and the west.
  private func edges(_ view: Viewport, _ stroke: Stroke) -> [MapShape] {
    let (west, east) = (view.centre.x - 0.5, view.centre.x + 0.5)
    let ring = view.ground
    // Each side of what is seen that lies on an edge.
    return ring.indices.compactMap { index -> MapShape? in
      let (a, b) = (ring[index], ring[(index + 1) % ring.count])
      func lies(_ value: KeyPath<MercatorPoint, Double>, on edge: Double) -> Bool {
        abs(a[keyPath: value] - edge) < 1e-9 && abs(b[keyPath: value] - edge) < 1e-9
      }
      guard lies(\.y, on: 0) || lies(\.y, on: 1) || lies(\.x, on: west) || lies(\.x, on: east),
        let start = view.unwrappedPicturePoint(of: a), let end = view.unwrappedPicturePoint(of: b)
      else { return nil }
      return .path(subpaths: [[start, end]], closed: false, fill: nil, stroke: stroke)
    }
  }

  /// The identifier, as far as it can be one.
  private var name: String {
    let letters = identifier.unicodeScalars.filter {
      $0.isASCII && ($0.properties.isAlphabetic || "0123456789-_".unicodeScalars.contains($0))
    }
    let text = String(String.UnicodeScalarView(letters))
    return text.first.map { $0.isLetter } ?? false ? text : "map\(text)"
  }

  private func file(
    width: Double, height: Double, _ palette: Palette, definitions: String, body: String
  ) -> String {
    let (width, height) = (Number.text(width), Number.text(height))
    let words = title.map { "<title>\(XMLText.escaped($0))</title>\n" } ?? ""
    let defs = definitions.isEmpty ? "" : "<defs>\n\(definitions)</defs>\n"
    return """
      <svg xmlns="http://www.w3.org/2000/svg" width="\(width)" height="\(height)" \
      viewBox="0 0 \(width) \(height)" role="img" font-family="sans-serif">
      \(words)\(defs)<rect width="\(width)" height="\(height)" fill="\(palette.outside.text)"/>
      \(body)</svg>

      """
  }
}
