// Shapes as SVG.

import TextForms

/// Writes shapes one after the other, and what they refer to.
struct SVGWriter {
  /// What lies in the picture, with room for what only its margin shows.
  let frame: PictureRect
  /// Before every identifier: a page may hold several pictures.
  let prefix: String

  private(set) var body = ""
  private(set) var definitions = ""
  private var count = 0

  init(frame: PictureRect, prefix: String) {
    self.frame = frame
    self.prefix = prefix
  }

  /// A name that nothing else of the picture has.
  private mutating func newName() -> String {
    count += 1
    return "\(prefix)-\(count)"
  }

  mutating func add(_ shapes: [MapShape]) {
    for shape in shapes { add(shape) }
  }

  mutating func add(_ shape: MapShape) {
    switch shape {
    case .path(let subpaths, let closed, let fill, let stroke):
      addPath(subpaths, closed, fill, stroke)
    case .circle(let centre, let radius, let fill, let stroke):
      addCircle(centre, radius, fill, stroke)
    case .text(let text, let place, let style):
      addText(text, place, style)
    case .image(let tile, let centre, let width, let height, let rotation):
      addImage(tile, centre, width, height, rotation)
    case .group(let shapes, let opacity):
      guard opacity > 0 else { return }
      body += "<g opacity=\"\(Number.text(min(opacity, 1), digits: 3))\">"
      add(shapes)
      body += "</g>\n"
    }
  }

  // MARK: Paths

  private mutating func addPath(
    _ subpaths: [[PicturePoint]], _ closed: Bool, _ fill: Colour?, _ stroke: Stroke?
  ) {
    guard subpaths.allSatisfy({ $0.allSatisfy(\.isDrawable) }) else { return }
    let stroke = stroke.flatMap { $0.isDrawable ? $0 : nil }
    let fill = fill.flatMap { $0.isInvisible ? nil : $0 }
    let window = frame.grown(by: (stroke?.reach ?? 0) + 4)
    // What lies wholly within is one element; else what is filled goes along the picture's edge, and its line does not.
    let isWhole = subpaths.allSatisfy { $0.allSatisfy(window.contains) }
    if isWhole, closed, let fill, let stroke, stroke.drawnDash.isEmpty {
      let data = subpaths.map { Self.data(ring($0), closed: true) }.joined()
      guard !data.isEmpty else { return }
      body +=
        "<path d=\"\(data)\" fill-rule=\"evenodd\"\(Self.paint(fill))\(Self.attributes(stroke))/>\n"
      return
    }
    if let fill {
      let data = subpaths.map { Self.data(ring(window.clipped(ring: $0)), closed: true) }.joined()
      if !data.isEmpty {
        body += "<path d=\"\(data)\" fill-rule=\"evenodd\"\(Self.paint(fill))/>\n"
      }
    }
    if let stroke { addLines(subpaths, closed, stroke, window) }
  }

  private mutating func addLines(
    _ subpaths: [[PicturePoint]], _ closed: Bool, _ stroke: Stroke, _ window: PictureRect
  ) {
    let isDashed = !stroke.drawnDash.isEmpty
    var data = ""
    for piece in subpaths.flatMap({ window.pieces(of: $0, closed: closed) }) {
      let text =
        piece.isRing
        ? Self.data(ring(piece.points), closed: true)
        : Self.data(Simplification.simplified(piece.points), closed: false)
      guard !text.isEmpty else { continue }
      if isDashed {
        var moved = stroke
        moved.phase += piece.offset
        body += "<path d=\"\(text)\" fill=\"none\"\(Self.attributes(moved))/>\n"
      } else {
        data += text
      }
    }
    if !data.isEmpty { body += "<path d=\"\(data)\" fill=\"none\"\(Self.attributes(stroke))/>\n" }
  }

  /// A ring with fewer points; its last one is not its first.
  private func ring(_ points: [PicturePoint]) -> [PicturePoint] {
    guard let first = points.first else { return [] }
    return Simplification.simplified(points + [first]).dropLast()
  }

  /// The points as they stand in a path; nothing for none.
  static func data(_ points: [PicturePoint], closed: Bool) -> String {
    var data = ""
    var last = ""
    for point in points {
      let text = "\(Number.text(point.x)) \(Number.text(point.y))"
      guard text != last else { continue }
      // The second pair after M is a line already.
      data += data.isEmpty ? "M\(text)" : " \(text)"
      last = text
    }
    guard !data.isEmpty else { return "" }
    if closed { return data + "Z" }
    // A line of one point is a dot, where its ends are round.
    return points.count > 1 && data == "M\(last)" ? "\(data) \(last)" : data
  }

