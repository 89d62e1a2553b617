// What a receiver is told, in which order.

extension ReceiverSetup {
  /// What is set next, in the order in which it helps.
  func next(after item: ReceiverSetting, _ dialect: Dialect) -> ReceiverSetting? {
    var plan: [ReceiverSetting] =
      dialect.isUBX
      ? [.enablePVT, .disableNMEA] : [item == .basicSentences ? .basicSentences : .sentences]
    if case .speed = item {
      plan.append(item)
    } else if searchesBaudRate, canChangeSpeed, let neededSpeed, let baudRate,
      neededSpeed > baudRate
    {
      plan.append(.speed(neededSpeed))
    }
    // Whether there is room for them is the line's to say.
    if dialect.isUBX { plan.append(item == .channels ? .channels : .satellites) }
    if dialect.isUBX { plan.append(.condition) }
    if dialect == .keys || dialect == .messages { plan.append(.leapSecond) }
    if dialect.isAllystar { plan.append(.accuracies) }
    if dialect.asksHeading, setsHeading { plan.append(.heading) }
    if dialect.isUBX, setsCorrections { plan.append(.corrections) }
    // Once: a survey that goes on must not begin again because somebody wants another rate.
    if setsBase, !isBaseSet || item == .base { plan.append(.base) }
    if setsBase, surveys, dialect == .keys, !notTaken.contains(.base) { plan.append(.survey) }
    if setsModel { plan.append(.model) }
    plan.append(.rate)
    guard let place = plan.firstIndex(of: item), place + 1 < plan.count else { return nil }
    return plan[place + 1]
  }
}
