import Foundation
import Geodesy
import Testing

@testable import MapDrawing

/// The scale bar, the arrow, whose map it is.
@Suite struct FurnitureTests {
  @Test(
    "the bar is as long on the ground as it says, in the middle, to the right",
    arguments: [0.0, 35, -52.5, 78], [0.0, 40, 90, 213])
  func bar(latitude: Double, heading: Double) throws {
    for zoom in [9.0, 12.3, 16.7, 20] {
      for pitch in [0.0, 50] {
        let view = GraticuleTests.view(
          latitude, 13.4, zoom: zoom, heading: heading, pitch: pitch)
        let bar = try #require(ScaleBar(view: view, widest: 150))
        #expect(bar.width <= 150 && bar.width > 55)
        // A small part of it, so that the scale is that of the middle.
        let ends = try [-0.01, 0.01].map { share in
          let point = PicturePoint(x: view.width / 2 + bar.width * share, y: view.height / 2)
          return WebMercator.position(of: try #require(view.worldPoint(at: point)))
        }
        let distance = Geodesic.inverse(from: ends[0], to: ends[1]).distance * 50
        #expect(abs(distance / bar.length - 1) < 1e-4, "\(bar)")
        #expect(bar.isForMiddle || pitch == 0)
      }
    }
  }

  @Test("the length is round, in metres or kilometres")
  func words() throws {
    func text(_ zoom: Double) -> String? {
      ScaleBar(view: GraticuleTests.view(0, 0, zoom: zoom), widest: 150)?.text
    }
    #expect(text(1) == "10000 km")
    #expect(text(12) == "5 km")
    #expect(text(15) == "500 m")
    #expect(text(25) == "0.5 m")
    var nowhere = GraticuleTests.view(0, 0, zoom: 3)
    nowhere.centre.y = 1.2
    #expect(ScaleBar(view: nowhere, widest: 150) == nil)
  }

  @Test("the arrow is there on a turned map, and points north", arguments: [1.0, 40, 135, 270])
  func arrow(heading: Double) throws {
    let straight = Furniture(
      view: GraticuleTests.view(52, 13, zoom: 12), palette: Palette(.light), attribution: nil)
    let view = GraticuleTests.view(52, 13, zoom: 12, heading: heading)
    let turned = Furniture(view: view, palette: Palette(.light), attribution: nil)
    #expect(turned.shapes.count > straight.shapes.count)
    guard case .path(let subpaths, _, _, _) = try #require(turned.shapes.dropLast(2).last) else {
      Issue.record("the needle is no path")
      return
    }
    // Its first corner is the tip, the others are its foot.
    let ring = subpaths[0]
    let foot = ring[1].toward(ring[2], 0.5)
    let world = MercatorPoint(x: view.centre.x, y: view.centre.y - 1e-5)
    let north = try #require(view.picturePoint(of: world))
    let angle = atan2(ring[0].x - foot.x, foot.y - ring[0].y)
    let expected = atan2(north.x - view.width / 2, view.height / 2 - north.y)
    #expect(abs((angle - expected).remainder(dividingBy: 2 * .pi)) < 1e-6)
  }

  @Test("a long attribution is broken into lines")
  func attribution() {
    let style = TextStyle(size: 10, colour: .black)
    let lines = Furniture.wrapped(
      String(repeating: "word ", count: 10), widest: style.width(of: "word word word"), style: style
    )
    #expect(lines == ["word word word", "word word word", "word word word …"])
    #expect(Furniture.wrapped("a", widest: 1, style: style) == ["a"])
  }
}
