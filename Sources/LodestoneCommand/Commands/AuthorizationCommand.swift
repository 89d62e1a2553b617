import ArgumentParser
import Foundation
import Lodestone
import SensorHub

/// `lodestone authorization`: who may know where this machine is.
struct AuthorizationCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "authorization",
    abstract: "Which programs may know where this machine is, and what was decided about them.",
    discussion: """
      The rules are the owner's, in /etc/lodestone/authorization.yaml (or what LODESTONE_AUTHORIZATION names); the \
      decisions are what was answered when programs asked, kept for each user in what STATE_DIRECTORY names, else in \
      ~/.local/state/lodestone. A program that no rule fits and that asks nobody may know it.
      """,
    subcommands: [ShowAuthorizationCommand.self, ForgetAuthorizationCommand.self],
    defaultSubcommand: ShowAuthorizationCommand.self)
}

/// `lodestone authorization show`: rules and decisions.
struct ShowAuthorizationCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "show", abstract: "The owner's rules, and what was decided about programs.")

  func run() throws {
    let records = AuthorizationRecords()
    var hasProblem = false
    do {
      if let rules = try records.rules() {
        Terminal.say("\(records.policy.path): the first rule that fits a program counts")
        for rule in rules { Terminal.say("  \(Self.words(rule))") }
      } else {
        Terminal.say("no rules: there is no \(records.policy.path)")
      }
    } catch {
      hasProblem = true
      Terminal.say("no program may know where this machine is: \(error)")
    }
    let (entries, problems) = records.entries()
    if entries.isEmpty {
      Terminal.say("nothing was decided about a program so far")
    } else {
      Terminal.say("decided, in \(records.folder.path):")
    }
    for entry in entries { Terminal.say("  \(entry)") }
    for problem in problems { Terminal.say("problem  \(problem)") }
    if hasProblem || !problems.isEmpty { throw ExitCode.failure }
  }

  static func words(_ rule: AuthorizationRule) -> String {
    let who = [
      rule.executable, rule.user.map { "as \($0)" }, rule.unit.map { "in \($0)" },
    ].compactMap { $0 }
    let accuracy = rule.isReduced.map { $0 ? ", reduced accuracy" : ", full accuracy" } ?? ""
    let answers = rule.answers.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" }
    return (who.isEmpty ? "every program" : who.joined(separator: " "))
      + ": \(rule.authorization.rawValue)\(accuracy)"
      + (answers.isEmpty ? "" : ", answered by \(answers.joined(separator: ", "))")
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
