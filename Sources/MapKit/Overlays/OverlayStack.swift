// In which order overlays lie on the map.

import CoreLocation

/// Where an overlay lies between the other things on the map.
public enum MKOverlayLevel: Int, CaseIterable, Sendable {
  /// Above roads, below labels.
  case aboveRoads
  /// Above labels, below annotations.
  case aboveLabels
}

/// The overlays of a map, level by level, the lowest first. An overlay is there once.
struct OverlayStack {
  private var levels: [MKOverlayLevel: [any MKOverlay]] = [:]

  /// All of them, as they lie.
  var all: [any MKOverlay] { MKOverlayLevel.allCases.flatMap { self[$0] } }

  /// Those of a level, as they lie.
  subscript(level: MKOverlayLevel) -> [any MKOverlay] { levels[level] ?? [] }

  /// Puts an overlay on top of a level, or before the one that stands at an index of it; an index past the end is the top,
  /// one before the beginning the bottom. One that is there already moves.
  mutating func insert(
    _ overlay: any MKOverlay, at index: Int = .max, level: MKOverlayLevel
  ) {
    remove(overlay)
    let count = self[level].count
    levels[level, default: []].insert(overlay, at: min(max(index, 0), count))
  }

  /// Puts an overlay next to one of the level above labels; on top of that level where it is not there.
  mutating func insert(
    _ overlay: any MKOverlay, by offset: Int, besides sibling: any MKOverlay
  ) {
    guard overlay !== sibling else { return }
    remove(overlay)
    let index = self[.aboveLabels].firstIndex { $0 === sibling }
    insert(overlay, at: index.map { $0 + offset } ?? .max, level: .aboveLabels)
  }

  /// Exchanges the places of two, and their levels. Nothing happens unless both are there.
  mutating func exchange(_ first: any MKOverlay, _ second: any MKOverlay) {
    guard let one = place(of: first), let other = place(of: second) else { return }
    levels[one.level]?[one.index] = second
    levels[other.level]?[other.index] = first
  }

  /// Takes an overlay out; says whether it was there.
  @discardableResult
  mutating func remove(_ overlay: any MKOverlay) -> Bool {
    guard let place = place(of: overlay) else { return false }
    levels[place.level]?.remove(at: place.index)
    return true
  }

  private func place(of overlay: any MKOverlay) -> (level: MKOverlayLevel, index: Int)? {
    for level in MKOverlayLevel.allCases {
      if let index = self[level].firstIndex(where: { $0 === overlay }) { return (level, index) }
    }
    return nil
  }
}