  private static func paint(_ fill: Colour?) -> String {
    guard let fill, !fill.isInvisible else { return " fill=\"none\"" }
    return " fill=\"\(fill.text)\"" + opacity("fill", fill)
  }

  private static func opacity(_ name: String, _ colour: Colour) -> String {
    colour.opacity < 1 ? " \(name)-opacity=\"\(Number.text(colour.opacity, digits: 3))\"" : ""
  }

  private static func attributes(_ stroke: Stroke) -> String {
    var text = " stroke=\"\(stroke.colour.text)\"" + opacity("stroke", stroke.colour)
    text += " stroke-width=\"\(Number.text(stroke.width))\""
    if stroke.lineCap != .butt { text += " stroke-linecap=\"\(stroke.lineCap.rawValue)\"" }
    if stroke.lineJoin != .miter {
      text += " stroke-linejoin=\"\(stroke.lineJoin.rawValue)\""
    } else {
      let limit = stroke.miterLimit.isFinite ? min(max(stroke.miterLimit, 1), 100) : 4
      text += " stroke-miterlimit=\"\(Number.text(limit))\""
    }
    let dash = stroke.drawnDash
    if !dash.isEmpty {
      text += " stroke-dasharray=\"\(dash.map { Number.text($0) }.joined(separator: " "))\""
      // An odd number of lengths is taken twice over.
      let period = dash.reduce(0, +) * (dash.count % 2 == 0 ? 1 : 2)
      let phase = stroke.phase.truncatingRemainder(dividingBy: period)
      if phase != 0 { text += " stroke-dashoffset=\"\(Number.text(phase))\"" }
    }
    return text
  }

  // MARK: Circles, words, images

  private mutating func addCircle(
    _ centre: PicturePoint, _ radius: Double, _ fill: Colour?, _ stroke: Stroke?
  ) {
    guard centre.isDrawable, radius > 0, radius < 1e7 else { return }
    let stroke = stroke.flatMap { $0.isDrawable ? $0 : nil }
    guard fill.map({ !$0.isInvisible }) ?? false || stroke != nil else { return }
    let reach = radius + (stroke?.reach ?? 0)
    guard frame.grown(by: reach).contains(centre) else { return }
    body +=
      "<circle cx=\"\(Number.text(centre.x))\" cy=\"\(Number.text(centre.y))\" r=\"\(Number.text(radius))\"\(Self.paint(fill))\(stroke.map(Self.attributes) ?? "")/>\n"
  }

  private mutating func addText(_ text: String, _ place: PicturePoint, _ style: TextStyle) {
    guard place.isDrawable, style.size > 0, style.size < 1e4, style.rotation.isFinite,
      !style.colour.isInvisible, !text.isEmpty
    else { return }
    // Its true width is not known: four times as much as is likely.
    let reach = style.size * 2 + style.width(of: text) * 4
    guard frame.grown(by: reach).contains(place) else { return }
    let (x, y) = (Number.text(place.x), Number.text(place.y))
    var attributes = "x=\"\(x)\" y=\"\(y)\" font-size=\"\(Number.text(style.size))\""
    attributes += Self.paint(style.colour)
    if style.anchor != .start { attributes += " text-anchor=\"\(style.anchor.rawValue)\"" }
    if style.isBold { attributes += " font-weight=\"bold\"" }
    if let halo = style.halo, !halo.isInvisible {
      let width = Number.text(max(2, style.size * 0.28))
      attributes +=
        " paint-order=\"stroke\" stroke=\"\(halo.text)\"\(Self.opacity("stroke", halo)) stroke-width=\"\(width)\" stroke-linejoin=\"round\""
    }
    let degrees = Number.text(style.rotation * 180 / .pi)
    if degrees != "0" { attributes += " transform=\"rotate(\(degrees) \(x) \(y))\"" }
    body += "<text \(attributes)>\(XMLText.escaped(text))</text>\n"
  }

  private mutating func addImage(
    _ tile: Tile, _ centre: PicturePoint, _ width: Double, _ height: Double, _ rotation: Double
  ) {
    guard centre.isDrawable, width > 0, height > 0, width < 1e5, height < 1e5, rotation.isFinite,
      frame.grown(by: width + height).contains(centre)
    else { return }
    let (x, y) = (Number.text(centre.x), Number.text(centre.y))
    let degrees = Number.text(rotation * 180 / .pi)
    let turn = degrees == "0" ? "" : " transform=\"rotate(\(degrees) \(x) \(y))\""
    body +=
      "<image x=\"\(Number.text(centre.x - width / 2))\" y=\"\(Number.text(centre.y - height / 2))\" width=\"\(Number.text(width))\" height=\"\(Number.text(height))\" preserveAspectRatio=\"none\"\(turn) href=\"\(DataURI.text(tile))\"/>\n"
  }

