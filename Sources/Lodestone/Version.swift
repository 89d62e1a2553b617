extension LodestoneRuntime {
  /// The version of Lodestone, which library, command and changelog share.
  public static let version = "0.2.0"
}
