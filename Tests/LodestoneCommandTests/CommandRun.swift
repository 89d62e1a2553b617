import BoardTestSupport
import CTestSupport
import Foundation
import Glibc
import Synchronization
import Testing

/// A process of the program that was built with the tests. It runs in a temporary folder.
final class CommandRun {
  /// What came of it.
  struct Outcome {
    var code: Int32
    var output: String
    var errors: String

    /// The kinds of its JSON lines.
    var kinds: Set<String> {
      Set(
        output.split(separator: "\n").compactMap { line in
          (try? JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])?["kind"]
            as? String
        })
    }
  }

  /// Longer than any of these commands takes on a machine that has much else to do.
  private static let deadline = 120.0

  private let process = Process()
  private let place: CommandFolder
  private var folder: URL { place.url }
  private let ended = DispatchSemaphore(value: 0)

  /// Starts the program with these arguments; `outcome()` waits for its end.
  ///
  /// - Parameter terminal: The terminal to run on, which shows all that is printed; `nil` for files.
  init(_ arguments: [String], in place: CommandFolder, on terminal: PseudoTerminal? = nil) throws {
    self.terminal = terminal
    self.place = place
    let folder = place.url
    // The command is built into the folder of the tests.
    let tests = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
    process.executableURL = URL(filePath: tests).deletingLastPathComponent()
      .appending(path: "lodestone")
    process.arguments = arguments
    process.currentDirectoryURL = folder
    // No board but the one that a test names, and nothing of this machine's.
    var environment = ProcessInfo.processInfo.environment.filter { !$0.key.hasPrefix("LODESTONE") }
    environment["LODESTONE_MUTANTS"] = ProcessInfo.processInfo.environment["LODESTONE_MUTANTS"]
    for name in ["STATE_DIRECTORY", "CONFIGURATION_DIRECTORY", "HOME"] {
      environment[name] = folder.appending(path: "kept").path
    }
    (environment["LANG"], environment["TZ"], environment["COLUMNS"]) = ("C", "UTC", nil)
    environment["TERM"] = "xterm"
    process.environment = environment
    let name = UUID().uuidString
    outputFile = folder.appending(path: "\(name).out")
    errorFile = folder.appending(path: "\(name).err")
    for file in [outputFile, errorFile] { try Data().write(to: file) }
    if let terminal {
      (process.standardInput, process.standardOutput) = (terminal.program, terminal.program)
      process.standardError = terminal.program
    } else {
      process.standardInput = FileHandle.nullDevice
      process.standardOutput = try FileHandle(forWritingTo: outputFile)
      process.standardError = try FileHandle(forWritingTo: errorFile)
    }
    process.terminationHandler = { [ended] _ in ended.signal() }
    try process.run()
    terminal?.read()
  }

  private let terminal: PseudoTerminal?
  private let outputFile: URL
  private let errorFile: URL

  /// Waits for its end.
  func outcome() throws -> Outcome {
    if ended.wait(timeout: .now() + Self.deadline) == .timedOut {
      Issue.record("it did not end: \(process.arguments ?? [])")
      kill(process.processIdentifier, SIGKILL)
      process.waitUntilExit()
    }
    func text(_ file: URL) throws -> String {
      try String(contentsOf: file, encoding: .utf8)
        .replacingOccurrences(of: folder.path, with: "FOLDER")
    }
    let printed = terminal?.text()
    return Outcome(
      code: process.terminationStatus, output: try printed ?? text(outputFile),
      errors: try text(errorFile))
  }
}

/// A folder with a board in it, which goes with the test.
final class CommandFolder {
  let url: URL

  static let board = """
    schema: 1
    name: still
    level: true
    sensors:
      - {chip: LIS3MDL, bus: /dev/i2c-1, address: 0x1c}
      - {chip: LSM6DSOX, bus: /dev/i2c-1, address: 0x6a}
      - {chip: BMP280, bus: /dev/i2c-1, address: 0x77}
      - {chip: u-blox, port: /dev/ttyNONE9}
    simulation:
      start: {latitude: 52.5, longitude: 13.4, altitude: 34}
      seed: 1

    """

  init() throws {
    url = FileManager.default.temporaryDirectory
      .appending(path: "lodestone-command-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    try Data(Self.board.utf8).write(to: url.appending(path: "still.yaml"))
  }

  deinit { try? FileManager.default.removeItem(at: url) }

  func run(_ line: String, on terminal: PseudoTerminal? = nil) throws -> CommandRun {
    try CommandRun(line.split(separator: " ").map(String.init), in: self, on: terminal)
  }
}

/// A terminal that a program is run on, with what it shows.
final class PseudoTerminal: Sendable {
  private struct Failure: Error { let code = errno }

  /// The side of the terminal that the program reads and writes.
  let program: FileHandle
  private let reader: Int32
  private let shown = Mutex<[UInt8]>([])
  private let ended = DispatchSemaphore(value: 0)

  init() throws {
    var path = [CChar](repeating: 0, count: 64)
    reader = test_pty_open(&path)
    guard reader >= 0 else { throw Failure() }
    let descriptor = open(path, O_RDWR | O_NOCTTY | O_CLOEXEC)
    guard descriptor >= 0 else { throw Failure() }
    program = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
  }

  deinit { close(reader) }

  /// Reads until nobody has the program's end any more.
  func read() {
    try? program.close()
    Thread.detachNewThread { [self] in
      var bytes = [UInt8](repeating: 0, count: 4_096)
      var wanted = pollfd(fd: reader, events: Int16(POLLIN), revents: 0)
      while poll(&wanted, 1, -1) >= 0 {
        let count = Glibc.read(reader, &bytes, bytes.count)
        if count < 0, errno == EAGAIN || errno == EINTR { continue }
        guard count > 0 else { break }
        shown.withLock { $0 += bytes.prefix(count) }
      }
      ended.signal()
    }
  }

  /// What it has shown up to the program's end.
  func text() -> String {
    if ended.wait(timeout: .now() + 60) == .timedOut { Issue.record("the terminal is still open") }
    return shown.withLock { String(decoding: $0, as: UTF8.self) }
  }
}
