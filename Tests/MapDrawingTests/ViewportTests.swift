import Foundation
import Geodesy
import MapDrawing
import Testing

/// Where things lie in a picture.
@Suite struct ViewportTests {
  static let berlin = WebMercator.project(Position(latitude: 52.5163, longitude: 13.3777))

  func viewport(heading: Double = 0, pitch: Double = 0, scale: Double = 1e7) -> Viewport {
    Viewport(
      centre: Self.berlin, pointsPerWorld: scale, heading: heading * .pi / 180,
      pitch: pitch * .pi / 180, width: 640, height: 480)
  }

  @Test("the middle is the middle, and north is up")
  func middle() throws {
    let view = viewport()
    #expect(view.picturePoint(of: Self.berlin) == PicturePoint(x: 320, y: 240))
    let north = MercatorPoint(x: Self.berlin.x, y: Self.berlin.y - 1e-5)
    let point = try #require(view.picturePoint(of: north))
    #expect(abs(point.x - 320) < 1e-9 && abs(point.y - 140) < 1e-6)
  }

  @Test("what the heading points to is up", arguments: [0.0, 90, 135, 270])
  func heading(degrees: Double) throws {
    let view = viewport(heading: degrees)
    let ahead = MercatorPoint(
      x: Self.berlin.x + 1e-5 * sin(degrees * .pi / 180),
      y: Self.berlin.y - 1e-5 * cos(degrees * .pi / 180))
    let point = try #require(view.picturePoint(of: ahead))
    #expect(abs(point.x - 320) < 1e-6 && abs(point.y - 140) < 1e-6)
  }

  /// A pinhole camera written as one: a point on the ground is turned into the camera's axes and divided by its depth.
  @Test("a pitched camera sees what a pinhole sees")
  func pinhole() throws {
    let (pitch, heading) = (40.0 * .pi / 180, 70.0 * .pi / 180)
    let view = viewport(heading: 70, pitch: 40)
    let focal = 240 / tan(15 * Double.pi / 180)
    for (east, north) in [(50.0, 20.0), (-80, 140), (0, -90), (200, 200)] {
      let right = SIMD3(cos(heading), -sin(heading), 0)
      let ahead = SIMD3(sin(heading), cos(heading), 0)
      let axis = ahead * sin(pitch) - SIMD3(0, 0, cos(pitch))
      let up = ahead * cos(pitch) + SIMD3(0, 0, sin(pitch))
      let ray = SIMD3(east, north, 0) + axis * focal
      let depth = (ray * axis).sum()
      let expected = PicturePoint(
        x: 320 + focal * (ray * right).sum() / depth, y: 240 - focal * (ray * up).sum() / depth)
      let point = try #require(
        view.picturePoint(
          of: MercatorPoint(x: Self.berlin.x + east / 1e7, y: Self.berlin.y - north / 1e7)))
      #expect(abs(point.x - expected.x) < 1e-6 && abs(point.y - expected.y) < 1e-6)
    }
  }

  @Test("there and back", arguments: [0.0, 15, 45, 60])
  func back(pitch: Double) throws {
    var generator = Dice(seed: 9)
    for _ in 0..<1000 {
      let view = viewport(
        heading: .random(in: 0..<360, using: &generator), pitch: pitch,
        scale: pow(10, .random(in: 3...9, using: &generator)))
      let point = PicturePoint(
        x: .random(in: 0...640, using: &generator), y: .random(in: 0...480, using: &generator))
      let world = try #require(view.worldPoint(at: point))
      let back = try #require(view.unwrappedPicturePoint(of: world))
      #expect(abs(back.x - point.x) < 1e-5 && abs(back.y - point.y) < 1e-5)
    }
  }

  @Test("the horizon and what is behind the camera are nowhere")
  func horizon() {
    let view = viewport(pitch: 60)
    #expect(view.worldPoint(at: PicturePoint(x: 320, y: -500)) == nil)
    let behind = MercatorPoint(x: Self.berlin.x, y: Self.berlin.y + 1e-3)
    #expect(view.picturePoint(of: behind) == nil)
    #expect(view.corners.count == 4)
  }

  @Test("across 180 degrees the nearest earth counts, or the one that is asked for")
  func wrapped() throws {
    var view = viewport()
    view.centre = WebMercator.project(Position(latitude: 0, longitude: 179.999))
    let east = WebMercator.project(Position(latitude: 0, longitude: -179.999))
    let near = try #require(view.picturePoint(of: east))
    #expect(near.x > 320 && near.x < 320 + 100)
    let far = try #require(view.unwrappedPicturePoint(of: east))
    #expect(far.x < -9e6)
  }

  @Test("bounds hold every point of the picture")
  func bounds() throws {
    var generator = Dice(seed: 3)
    let view = viewport(heading: 33, pitch: 50)
    let bounds = view.bounds
    for _ in 0..<500 {
      let point = try #require(
        view.worldPoint(
          at: PicturePoint(
            x: .random(in: 0...640, using: &generator), y: .random(in: 0...480, using: &generator)))
      )
      #expect(point.x >= bounds.minimum.x && point.x <= bounds.maximum.x)
      #expect(point.y >= bounds.minimum.y && point.y <= bounds.maximum.y)
    }
  }

  @Test("a rectangle of the map is shown as a whole between the margins, north up and flat")
  func fit() throws {
    let whole = Viewport.wholeEarth(width: 640, height: 480)
    #expect(whole.pointsPerWorld == 480 && whole.centre == MercatorPoint(x: 0.5, y: 0.5))
    let margins = PictureMargins(top: 80, left: 20, bottom: 40, right: 60)
    var turned = whole
    (turned.heading, turned.pitch) = (1, 0.5)
    let view = try #require(
      turned.showing(Self.berlin, size: (width: 1e-4, height: 0.5e-4), margins: margins))
    // The width fits: 560 points for 1e-4 of the map.
    #expect(view.heading == 0 && view.pitch == 0 && abs(view.pointsPerWorld - 5.6e6) < 1e-3)
    let west = MercatorPoint(x: Self.berlin.x - 0.5e-4, y: Self.berlin.y)
    let corner = try #require(view.picturePoint(of: west))
    #expect(abs(corner.x - 20) < 1e-6 && abs(corner.y - 260) < 1e-6)
    let point = whole.showing(Self.berlin, size: (width: 0, height: 0), margins: PictureMargins())
    #expect(point?.pointsPerWorld == Viewport.largestScale)
    let nowhere = MercatorPoint(x: .nan, y: 0.5)
    for size in [(1.0, 1.0), (-1, 1), (1, .nan)] {
      let middle = size.0 == 1 && size.1 == 1 ? nowhere : Self.berlin
      #expect(whole.showing(middle, size: size, margins: margins) == nil)
    }
  }

  @Test("a metre has its length, by a geodesic")
  func metre() throws {
    let view = viewport()
    let east = try #require(view.worldPoint(at: PicturePoint(x: 330, y: 240)))
    let distance = Geodesic.inverse(
      from: WebMercator.position(of: Self.berlin), to: WebMercator.position(of: east)
    ).distance
    #expect(abs(10 / distance - view.pointsPerMetre) < 1e-6 * view.pointsPerMetre)
  }
}
