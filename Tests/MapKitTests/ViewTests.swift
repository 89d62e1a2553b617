import MapDrawing
import Testing

@testable import MapKit

/// A view that counts how often it is asked for its arrangement: never by itself.
private final class Arranged: UIView {
  var count = 0
  override func layoutSubviews() { count += 1 }
}

/// Views, colours and images: what of UIKit a map needs.
@Suite struct ViewTests {
  @Test("a view stands in one other, where its frame and its middle say")
  func hierarchy() {
    let (outer, inner) = (UIView(frame: CGRect(x: 0, y: 0, width: 100, height: 50)), UIView())
    #expect(inner.frame == .zero && inner.superview == nil && outer.subviews.isEmpty)
    inner.frame = CGRect(x: 10, y: 20, width: 30, height: 8)
    #expect(inner.bounds == CGRect(x: 0, y: 0, width: 30, height: 8))
    #expect(inner.center == CGPoint(x: 25, y: 24))
    inner.center = CGPoint(x: 50, y: 25)
    #expect(inner.frame == CGRect(x: 35, y: 21, width: 30, height: 8))
    let front = UIView(frame: .zero)
    outer.addSubview(inner)
    outer.addSubview(front)
    #expect(outer.subviews == [inner, front] && inner.superview === outer)
    // Added again it comes to the front; elsewhere it leaves.
    outer.addSubview(inner)
    #expect(outer.subviews == [front, inner])
    let other = UIView()
    other.addSubview(inner)
    #expect(outer.subviews == [front] && inner.superview === other)
    inner.removeFromSuperview()
    #expect(inner.superview == nil && other.subviews.isEmpty)
  }

  @Test("a view cannot stand in itself, nor in what stands in it")
  func circles() {
    let (outer, inner) = (UIView(), UIView())
    outer.addSubview(inner)
    inner.addSubview(outer)
    outer.addSubview(outer)
    #expect(outer.superview == nil && outer.subviews == [inner] && inner.subviews.isEmpty)
    #expect(inner.convert(CGPoint.zero, to: nil) == .zero)
  }

  @Test("points go through every frame between two views, and through what has been scrolled")
  func conversions() {
    let window = UIView(frame: CGRect(x: 0, y: 0, width: 500, height: 500))
    let (middle, inner) = (
      UIView(frame: CGRect(x: 100, y: 50, width: 200, height: 200)),
      UIView(frame: CGRect(x: 7, y: 9, width: 20, height: 20))
    )
    let beside = UIView(frame: CGRect(x: 300, y: 0, width: 10, height: 10))
    window.addSubview(middle)
    window.addSubview(beside)
    middle.addSubview(inner)
    let point = CGPoint(x: 1, y: 2)
    #expect(inner.convert(point, to: nil) == CGPoint(x: 108, y: 61))
    #expect(inner.convert(point, to: middle) == CGPoint(x: 8, y: 11))
    #expect(inner.convert(point, to: beside) == CGPoint(x: -192, y: 61))
    #expect(inner.convert(CGPoint(x: 108, y: 61), from: nil) == point)
    #expect(inner.convert(CGPoint(x: -192, y: 61), from: beside) == point)
    middle.bounds.origin = CGPoint(x: 5, y: 0)
    #expect(inner.convert(point, to: window) == CGPoint(x: 103, y: 61))
  }

  @Test("what a view looks like is kept; nothing is arranged or drawn by itself")
  func looks() {
    let view = Arranged(frame: .zero)
    #expect(!view.isHidden && view.alpha == 1 && view.backgroundColor == nil && view.tag == 0)
    #expect(view.tintColor == .systemBlue)
    view.setNeedsDisplay()
    view.setNeedsLayout()
    view.layoutIfNeeded()
    #expect(view.count == 0)
    let control: UIView = UIControl(frame: .zero)
    #expect(control is UIControl)
  }

  @Test("no view is read from an archive but one of its usual size")
  func archives() throws {
    let data = try NSKeyedArchiver.archivedData(
      withRootObject: NSString("view"), requiringSecureCoding: true)
    let coder = try NSKeyedUnarchiver(forReadingFrom: data)
    #expect(UIView(coder: coder)?.frame == .zero)
    #expect(MKMapView(coder: coder)?.frame.size == CGSize(width: 640, height: 480))
    #expect(MKPinAnnotationView(coder: coder)?.annotation == nil)
    #expect(MKMarkerAnnotationView(coder: coder)?.reuseIdentifier == nil)
    #expect(MKUserLocationView(coder: coder)?.annotation == nil)
    #expect(MKAnnotationView(coder: coder)?.reuseIdentifier == nil)
    #expect(MKOverlayView(coder: coder) == nil)
  }

