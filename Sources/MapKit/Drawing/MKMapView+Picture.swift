// The map as a picture.

public import CoreLocation
import Geodesy
import LocationServices
package import MapDrawing

extension MKMapView {
  /// Draws what the map shows now, as large as its view: tiles of the board where it has some (`LODESTONE_TILES`), else a
  /// graticule; overlays, annotations, where the board is, and a scale bar. Not of the SDK.
  ///
  /// The delegate is told that a picture is drawn, and whether its tiles could be read.
  public func image(isDark: Bool = false, scale: CGFloat = 1) -> UIImage {
    lookAgain()
    delegate?.mapViewWillStartRenderingMap(self)
    let picture = picture(isDark: isDark, scale: scale)
    let hasTiles = picture.tiles != nil || !picture.tileLayers.isEmpty || base.fault != nil
    if hasTiles { delegate?.mapViewWillStartLoadingMap(self) }
    let drawing = picture.drawn()
    let fault = base.fault ?? drawing.tileFaults.first.map(TileFault.init)
    // Nobody has to have a delegate, and a map without its tiles looks as if it had none.
    if let fault { port.note("a map's tiles cannot be read: \(fault)") }
    if let fault {
      delegate?.mapViewDidFailLoadingMap(self, withError: fault)
    } else if hasTiles {
      delegate?.mapViewDidFinishLoadingMap(self)
    }
    delegate?.mapViewDidFinishRenderingMap(self, fullyRendered: fault == nil)
    return UIImage(svg: drawing.svg, size: bounds.size, scale: scale)
  }

  /// The same as shapes, before they become a document.
  package func picture(isDark: Bool, scale: CGFloat) -> MapPicture {
    var picture = MapPicture(viewport: viewport)
    picture.tiles = base.tiles
    picture.look = isDark ? .dark : .light
    picture.scale = scale
    picture.showsScale = showsScale
    picture.showsCompass = showsCompass
    addTileOverlays(to: &picture)
    picture.belowLabels = shapes(of: .aboveRoads)
    picture.overlays = shapes(of: .aboveLabels)
    picture.annotations = annotationShapes(isDark: isDark)
    picture.userLocation = userMark
    return picture
  }

  /// Tiles lie on tiles, below everything that is drawn with lines; one that hides the map below it is in its place.
  private func addTileOverlays(to picture: inout MapPicture) {
    let pointsPerTile = 256.0
    let zoom = log2(viewport.pointsPerWorld / pointsPerTile * picture.scale).rounded()
    for overlay in stack.all {
      guard let renderer = renderers[ObjectIdentifier(overlay)] as? MKTileOverlayRenderer,
        let tiles = renderer.tiles, zoom >= Double(tiles.minimumZ),
        renderer.canDraw(
          viewport.mapRect, zoomScale: viewport.pointsPerWorld / MKMapSize.world.width)
      else { continue }
      if tiles.canReplaceMapContent, renderer.alpha >= 1 {
        picture.tiles = tiles.store
        picture.tileLayers = []
      } else {
        picture.tileLayers.append(.init(tiles: tiles.store, opacity: renderer.alpha))
      }
    }
  }

  private func shapes(of level: MKOverlayLevel) -> [MapShape] {
    stack[level].flatMap { overlay in
      renderers[ObjectIdentifier(overlay)].map(shapes) ?? []
    }
  }

  private func shapes(of renderer: MKOverlayRenderer) -> [MapShape] {
    let view = viewport
    let zoomScale = view.pointsPerWorld / MKMapSize.world.width
    let visible = view.mapRect
    guard renderer.canDraw(visible, zoomScale: zoomScale) else { return [] }
    // The overlay's middle is on the side of 180 degrees where it is nearest; its points go with it.
    let rect = renderer.overlay.boundingMapRect
    guard !rect.isNull else { return [] }
    let world = MKMapSize.world.width
    let middle = rect.midX / world - view.centre.x
    let shift = (middle.remainder(dividingBy: 1) - middle) * world
    let context = CGContext(zoomScale: zoomScale) { point in
      let point = renderer.mapPoint(for: point)
      return view.unwrappedPicturePoint(of: MKMapPoint(x: point.x + shift, y: point.y).projected)
    }
    renderer.draw(visible, zoomScale: zoomScale, in: context)
    guard renderer.alpha < 1 else { return context.shapes }
    return [.group(context.shapes, opacity: renderer.alpha)]
  }

  /// The board's dot, with the circle of its accuracy and the cone of its heading.
  private var userMark: UserLocationMark? {
    guard user.isShown, let location = user.location.location,
      view(for: user.location) is MKUserLocationView,
      let point = viewport.picturePoint(of: MKMapPoint(location.coordinate).projected)
    else { return nil }
    var mark = UserLocationMark(position: point)
    if location.horizontalAccuracy >= 0 {
      mark.accuracyRadius = location.horizontalAccuracy * viewport.pointsPerMetre
    }
    if let heading = user.location.heading, heading.trueHeading >= 0, heading.headingAccuracy >= 0 {
      mark.headingDirection = heading.trueHeading * .pi / 180 - viewport.heading
      mark.headingHalfWidth = heading.headingAccuracy * .pi / 180
    }
    return mark
  }
}

/// A tile that could not be read, in words.
struct TileFault: LocalizedError, CustomStringConvertible {
  let description: String
  var errorDescription: String? { description }

  init(_ words: String) { description = words }
}
