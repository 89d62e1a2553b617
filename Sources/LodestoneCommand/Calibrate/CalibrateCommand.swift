import ArgumentParser

/// `lodestone calibrate`: one command for each way to teach the board its own iron.
struct CalibrateCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "calibrate",
    abstract: "Teach the board its own iron, and how its chips sit.",
    subcommands: [
      MagnetometerCommand.self, PlanarCommand.self, HeadingCommand.self, DeviationCommand.self,
      CourseCommand.self, LevelCommand.self, GyroCommand.self, MountCommand.self, FitCommand.self,
      ReportCommand.self, ListRecordsCommand.self, ShowRecordCommand.self, RollbackCommand.self,
      ExportCommand.self, ImportCommand.self, LockCommand.self, UnlockCommand.self,
    ])
}
