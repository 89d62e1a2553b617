import ArgumentParser
import FoundationEssentials
import Lodestone
import Reports
import StateStore
import TerminalUI

/// `lodestone calibrate report`: what this machine knows of its own iron, as a page to look at.
struct ReportCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "report",
    abstract: "One HTML page: samples on the sphere, residuals, coverage, heading error, history.",
    discussion: """
      The page needs nothing else: it can be sent by mail and opened without network. Opens no bus: \
      where no board is named it is of every chip that a record is stored of. \
      Drawings of samples need a calibration that kept them.
      """)

  @OptionGroup var board: BoardOptions

  @Option(
    help: "Where the page goes; standard output where it is not given.", completion: .file())
  var output: String?

  func validate() throws {
    if output == nil, Terminal.isInteractive {
      throw ValidationError("a page is no text to read: --output FILE, or send it into a pipe")
    }
  }

  func run() throws {
    let (store, located) = try self.board.records()
    let state = StateStore(folder: store.folder.deletingLastPathComponent())
    let report = try CalibrationReport.report(
      of: located, state: state, access: .current(),
      program: "lodestone \(LodestoneCommand.configuration.version)",
      unixSeconds: Date().timeIntervalSince1970)
    let page = ReportPage.html(report)
    guard let output else {
      Terminal.write(page)
      return
    }
    try OutputFile.replace(output, by: Array(page.utf8))
    Terminal.warn("lodestone: \(page.utf8.count) bytes in \(output)")
  }

}