  @Test("insets are four numbers, and none")
  func insets() {
    let insets = UIEdgeInsets(top: 1, left: 2, bottom: 3, right: 4)
    #expect([insets.top, insets.left, insets.bottom, insets.right] == [1, 2, 3, 4])
    #expect(UIEdgeInsets() == .zero && insets != .zero)
  }

  private func parts(_ color: UIColor) -> [Double] {
    var parts = [CGFloat](repeating: -1, count: 4)
    let isKnown = parts.withUnsafeMutableBufferPointer { parts in
      guard let start = parts.baseAddress else { return false }
      return color.getRed(start, green: start + 1, blue: start + 2, alpha: start + 3)
    }
    return isKnown ? parts.map { Double($0) } : []
  }

  @Test("a colour has its parts, within their ranges")
  func colours() {
    #expect(
      parts(UIColor(red: 0.1, green: 0.2, blue: 0.3, alpha: 0.4)) == [0.1, 0.2, 0.3, 0.4])
    #expect(parts(UIColor(red: -1, green: 2, blue: .nan, alpha: 1.5)) == [0, 1, 0, 1])
    #expect(parts(UIColor(white: 0.25, alpha: 0.5)) == [0.25, 0.25, 0.25, 0.5])
    #expect(parts(UIColor.red.withAlphaComponent(0.5)) == [1, 0, 0, 0.5])
    #expect(UIColor.red.getRed(nil, green: nil, blue: nil, alpha: nil))
    let color: CGColor = UIColor.cyan.cgColor
    #expect(color == UIColor(red: 0, green: 1, blue: 1, alpha: 1))
    #expect(UIColor.red != UIColor.red.withAlphaComponent(0.5) && UIColor.red.hash != 0)
    #expect(Set([UIColor.red, UIColor(red: 1, green: 0, blue: 0, alpha: 1)]).count == 1)
  }

  /// The corners of the colour circle are mixed of one or two of the three, by hand.
  @Test("a hue goes around from red by yellow, green, cyan, blue and magenta")
  func hues() {
    let circle: [UIColor] = [.red, .yellow, .green, .cyan, .blue, .magenta, .red]
    for (sixth, expected) in circle.enumerated() {
      let color = UIColor(
        hue: CGFloat(sixth) / 6, saturation: 1, brightness: 1, alpha: 1)
      for (part, wanted) in zip(parts(color), parts(expected)) {
        #expect(abs(part - wanted) < 1e-12, "\(sixth) sixths")
      }
    }
    // Half a sixth is half of the next; without saturation it is a grey.
    #expect(
      zip(
        parts(UIColor(hue: 1.0 / 12, saturation: 1, brightness: 1, alpha: 1)), parts(.orange)
      ).allSatisfy { abs($0 - $1) < 1e-12 })
    #expect(
      parts(UIColor(hue: 0.3, saturation: 0, brightness: 0.4, alpha: 0.5)) == [0.4, 0.4, 0.4, 0.5])
    let pale = parts(UIColor(hue: 0, saturation: 0.5, brightness: 0.8, alpha: 1))
    #expect(zip(pale, [0.8, 0.4, 0.4, 1]).allSatisfy { abs($0 - $1) < 1e-12 })
  }

  @Test("colours have the values of their names")
  func names() {
    #expect(parts(.black) == [0, 0, 0, 1] && parts(.white) == [1, 1, 1, 1])
    #expect(parts(.gray) == [0.5, 0.5, 0.5, 1] && parts(.clear) == [0, 0, 0, 0])
    #expect(parts(.darkGray)[0] < parts(.gray)[0] && parts(.gray)[0] < parts(.lightGray)[0])
    #expect(parts(.blue) == [0, 0, 1, 1] && parts(.green) == [0, 1, 0, 1])
    #expect(parts(.purple) == [0.5, 0, 0.5, 1] && parts(.brown) == [0.6, 0.4, 0.2, 1])
    // Those of the system are what they are called, whatever their shade.
    for (color, strongest) in [
      (UIColor.systemRed, [0]), (.systemGreen, [1]), (.systemBlue, [2]), (.systemYellow, [0, 1]),
      (.systemOrange, [0, 1]), (.systemPurple, [0, 2]),
    ] {
      let values = parts(color)
      let weakest = values[..<3].indices.filter { !strongest.contains($0) }
      for strong in strongest { for weak in weakest { #expect(values[strong] > values[weak]) } }
    }
  }
}

/// Images that were read, and that were drawn.
@Suite struct ImageTests {
  /// A PNG of one pixel's worth of data would do: width and height stand at a fixed place (PNG, 11.2.2).
  private func png(width: UInt32, height: UInt32) -> Data {
    var bytes: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0, 0, 0, 13]
    bytes += "IHDR".utf8
    for number in [width, height] {
      bytes += withUnsafeBytes(of: number.bigEndian) { Array($0) }
    }
    return Data(bytes + [8, 6, 0, 0, 0])
  }

  @Test("a PNG has the size that it says, by its pixels a point")
  func sizes() throws {
    let image = try #require(UIImage(data: png(width: 60, height: 90)))
    #expect(image.size == CGSize(width: 60, height: 90) && image.scale == 1)
    let fine = try #require(UIImage(data: png(width: 60, height: 90), scale: 3))
    #expect(fine.size == CGSize(width: 20, height: 30) && fine.scale == 3)
    #expect(image.pngData() == png(width: 60, height: 90) && image.svgData() == nil)
  }

  @Test("what is no image is none")
  func rubbish() {
    #expect(UIImage(data: Data("hello".utf8)) == nil && UIImage(data: Data()) == nil)
    #expect(UIImage(data: png(width: 1, height: 1), scale: 0) == nil)
    #expect(UIImage(contentsOfFile: "/nowhere/at-all.png") == nil)
    // A size that no image has is not believed.
    #expect(UIImage(data: png(width: .max, height: 0))?.size == CGSize(width: 32, height: 32))
    // Cut off before its size.
    #expect(
      UIImage(data: png(width: 60, height: 90).prefix(20))?.size == CGSize(width: 32, height: 32))
  }

  @Test("the name of a file says how many pixels a point has")
  func files() throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "images-\(UUID())")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    for (name, scale) in [("pin.png", 1.0), ("pin@2x.png", 2), ("pin@3x.png", 3)] {
      let file = folder.appending(path: name)
      try png(width: 36, height: 36).write(to: file)
      let image = try #require(UIImage(contentsOfFile: file.path))
      #expect(image.scale == scale && image.size.width == 36 / scale)
    }
  }

  @Test("a JPEG is shown, and made a PNG where that can be done")
  func jpeg() throws {
    let image = try #require(UIImage(data: Data([0xFF, 0xD8, 0xFF, 0xE0, 0, 16])))
    #expect(image.size == CGSize(width: 32, height: 32) && image.svgData() == nil)
    let bench = MapBench()
    bench.map.base = BaseMap()
    bench.map.region = region(berlin, 0.02)
    bench.spy.makeView = { _, annotation in
      let view = MKAnnotationView(annotation: annotation, reuseIdentifier: nil)
      view.image = image
      return view
    }
    bench.map.addAnnotation(MKPointAnnotation(coordinate: berlin))
    let picture = try #require(bench.map.image().svgData())
    #expect(String(decoding: picture, as: UTF8.self).contains("data:image/jpeg;base64,"))
  }

  @Test(
    "a drawing becomes a PNG of its pixels",
    .enabled(
      if: FileManager.default.isExecutableFile(atPath: "/usr/bin/rsvg-convert"), "no librsvg")
  )
  func drawn() throws {
    let bench = MapBench(width: 64, height: 48)
    bench.map.base = BaseMap()
    let image = bench.map.image(scale: 2)
    let data = try #require(image.pngData())
    #expect(UIImage(data: data)?.size == CGSize(width: 128, height: 96))
    #expect(try image.png() == data)
    // An SVG that was read is drawn anew.
    let svg = try #require(image.svgData())
    let again = try #require(UIImage(data: svg))
    #expect(UIImage(data: try again.png())?.size == CGSize(width: 32, height: 32))
  }
}
