import Foundation
import FoundationXML
import Geodesy
@testable import LogConversion
import MapDrawing
import SensorTypes
import Testing

/// What is kept of a way, and how it is drawn.
@Suite struct TrackPictureTests {
  private func fix(_ latitude: Double, _ longitude: Double, at utc: Double, _ accuracy: Double? = 5)
    -> GNSSFix
  {
    var fix = GNSSFix(received: Timestamp(nanoseconds: 0), mode: .twoDimensional)
    fix.latitude = latitude
    fix.longitude = longitude
    fix.utc = utc
    fix.horizontalAccuracy = accuracy
    return fix
  }

  private func collect(_ fixes: [GNSSFix?]) -> TrackCollector {
    let collector = TrackCollector()
    var text: [UInt8] = []
    collector.beginLog(named: "log", &text)
    for fix in fixes {
      if let fix { collector.append(fix, to: &text) } else { collector.interrupt(&text) }
    }
    #expect(text.isEmpty)
    return collector
  }

  @Test("B3: a way is broken where nothing is known of it")
  func stretches() {
    let way = collect(
      [
        fix(1, 1, at: 0), fix(1, 2, at: 1), nil, fix(1, 3, at: 2), fix(1, 4, at: 3),
        fix(1, 5, at: 60),
      ])
    #expect(way.stretches.map { $0.map(\.longitude) } == [[1, 2], [3, 4], [5]])
    #expect(way.thinning == 1)
  }

  @Test("of more places than are kept every second goes, and the ends stay")
  func thinned() {
    let count = 3 * TrackCollector.capacity
    let way = collect((0..<count).map { fix(50, Double($0) * 1e-5, at: Double($0)) })
    #expect(way.thinning == 4 && way.places.count <= TrackCollector.capacity)
    #expect(way.places.count > TrackCollector.capacity / 3)
    #expect(way.places.first?.utc == 0 && way.places.last?.utc == Double(count - 1))
    let steps = zip(way.places, way.places.dropFirst()).map { ($1.utc ?? 0) - ($0.utc ?? 0) }
    #expect(steps.allSatisfy { $0 > 0 && $0 <= 8 })
  }

  @Test("a million stretches of one place do not grow without end")
  func broken() {
    let way = collect((0..<300_000).flatMap { [fix(50, Double($0) * 1e-5, at: Double($0)), nil] })
    #expect(way.places.count <= TrackCollector.capacity && way.places.last?.utc == 299_999)
    #expect(way.leftOut + way.places.count == 300_000)
  }

  @Test("B3: the picture stands by itself, with the way in it and both ends named")
  func picture() throws {
    let way = collect(
      (0..<60).map { fix(52.5 + Double($0) * 1e-4, 13.4, at: 1_795_000_000 + Double($0)) })
    let picture = TrackPicture(size: PictureSize(width: 500, height: 400), isDark: false, scale: 1)
    let text = try #require(picture.drawn(way)?.svg)
    #expect(XMLParser(data: Data(text.utf8)).parse())
    #expect(text.contains(">start 2026-11-18 11:06:40 UTC<"))
    #expect(text.contains(">end 2026-11-18 11:07:39 UTC<") && text.contains(">200 m<"))
    #expect(picture.drawn(collect([])) == nil)
  }

  @Test("one place is a picture too, of twenty metres and of its accuracy at least")
  func single() throws {
    let picture = TrackPicture(size: PictureSize(width: 500, height: 400), isDark: true, scale: 1)
    #expect(picture.drawn(collect([fix(52, 13, at: 0)])) != nil)
    #expect(picture.drawn(collect([fix(52, 13, at: 0, nil)])) != nil)
    let place = TrackPoint(latitude: 52, longitude: 13, accuracy: 300, utc: nil)
    let rect = AccuracySwath([TrackLine([place])]).rect
    let sides = [rect.x, rect.x + rect.width].map {
      WebMercator.position(of: MercatorPoint(x: $0, y: rect.middle.y))
    }
    #expect(abs(Geodesic.inverse(from: sides[0], to: sides[1]).distance - 600) < 0.1)
  }

  @Test("a way across 180 degrees goes on beyond the map's edge and is drawn where it is nearest")
  func dateLine() {
    let places = [179.9, -179.9, -179.8].map {
      TrackPoint(latitude: 0, longitude: $0, accuracy: nil, utc: nil)
    }
    let line = TrackLine(places)
    let degrees = line.points.map { $0.x * 360 - 180 }
    for (found, expected) in zip(degrees, [179.9, 180.1, 180.2]) {
      #expect(abs(found - expected) < 1e-9)
    }
    let back = TrackLine(places.reversed())
    #expect(abs(back.rect.x * 360 - 180 + 180.1) < 1e-9)
    let view = Viewport(
      centre: MercatorPoint(x: 0.999, y: 0.5), pointsPerWorld: 1e5, width: 500, height: 400)
    #expect(line.rect.shift(in: view) == 0 && back.rect.shift(in: view) == 1)
  }
}
