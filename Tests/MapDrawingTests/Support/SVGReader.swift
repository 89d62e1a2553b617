import Foundation
import Testing

#if canImport(FoundationXML)
  import FoundationXML
#endif

/// A drawing as a parser sees it.
struct SVGReader {
  struct Element {
    var name: String
    var attributes: [String: String]
    var text = ""

    subscript(_ name: String) -> Double? { attributes[name].flatMap(Double.init) }
  }

  let elements: [Element]

  /// Fails for what is no XML.
  init(_ svg: String) throws {
    let collector = Collector()
    let parser = XMLParser(data: Data(svg.utf8))
    parser.delegate = collector
    let isXML = parser.parse()
    try #require(isXML, "\(String(describing: parser.parserError)) in \(svg.prefix(2000))")
    elements = collector.elements
  }

  func all(_ name: String) -> [Element] { elements.filter { $0.name == name } }

  /// The subpaths of a path of absolute points.
  static func subpaths(_ data: String) -> [[(x: Double, y: Double)]] {
    data.split(separator: "M").map { part in
      let numbers = part.split { $0 == " " || $0 == "Z" }.compactMap { Double($0) }
      return stride(from: 0, to: numbers.count - 1, by: 2).map { (numbers[$0], numbers[$0 + 1]) }
    }
  }

  private final class Collector: NSObject, XMLParserDelegate {
    var elements: [Element] = []
    private var open: [Int] = []

    func parser(
      _ parser: XMLParser, didStartElement name: String, namespaceURI: String?,
      qualifiedName: String?, attributes: [String: String]
    ) {
      open.append(elements.count)
      elements.append(Element(name: name, attributes: attributes))
    }

    func parser(
      _ parser: XMLParser, didEndElement name: String, namespaceURI: String?,
      qualifiedName: String?
    ) {
      open.removeLast()
    }

    func parser(_ parser: XMLParser, foundCharacters string: String) {
      if let last = open.last { elements[last].text += string }
    }
  }
}
