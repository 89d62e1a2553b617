import FoundationEssentials
import TerminalUI

/// How a person is told where the map is: its URLs, the file of the token, and a QR code for a phone.
package struct MapInvitation {
  /// The URLs with their token, the likeliest first, and the same without it.
  private let urls: [String]
  private let plainURLs: [String]
  private let tokenPath: String
  private let isReachable: Bool

  /// - Parameters:
  ///   - address: Where the server listens.
  ///   - port: The port that it has.
  ///   - token: What opens the page.
  ///   - tokenPath: The file that keeps the token.
  package init(at address: ListenAddress, port: UInt16, token: String, tokenPath: String) {
    self.init(
      urls: address.urls(port: port, token: token),
      plainURLs: address.urls(port: port, token: nil), tokenPath: tokenPath,
      isReachable: !address.isLoopback)
  }

  /// - Parameters:
  ///   - urls: The URLs with their token, the likeliest first.
  ///   - plainURLs: The same without it.
  ///   - tokenPath: The file that keeps the token.
  ///   - isReachable: Whether other machines reach the server.
  init(urls: [String], plainURLs: [String], tokenPath: String, isReachable: Bool) {
    self.urls = urls
    self.plainURLs = plainURLs
    self.tokenPath = tokenPath
    self.isReachable = isReachable
  }

  /// The URLs, a line each. Only a terminal gets the token; a journal or a file gets the name of the file that has it.
  func lines(isInteractive: Bool) -> [String] {
    guard !isInteractive else { return urls }
    return plainURLs + ["Append ?token= and the text in \(URL(filePath: tokenPath).path)."]
  }

  /// A QR code of the first URL with its token, as lines; `nil` where none is to be shown.
  ///
  /// - Parameters:
  ///   - isWanted: Whether it was asked for. Otherwise a terminal gets one if other machines reach the server.
  ///   - columns: The width of the terminal; `nil` where standard output is none.
  func code(isWanted: Bool, columns: Int?) -> QRInvitation? {
    let isInteractive = columns != nil
    guard isWanted || (isInteractive && isReachable), let url = urls.first,
      let code = QRCode(Array(url.utf8))
    else { return nil }
    let width = QRText.width(of: code)
    if let columns, width > columns { return .tooWide(columns: width) }
    return .lines(QRText.lines(of: code, isColoured: isInteractive))
  }

  /// Prints it.
  ///
  /// - Parameter showsCode: Whether a QR code was asked for.
  package func announce(showsCode: Bool) {
    let isInteractive = Terminal.isInteractive
    for line in lines(isInteractive: isInteractive) { Terminal.say(line) }
    switch code(isWanted: showsCode, columns: isInteractive ? Terminal.size.columns : nil) {
    case nil: break
    case .tooWide(let columns):
      Terminal.warn("lodestone: a QR code of the URL needs \(columns) columns")
    case .lines(let lines): for line in lines { Terminal.write(line + "\n") }
    }
  }
}

/// A QR code for a terminal.
enum QRInvitation: Equatable {
  case lines([String])
  /// It needs this many columns, more than the terminal has.
  case tooWide(columns: Int)
}
