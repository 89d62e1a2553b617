// The numbers among the vertical frames' parameters, with names and ranges.

extension VerticalFramesParameters {
  /// The numbers among the parameters, by the names that `Documentation/filter.md` has for them, with their ranges.
  @_spi(Tuning) public static let numbers: [ParameterNumber<VerticalFramesParameters>] = [
    .real("timeConstant", \.timeConstant, ParameterRange.positive),
    .real("fastest", \.fastest),
    .real("longestPause", \.longestPause),
  ]
}
