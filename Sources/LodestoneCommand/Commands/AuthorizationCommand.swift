import ArgumentParser
import DaemonUI
import Diagnosis
import FoundationEssentials
import Lodestone
import TerminalUI

/// `lodestone authorization`: who may know where this machine is.
struct AuthorizationCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "authorization",
    abstract: "Which programs may know where this machine is, and what was decided about them.",
    discussion: """
      The rules are the owner's, in /etc/lodestone/authorization.yaml. LODESTONE_AUTHORIZATION names a second file: a \
      program gets the lesser right of the two, so that the variable can only narrow what the owner allows. A file that \
      has a mistake, names a user or a systemd unit that does not exist, cannot be read, or is named and missing \
      allows nothing. The decisions are what was answered when programs asked, kept for each user in what \
      STATE_DIRECTORY names, else in ~/.local/state/lodestone. A program that no rule fits and that asks nobody may \
      know where the machine is.

      The rules bind this command too, by the path of its executable; root is exempt. Where position is denied, \
      monitor, calibrate and the rest go on without it and what follows from it: true heading, declination, \
      satellites, heights that a receiver has a part in. Commands that need it (gnss, map, record and hil run on a \
      board with a receiver, calibrate course) end with exit code 77. Exit code 78 when the rules cannot be used.
      """,
    subcommands: [
      ShowAuthorizationCommand.self, ForgetAuthorizationCommand.self,
      AgentAuthorizationCommand.self,
    ],
    defaultSubcommand: ShowAuthorizationCommand.self)
}

/// `lodestone authorization show`: rules and decisions.
struct ShowAuthorizationCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "show", abstract: "The owner's rules, and what was decided about programs.")

  func run() throws {
    let report = AuthorizationOverview(AuthorizationRecords())
    for line in report.lines { Terminal.say(line) }
    if report.isUnusable { throw CommandErrorKind.configuration.exitCode }
    if report.hasProblems { throw ExitCode.failure }
  }
}

/// `lodestone authorization forget`: a program is asked anew.
struct ForgetAuthorizationCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "forget",
    abstract: "Forgets what was decided about a program: it asks anew from its next run on.")

  @Argument(help: "The program's name, or the path of its executable.")
  var program: String

  func run() throws {
    let records = AuthorizationRecords()
    let forgotten = try records.forget(program)
    guard !forgotten.isEmpty else {
      throw CommandError(
        "nothing was decided about '\(program)' in \(records.folder.path)")
    }
    for entry in forgotten { Terminal.say("forgotten: \(entry)") }
  }
}

/// `lodestone authorization agent`: prompts of the daemon on this terminal.
struct AgentAuthorizationCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "agent",
    abstract: "Answer, on this terminal, for programs of the daemon that must ask.",
    discussion: """
      A rule with 'authorization: ask' has the daemon (lodestone serve) ask the owner of the machine: every agent that runs shows the \
      prompt, and the first answer counts. Without an agent nothing is allowed. Only root, the daemon's user and the users that 'agents' \
      in serve.yaml names are heard.
      """)

  @Option(help: "The socket of the daemon.", completion: .file())
  var socket: String?

  func run() throws { try AgentRun(path: socket ?? DaemonLocator.socketOfCommands).run() }
}
