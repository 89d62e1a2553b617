// What annotations look like.

import CoreLocation
import MapDrawing

extension MKMapView {
  /// What stands on the map: what is farther north behind what is nearer, and what is selected in front with its callout.
  func annotationShapes(isDark: Bool) -> [MapShape] {
    let views = shelf.views.values.filter { !$0.isHidden && !($0 is MKUserLocationView) }
      .sorted { one, other in
        if one.isSelected != other.isSelected { return other.isSelected }
        return (one.frame.maxY, one.frame.minX) < (other.frame.maxY, other.frame.minX)
      }
    return views.flatMap { view -> [MapShape] in
      let shapes = view.shapes(isDark: isDark, within: bounds)
      guard view.alpha < 1 else { return shapes }
      return [.group(shapes, opacity: view.alpha)]
    }
  }
}

extension MKAnnotationView {
  fileprivate func shapes(isDark: Bool, within picture: CGRect) -> [MapShape] {
    let middle = PicturePoint(x: center.x, y: center.y)
    var shapes: [MapShape] = []
    if let backgroundColor {
      shapes.append(
        .rectangle(
          x: frame.minX, y: frame.minY, width: frame.width, height: frame.height,
          fill: backgroundColor.colour(), stroke: nil))
    }
    if let tile = image?.tile {
      shapes.append(
        .image(tile, centre: middle, width: frame.width, height: frame.height, rotation: 0))
    } else {
      switch self {
      case let pin as MKPinAnnotationView: shapes += pin.pinShapes
      case let marker as MKMarkerAnnotationView: shapes += marker.markerShapes(isDark: isDark)
      default: break
      }
    }
    if isSelected, canShowCallout { shapes += callout(isDark: isDark, within: picture) }
    return shapes
  }

  /// The annotation's words in a box over the view; below it, and moved aside, where there is no space in the picture.
  private func callout(isDark: Bool, within picture: CGRect) -> [MapShape] {
    let lines = [annotation?.title, annotation?.subtitle].compactMap { $0 }.filter { !$0.isEmpty }
    guard !lines.isEmpty else { return [] }
    let ink = isDark ? Colour(hex: 0xE6EAEE) : Colour(hex: 0x2B333A)
    let ground = isDark ? Colour(hex: 0x252B33) : Colour.white
    let width = (lines.map { Double($0.count) }.max() ?? 0) * 7.2 + 20
    let height = Double(lines.count) * 17 + 10
    let isBelow = frame.minY - 12 + calloutOffset.y - height < picture.minY
    let tip = PicturePoint(
      x: center.x + calloutOffset.x,
      y: isBelow ? frame.maxY + 4 : frame.minY - 4 + calloutOffset.y)
    let left = max(min(tip.x - width / 2, picture.maxX - width - 4), picture.minX + 4)
    let top = isBelow ? tip.y + 8 : tip.y - 8 - height
    // The side with the tip is the upper one of a box below.
    let (near, far) = isBelow ? (top, top + height) : (top + height, top)
    let box = [
      (left, far), (left + width, far), (left + width, near), (tip.x + 7, near),
      (tip.x, tip.y), (tip.x - 7, near), (left, near),
    ].map { PicturePoint(x: $0, y: $1) }
    var shapes: [MapShape] = [
      .path(
        subpaths: [box], closed: true, fill: ground,
        stroke: Stroke(colour: ink.withAlpha(0.35), width: 1))
    ]
    for (index, line) in lines.enumerated() {
      shapes.append(
        .text(
          line, at: PicturePoint(x: left + width / 2, y: top + 18 + 17 * Double(index)),
          style: TextStyle(
            size: index == 0 ? 13 : 11.5, colour: ink.withAlpha(index == 0 ? 1 : 0.75),
            anchor: .middle, isBold: index == 0)))
    }
    return shapes
  }
}

extension MKPinAnnotationView {
  fileprivate var pinShapes: [MapShape] {
    let colour = (pinTintColor ?? .systemRed).colour()
    let head = PicturePoint(x: center.x, y: frame.minY + 9)
    let foot = PicturePoint(x: center.x, y: frame.maxY)
    return [
      .path(
        subpaths: [[PicturePoint(x: head.x, y: head.y + 7), foot]], closed: false, fill: nil,
        stroke: Stroke(colour: Colour(hex: 0x5A6872), width: 2.2)),
      .circle(
        centre: head, radius: 8, fill: colour, stroke: Stroke(colour: .white, width: 1.5)),
      .circle(
        centre: PicturePoint(x: head.x - 2.6, y: head.y - 2.6), radius: 2,
        fill: Colour.white.withAlpha(0.75), stroke: nil),
    ]
  }
}

extension MKMarkerAnnotationView {
  fileprivate func markerShapes(isDark: Bool) -> [MapShape] {
    let colour = (markerTintColor ?? .systemRed).colour()
    let glyph = (glyphTintColor ?? .white).colour()
    let (x, foot, radius) = (Double(center.x), Double(frame.maxY), 13.0)
    let head = PicturePoint(x: x, y: frame.minY + radius + 1)
    // From the head's sides, 40 degrees below its middle, to the foot.
    var outline = (0...28).map { step -> PicturePoint in
      let angle = (140 + 260 * Double(step) / 28) * .pi / 180
      return PicturePoint(x: x + radius * cos(angle), y: head.y + radius * sin(angle))
    }
    outline.append(PicturePoint(x: x, y: foot))
    var shapes: [MapShape] = [
      .path(
        subpaths: [outline], closed: true, fill: colour,
        stroke: Stroke(colour: .white, width: 1.5))
    ]
    if let tile = (isSelected ? selectedGlyphImage ?? glyphImage : glyphImage)?.tile {
      shapes.append(.image(tile, centre: head, width: 16, height: 16, rotation: 0))
    } else if let glyphText, !glyphText.isEmpty {
      shapes.append(
        .text(
          String(glyphText.prefix(2)), at: PicturePoint(x: x, y: head.y + 4.6),
          style: TextStyle(size: 13, colour: glyph, anchor: .middle, isBold: true)))
    } else {
      shapes.append(.circle(centre: head, radius: 4.5, fill: glyph, stroke: nil))
    }
    let ink = isDark ? Colour(hex: 0xE6EAEE) : Colour(hex: 0x2B333A)
    let halo = isDark ? Colour(hex: 0x14171B, alpha: 0.85) : Colour(hex: 0xFFFFFF, alpha: 0.85)
    // A callout says the same.
    guard !(isSelected && canShowCallout) else { return shapes }
    let shown: [(String?, MKFeatureVisibility, Bool)] = [
      (annotation?.title, titleVisibility, true),
      (annotation?.subtitle, subtitleVisibility, isSelected),
    ]
    var base = foot + 13
    for (index, (text, visibility, isAdaptive)) in shown.enumerated() {
      guard let text, !text.isEmpty,
        visibility == .visible || visibility == .adaptive && isAdaptive
      else { continue }
      shapes.append(
        .text(
          text, at: PicturePoint(x: x, y: base),
          style: TextStyle(
            size: index == 0 ? 11.5 : 10, colour: ink, halo: halo, anchor: .middle,
            isBold: index == 0)))
      base += 13
    }
    return shapes
  }
}
