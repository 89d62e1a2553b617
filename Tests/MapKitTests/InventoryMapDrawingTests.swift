import MapKit
import Testing

// The inventory of MapKit, drawing: pictures, and the values of what UIKit and Core Graphics have of it.

struct InventoryMapDrawingTests {
  @Test("inventory: the options of a picture are copied")
  func snapshots() {
    typealias Options = MKMapSnapshotter.Options
    let options = MKMapSnapshotOptions()
    options.mapType = .hybrid
    options.showsBuildings = false
    options.showsPointsOfInterest = false
    options.scale = 2
    let copy = options.copy() as? Options
    #expect(copy?.mapType == .hybrid && copy?.showsBuildings == false && copy?.scale == 2)
    #expect(copy?.showsPointsOfInterest == false && copy !== options)
  }

  @Test("inventory: the insets of a view's edges")
  func insets() {
    let sides: [WritableKeyPath<UIEdgeInsets, CGFloat>] = [\.top, \.left, \.bottom, \.right]
    let insets = UIEdgeInsets(top: 1, left: 2, bottom: 3, right: 4)
    #expect(sides.map { insets[keyPath: $0] } == [1, 2, 3, 4])
    #expect(sides.allSatisfy { UIEdgeInsets()[keyPath: $0] == UIEdgeInsets.zero[keyPath: $0] })
  }

  @Test("inventory: each colour that has a name is another")
  func looks() {
    let colours: [UIColor] = [
      .black, .white, .gray, .darkGray, .lightGray, .red, .green, .blue, .cyan, .yellow, .magenta,
      .orange, .purple, .brown, .clear, .systemRed, .systemGreen, .systemBlue, .systemYellow,
      .systemOrange, .systemPurple,
    ]
    #expect(Set(colours).count == 21)
  }

  @Test("inventory: how a path is drawn has the SDK's numbers")
  func paths() {
    let caps: [CGLineCap] = [.butt, .round, .square]
    #expect(caps.map(\.rawValue) == [0, 1, 2] && CGLineCap(rawValue: 3) == nil)
    let joins: [CGLineJoin] = [.miter, .round, .bevel]
    #expect(joins.map(\.rawValue) == [0, 1, 2] && CGLineJoin(rawValue: 3) == nil)
    let modes: [CGPathDrawingMode] = [.fill, .eoFill, .stroke, .fillStroke, .eoFillStroke]
    #expect(modes.map(\.rawValue) == [0, 1, 2, 3, 4] && CGPathDrawingMode(rawValue: 5) == nil)
  }
}