  // MARK: What only a map has

  /// Shapes of which only what lies in some rings is seen.
  mutating func add(_ shapes: [MapShape], clippedTo rings: [[PicturePoint]]) {
    let name = newClip(rings)
    body += "<g clip-path=\"url(#\(name))\">\n"
    add(shapes)
    body += "</g>\n"
  }

  private mutating func newClip(_ rings: [[PicturePoint]]) -> String {
    let name = newName()
    // One path by the nonzero rule: rings that overlap by their margins are not holes.
    let data = rings.map { Self.data($0, closed: true) }.joined()
    definitions += "<clipPath id=\"\(name)\"><path d=\"\(data)\"/></clipPath>\n"
    return name
  }

  /// The tiles. Each is embedded once, however many parts of it are shown.
  mutating func add(_ layer: BaseLayer) {
    let names = layer.tiles.map { _ in newName() }
    let side = Number.text(BaseLayer.side)
    for (name, placed) in zip(names, layer.tiles) {
      definitions +=
        "<image id=\"\(name)\" width=\"\(side)\" height=\"\(side)\" preserveAspectRatio=\"none\" href=\"\(DataURI.text(placed.tile))\"/>\n"
    }
    var rings: [Double: String] = [:]
    var edged: [Int: String] = [:]
    for piece in layer.pieces {
      let margin = layer.tiles[piece.tile].margin
      var name = names[piece.tile]
      if piece.isAtEdge, margin > 0 {
        name = edged[piece.tile] ?? newEdged(name, margin, &rings)
        edged[piece.tile] = name
      }
      let use = "<use href=\"#\(name)\" transform=\"\(Self.text(piece.transform))\"/>"
      if piece.clip.isEmpty {
        body += use + "\n"
      } else {
        body += "<g clip-path=\"url(#\(newClip(piece.clip)))\">\(use)</g>\n"
      }
    }
  }

  /// A tile with a margin: below it lies a larger one, of which only the edge is seen.
  private mutating func newEdged(
    _ tile: String, _ margin: Double, _ rings: inout [Double: String]
  ) -> String {
    let ring = rings[margin] ?? newRing(margin)
    rings[margin] = ring
    let name = newName()
    let factor = Number.text(1 + 2 * margin / BaseLayer.side, digits: 6)
    let start = Number.text(-margin)
    definitions +=
      "<g id=\"\(name)\"><g clip-path=\"url(#\(ring))\"><use href=\"#\(tile)\" transform=\"matrix(\(factor) 0 0 \(factor) \(start) \(start))\"/></g><use href=\"#\(tile)\"/></g>\n"
    return name
  }

  /// What lies about a tile's square, and a unit of that where both are drawn.
  private mutating func newRing(_ margin: Double) -> String {
    func square(_ start: Double) -> String {
      let (low, high) = (start, BaseLayer.side - start)
      return Self.data(
        [(low, low), (high, low), (high, high), (low, high)].map { PicturePoint(x: $0, y: $1) },
        closed: true)
    }
    let name = newName()
    definitions +=
      "<clipPath id=\"\(name)\"><path clip-rule=\"evenodd\" d=\"\(square(-margin))\(square(1))\"/></clipPath>\n"
    return name
  }

  /// A transform; its factors are multiplied by a tile's side, and have more digits than places have.
  private static func text(_ transform: Affine) -> String {
    let factors = [transform.a, transform.b, transform.c, transform.d]
      .map { Number.text($0, digits: 6) }.joined(separator: " ")
    return "matrix(\(factors) \(Number.text(transform.e)) \(Number.text(transform.f)))"
  }

  /// Tiles that what is below is seen through.
  mutating func add(_ layer: BaseLayer, opacity: Double) {
    guard opacity > 0 else { return }
    body += "<g opacity=\"\(Number.text(min(opacity, 1), digits: 3))\">\n"
    add(layer)
    body += "</g>\n"
  }

  mutating func add(_ cone: Cone) {
    let name = newName()
    let (x, y) = (Number.text(cone.centre.x), Number.text(cone.centre.y))
    let colour = cone.colour.text
    definitions +=
      "<radialGradient id=\"\(name)\" gradientUnits=\"userSpaceOnUse\" cx=\"\(x)\" cy=\"\(y)\" r=\"\(Number.text(cone.radius))\"><stop offset=\"0.15\" stop-color=\"\(colour)\" stop-opacity=\"0.65\"/><stop offset=\"1\" stop-color=\"\(colour)\" stop-opacity=\"0\"/></radialGradient>\n"
    body += "<path d=\"\(Self.data(cone.outline, closed: true))\" fill=\"url(#\(name))\"/>\n"
  }
}
