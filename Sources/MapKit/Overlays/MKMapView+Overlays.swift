// What covers parts of the map.

import CoreLocation

extension MKMapView {
  /// What covers parts of the map, of all levels.
  public var overlays: [any MKOverlay] { stack.all }

  /// What lies on a level, the lowest first.
  public func overlays(in level: MKOverlayLevel) -> [any MKOverlay] { stack[level] }

  /// Puts an overlay on top of a level. What is on the map already moves there.
  public func addOverlay(_ overlay: any MKOverlay, level: MKOverlayLevel) {
    addOverlays([overlay], level: level)
  }

  /// Puts overlays on top of a level, one on the other.
  public func addOverlays(_ overlays: [any MKOverlay], level: MKOverlayLevel) {
    change { stack in for overlay in overlays { stack.insert(overlay, level: level) } }
  }

  /// Puts an overlay on top, above labels.
  public func addOverlay(_ overlay: any MKOverlay) { addOverlays([overlay]) }

  /// Puts overlays on top, above labels.
  public func addOverlays(_ overlays: [any MKOverlay]) {
    addOverlays(overlays, level: .aboveLabels)
  }

  /// Puts an overlay before the one that stands at an index of a level; past the end on top.
  public func insertOverlay(_ overlay: any MKOverlay, at index: Int, level: MKOverlayLevel) {
    change { $0.insert(overlay, at: index, level: level) }
  }

  /// Puts an overlay before the one that stands at an index of those above labels; past the end on top.
  public func insertOverlay(_ overlay: any MKOverlay, at index: Int) {
    insertOverlay(overlay, at: index, level: .aboveLabels)
  }

  /// Puts an overlay onto another one, above labels; on top of that level where the other is not on it.
  public func insertOverlay(_ overlay: any MKOverlay, above sibling: any MKOverlay) {
    change { $0.insert(overlay, by: 1, besides: sibling) }
  }

  /// Puts an overlay under another one, above labels; on top of that level where the other is not on it.
  public func insertOverlay(_ overlay: any MKOverlay, below sibling: any MKOverlay) {
    change { $0.insert(overlay, by: 0, besides: sibling) }
  }

  /// Exchanges the places of two overlays, and their levels.
  public func exchangeOverlay(_ overlay1: any MKOverlay, with overlay2: any MKOverlay) {
    change { $0.exchange(overlay1, overlay2) }
  }

  /// Exchanges the places of two overlays above labels. An index of none changes nothing.
  public func exchangeOverlay(at index1: Int, withOverlayAt index2: Int) {
    let all = stack[.aboveLabels]
    guard all.indices.contains(index1), all.indices.contains(index2) else { return }
    exchangeOverlay(all[index1], with: all[index2])
  }

  /// Takes an overlay off the map, with its renderer. What is not on it changes nothing.
  public func removeOverlay(_ overlay: any MKOverlay) { removeOverlays([overlay]) }

  /// Takes overlays off the map.
  public func removeOverlays(_ overlays: [any MKOverlay]) {
    change { stack in for overlay in overlays { stack.remove(overlay) } }
  }

  /// What draws an overlay: what the delegate has given. Nil while the overlay is out of sight.
  public func renderer(for overlay: any MKOverlay) -> MKOverlayRenderer? {
    let renderer = renderers[ObjectIdentifier(overlay)]
    return renderer is OverlayViewRenderer ? nil : renderer
  }

  /// What draws an overlay, where the delegate has given a view; nil while the overlay is out of sight.
  @available(*, deprecated, message: "use renderer(for:)")
  public func view(for overlay: any MKOverlay) -> MKOverlayView? {
    (renderers[ObjectIdentifier(overlay)] as? OverlayViewRenderer)?.view
  }

  private func change(_ body: (inout OverlayStack) -> Void) {
    body(&stack)
    sightOverlays()
  }

  /// Asks for renderers of what has come in sight, and lets go of those of what has gone.
  func sightOverlays() {
    let view = viewport
    var kept: [ObjectIdentifier: MKOverlayRenderer] = [:]
    var new: [any MKOverlay] = []
    for overlay in stack.all where view.shows(overlay.boundingMapRect) {
      if let renderer = renderers[ObjectIdentifier(overlay)] {
        kept[ObjectIdentifier(overlay)] = renderer
      } else {
        new.append(overlay)
      }
    }
    renderers = kept
    var added: [MKOverlayRenderer] = []
    for overlay in new {
      let renderer = makeRenderer(for: overlay)
      renderers[ObjectIdentifier(overlay)] = renderer
      if !(renderer is OverlayViewRenderer) { added.append(renderer) }
    }
    if !added.isEmpty { delegate?.mapView(self, didAdd: added) }
  }

  private func makeRenderer(for overlay: any MKOverlay) -> MKOverlayRenderer {
    guard let delegate else { return MKOverlayRenderer(overlay: overlay) }
    let renderer = delegate.mapView(self, rendererFor: overlay)
    // The base class draws nothing: a delegate of before iOS 7 has a view.
    guard type(of: renderer) == MKOverlayRenderer.self,
      let view = delegate.mapView(self, viewFor: overlay)
    else { return renderer }
    return OverlayViewRenderer(view)
  }
}
