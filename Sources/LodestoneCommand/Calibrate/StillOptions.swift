import ArgumentParser

/// What the commands that want a board at rest have in common.
struct StillOptions: ParsableArguments {
  @OptionGroup var board: BoardOptions

  @OptionGroup var saving: SaveOptions
}
