// The page itself, which is part of the program.

/// The files of the page, as they are served.
package struct PageFiles: Sendable {
  private let files: [String: PageFile]

  /// The file of a path; `nil` where there is none.
  func file(at path: String) -> PageFile? { files[path == "/" ? "/page.html" : path] }

  /// The paths, for tests.
  var paths: [String] { files.keys.sorted() }

  /// - Parameter token: What every URL has to carry. Relative URLs do not inherit a query, so it is written behind each
  ///   name by which one file of the page asks for another.
  package init(token: String) {
    let names = Self.embedded.map(\.name)
    var files: [String: PageFile] = [:]
    for (name, bytes) in Self.embedded {
      let text = Self.adding(token, to: names, in: String(decoding: bytes, as: UTF8.self))
      files["/" + name] = PageFile(bytes: Array(text.utf8), mediaType: Self.mediaType(of: name))
    }
    self.files = files
  }

  /// A text in which each of the quoted names carries the token.
  static func adding(_ token: String, to names: [String], in text: String) -> String {
    var text = text
    for name in names {
      for quoted in ["\"\(name)\"", "\"./\(name)\""] {
        text.replace(quoted, with: quoted.dropLast() + "?token=\(token)\"")
      }
    }
    return text
  }

  private static func mediaType(of name: String) -> String {
    switch name.split(separator: ".").last {
    case "html": "text/html; charset=utf-8"
    case "css": "text/css; charset=utf-8"
    case "svg": "image/svg+xml"
    default: "text/javascript; charset=utf-8"
    }
  }

  private static var embedded: [(name: String, bytes: [UInt8])] {
    [
      ("page.html", PackageResources.page_html), ("page.css", PackageResources.page_css),
      ("icon.svg", PackageResources.icon_svg), ("main.js", PackageResources.main_js),
      ("connection.js", PackageResources.connection_js), ("store.js", PackageResources.store_js),
      ("figures.js", PackageResources.figures_js), ("surface.js", PackageResources.surface_js),
      ("mercator.js", PackageResources.mercator_js), ("map.js", PackageResources.map_js),
      ("marker.js", PackageResources.marker_js), ("gestures.js", PackageResources.gestures_js),
      ("tiles.js", PackageResources.tiles_js), ("graticule.js", PackageResources.graticule_js),
      ("compass.js", PackageResources.compass_js), ("altitude.js", PackageResources.altitude_js),
      ("position.js", PackageResources.position_js), ("sensors.js", PackageResources.sensors_js),
    ]
  }
}

struct PageFile: Sendable {
  let bytes: [UInt8]
  let mediaType: String
}
