import Testing

/// What counts as code.
struct SwiftTextTests {
  @Test("comments and quotes are left out, interpolations and line breaks stay")
  func reading() {
    let text = ##"""
      let a = "x // y" // z
      /* one /* two */
      three */ let b = "\(port.call("in \(deep)")) end" + #"raw " \#(kept) \(not)"#
      let c = """
        import Foundation
        \(value)
        """
      let d = #/"[^"]*" import E/# + "\\" + "\""
      for e in text.matches(of: /<p class="[^"]*"/) { half(a / b, "/") }
      import/**/F; let g = #"""# /* /* x */*/ + h
      let i = #/
        "{
        /# { }
      """##
    #expect(
      SwiftText.code(of: text) == #"""
        let a = ""\#u{20}
        \#u{20}
         let b = ""(port.call(""(deep))) + ""(kept)
        let c = ""

        (value)

        let d =  + "" + ""
        for e in text.matches(of: ) { half(a / b, "") }
        import F; let g = ""   + h
        let i =\#u{20}

         { }
        """#)
  }
}
