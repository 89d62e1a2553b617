import Testing

@testable import BoardFile

/// YAML texts as trees: what is read, with its line, and what is refused.
struct YAMLNodeTests {
  private func root(_ text: String) throws(YAMLProblem) -> YAMLNode? { try YAMLNode.root(of: text) }

  /// The mistake of a text, with its line.
  private func mistake(_ text: String) -> String? {
    do throws(YAMLProblem) {
      _ = try root(text)
      return nil
    } catch {
      return "\(error.line): \(error.message)"
    }
  }

  /// A tree in one line: lists in brackets, mappings in braces, quoted texts in quotes, each scalar with its line.
  private func shown(_ node: YAMLNode) -> String {
    switch node.value {
    case .scalar(let scalar):
      scalar.isQuoted ? "'\(scalar.string)'@\(node.line)" : "\(scalar.string)@\(node.line)"
    case .sequence(let items): "[\(items.map(shown).joined(separator: " "))]"
    case .mapping(let entries):
      "{\(entries.map { "\(shown($0.key)):\(shown($0.value))" }.joined(separator: " "))}"
    }
  }

  @Test("scalars, lists and mappings have their lines, and quotation marks are known")
  func tree() throws {
    let text = """
      # a board
      schema: 1
      name: "a: b"   # in quotation marks
      axes: [+x, '-y',
        +z]
      sensors:
        - chip: BMP280
          address: 0x77
        -
      """
    let node = try #require(try root(text))
    #expect(
      shown(node)
        == "{schema@2:1@2 name@3:'a: b'@3 axes@4:[+x@4 '-y'@4 +z@5] sensors@6:[{chip@7:BMP280@7 address@8:0x77@8} @9]}"
    )
    #expect(node.keys == ["schema", "name", "axes", "sensors"])
    #expect(node.line == 2)
  }

  @Test("a text without a value has none", arguments: ["", "\n\n", "# a comment\n"])
  func empty(_ text: String) throws { #expect(try root(text) == nil) }

  @Test("a value that has a name is what stands where the name is used, with its own line")
  func alias() throws {
    let node = try #require(try root("a: &there [1, 2]\nb: *there\n"))
    #expect(shown(node) == "{a@1:[1@1 2@1] b@2:[1@1 2@1]}")
    #expect(mistake("a: *nowhere\n") == "1: no value is named 'nowhere'")
    // Within itself a value has no name yet.
    #expect(mistake("&a [*a]\n") == "1: no value is named 'a'")
  }

  @Test("a text that is not YAML is a mistake with its line")
  func mistakes() {
    #expect(mistake("a: 1\nb: [1, 2\nc: 3\n")?.hasPrefix("3: ") == true)
    #expect(mistake("a: 1\n\tb: 2\n")?.hasPrefix("2: ") == true)
    #expect(mistake("a: 1\n---\nb: 2\n") == "2: another document begins here: a file holds one")
    #expect(mistake("a: 1\nb: \u{0}\n")?.hasPrefix("2: ") == true)
    #expect(mistake("a: 'never closed\n\n\n")?.hasSuffix("found unexpected end of stream") == true)
  }

  @Test("a byte order mark and tags are no part of a value, and an escaped NUL is one")
  func bytes() throws {
    #expect(shown(try #require(try root("\u{FEFF}a: !!str 1\n"))) == "{a@1:1@1}")
    let node = try #require(try root("a: \"x\\0y\"\n"))
    #expect(shown(node) == "{a@1:'x\u{0}y'@1}")
  }

  @Test("what is nested to hurt is refused, by nesting and by names")
  func depth() {
    func nested(_ levels: Int) -> String {
      String(repeating: "[", count: levels) + String(repeating: "]", count: levels)
    }
    #expect(mistake(nested(64)) == nil)
    #expect(mistake(nested(65)) == "1: more than 64 lists and mappings within each other")
    #expect(mistake(nested(100_000))?.hasSuffix("within each other") == true)
    let names = (1...1_000).map { "- &a\($0) [*a\($0 - 1)]" }
    let chain = (["- &a0 x"] + names).joined(separator: "\n")
    #expect(mistake(chain) == "65: more than 64 lists and mappings within each other")
    // Ten to the power of 20 values, if each was made.
    let bomb = (1...20).map { "- &b\($0) [\(String(repeating: "*b\($0 - 1), ", count: 10))]" }
    #expect(mistake((["- &b0 x"] + bomb).joined(separator: "\n")) == nil)
  }
}
