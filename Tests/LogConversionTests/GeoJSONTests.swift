// What a track becomes as GeoJSON: RFC 7946, sections 3.1.1 (positions) and 3.1.9 (the date line).

import CommandTestSupport
import Foundation
import LogConversion
import SensorTypes
import Testing

@Suite struct GeoJSONTests {
  private struct Collection: Decodable {
    struct Feature: Decodable {
      struct Geometry: Decodable {
        var type: String
        var line: [[Double]]

        enum Keys: CodingKey { case type, coordinates }

        init(from decoder: any Decoder) throws {
          let values = try decoder.container(keyedBy: Keys.self)
          type = try values.decode(String.self, forKey: .type)
          line =
            type == "Point"
            ? [try values.decode([Double].self, forKey: .coordinates)]
            : try values.decode([[Double]].self, forKey: .coordinates)
        }
      }
      struct Properties: Decodable {
        struct Lists: Decodable {
          var times: [String?]?
          var altitudes: [Double?]?
          var horizontalAccuracies: [Double?]?
          var courses: [Double?]?
          var fixKinds: [String?]?
          var assumed: Bool?
        }
        var name: String
        var coordinateProperties: Lists
      }
      var type: String
      var geometry: Geometry
      var properties: Properties
    }
    var type: String
    var features: [Feature]
  }

  private func features(_ fixes: [GNSSFix]) throws -> [Collection.Feature] {
    let text = LogWriterTests.text(GeoJSONWriter(), fixes, named: "a \"b\"")
    let collection = try JSONDecoder().decode(Collection.self, from: Data(text.utf8))
    #expect(collection.type == "FeatureCollection")
    #expect(
      collection.features.allSatisfy { $0.type == "Feature" && $0.properties.name == "a \"b\"" })
    return collection.features
  }

  @Test func positionsAreLongitudeLatitudeAndHeightAboveTheEllipsoid() throws {
    var second = LogWriterTests.fix(second: 11_046)
    second.horizontalAccuracy = 30
    let features = try features([GNSSFix.full, second])
    let feature = try #require(features.first)
    #expect(features.count == 1 && feature.geometry.type == "LineString")
    #expect(feature.geometry.line == [[-0.000012345, -33.123456789, 80.5], [13, 52]])
    let lists = feature.properties.coordinateProperties
    #expect(lists.times == ["2026-11-22T03:04:05.250Z", "2026-11-22T03:04:06.000Z"])
    #expect(lists.altitudes == [100.25, nil] && lists.horizontalAccuracies == [3.02, 30])
    #expect(lists.fixKinds == ["rtkFixed", nil])
    // The second one's accuracy is nobody's word.
    #expect(lists.courses == [271.5, nil] && lists.assumed == true)
  }

  @Test func aLineIsCutAtGapsAndAPointAloneIsOne() throws {
    let fixes = [0, 1, 2, 30, 80, 81].map { LogWriterTests.fix(second: $0) }
    let shapes = try features(fixes).map(\.geometry)
    #expect(shapes.map(\.type) == ["LineString", "LineString"])
    #expect(shapes.map(\.line.count) == [3, 3])
    let alone = try features([LogWriterTests.fix(second: 5)])
    #expect(alone.map(\.geometry.type) == ["Point"] && alone.first?.geometry.line == [[13, 52]])
    #expect(try features([]).isEmpty)
  }

  @Test(arguments: [1.0, -1]) func aLineIsCutAtTheDateLine(side: Double) throws {
    var before = LogWriterTests.fix(second: 0, longitude: side * 179.9)
    var after = LogWriterTests.fix(second: 1, longitude: side * -179.7)
    (before.ellipsoidalAltitude, after.ellipsoidalAltitude) = (100, 200)
    after.latitude = 52.4
    let features = try features([before, after])
    #expect(features.count == 2)
    let ends = features.map(\.geometry.line)
    // A quarter of the way lies before it.
    #expect(ends[0].count == 2 && ends[1].count == 2)
    for (a, b) in zip(ends[0][1], [side * 180, 52.1, 125]) { #expect(abs(a - b) < 1e-6) }
    for (a, b) in zip(ends[1][0], [side * -180, 52.1, 125]) { #expect(abs(a - b) < 1e-6) }
    #expect(features[0].properties.coordinateProperties.times?.last == .some(nil))
  }

  @Test func aLongLineGoesOnWhereItWasCut() throws {
    let fixes = (0..<9_000).map {
      LogWriterTests.fix(second: Double($0), longitude: Double($0) * 0.001)
    }
    let lines = try features(fixes).map(\.geometry.line)
    #expect(lines.count == 3 && lines.allSatisfy { $0.count <= 4_096 })
    #expect(lines[0].last == lines[1].first && lines[1].last == lines[2].first)
    #expect(lines.reduce(0) { $0 + $1.count } == 9_002)
  }
}
