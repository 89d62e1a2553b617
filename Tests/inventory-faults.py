#!/usr/bin/env -S python3 -B
"""Plants faults in the inventory and in what is public, and checks that `inventory.py` reports each, and nothing else.

No module has to be built: what is public is taken from the declarations of `api-inventory.txt`.
"""
import os
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import inventory as checker

with open(checker.FILE, encoding="utf-8") as opened:
    TEXT = opened.read()
SUITES = checker.tests()


class InventoryTestCase(unittest.TestCase):
    """The inventory as it is, and modules in which just that is public."""

    def setUp(self):
        self.inventory = checker.Inventory(TEXT)
        self.graphs = {module: checker.Graph([]) for module in checker.MODULES}
        for line in self.inventory.lines:
            self.graphs[line.module].symbols[line.name][line.declaration] = False
        for graph in self.graphs.values():
            graph.compiler = self.inventory.compiler

    def line(self, name):
        return next(line for line in self.inventory.lines if line.name == name)

    def public(self, name):
        return self.graphs[self.line(name).module].symbols[name]

    def edit(self, old, new):
        """Changes the file, at its first place that has `old`."""
        self.assertIn(old, TEXT)
        self.inventory = checker.Inventory(TEXT.replace(old, new, 1))

    def redeclare(self, name, old, new):
        """Changes the declaration of what is public."""
        public = self.public(name)
        declaration = next(iter(public))
        self.assertIn(old, declaration)
        public[declaration.replace(old, new)] = public.pop(declaration)

    def reports(self, *texts):
        problems = checker.check(self.inventory, self.graphs, SUITES)
        self.assertEqual(len(problems), len(texts), problems)
        for problem, text in zip(problems, texts):
            self.assertIn(text, problem)


class PlantedFaults(InventoryTestCase):
    def test_no_fault(self):
        self.reports()

    def test_public_and_not_in_the_file(self):
        self.inventory.lines.remove(self.line("CLBeacon.rssi"))
        self.reports("CoreLocation CLBeacon.rssi: is public and not in the file: `open var rssi: Int { get }`")

    def test_ours_and_not_in_the_file(self):
        self.inventory.lines.remove(self.line("CLHeadingUpdate.heading"))
        self.reports("CoreLocation CLHeadingUpdate.heading: is public and not in the file")

    def test_in_the_file_and_not_public(self):
        del self.graphs["CoreMotion"].symbols["CMAltitudeData.pressure"]
        self.reports("CMAltitudeData.pressure: is not public in CoreMotion")

    def test_ours_in_the_file_and_not_public(self):
        del self.graphs["MapKit"].symbols["UIImage.png()"]
        self.reports("UIImage.png(): is not public in MapKit")

    def test_module_that_there_is_not(self):
        self.edit("MapKit | UIView.alpha |", "UIKit | UIView.alpha |")
        self.reports(
            "UIView.alpha: is not public in UIKit", "MapKit UIView.alpha: is public and not in the file",
            "UIView.alpha: there is no test AnnotationViewTests.image")

    def test_type(self):
        self.redeclare("CLBeacon.rssi", "Int", "Double")
        self.reports("is declared `open var rssi: Double { get }`, and the file has `open var rssi: Int { get }`")

    def test_optionality(self):
        self.redeclare("CLLocation.floor", "CLFloor?", "CLFloor")
        self.reports("CLLocation.floor: is declared")

    def test_setter(self):
        self.redeclare("CLLocationManager.distanceFilter", "CLLocationDistance", "CLLocationDistance { get }")
        self.reports("CLLocationManager.distanceFilter: is declared")

    def test_access(self):
        self.redeclare("MKMapView", "open class", "public final class")
        self.reports("MKMapView: is declared")

    def test_default(self):
        self.redeclare("CLLocationUpdate.liveUpdates(_:)", " = .default", "")
        self.reports("CLLocationUpdate.liveUpdates(_:): is declared")

    def test_conformance(self):
        self.redeclare("CLVisit", ", Sendable", "")
        self.reports("CLVisit: is declared")

    def test_deprecation(self):
        self.redeclare("CLLocation.getDistanceFrom(_:)", "@available(*, deprecated) ", "")
        self.reports("CLLocation.getDistanceFrom(_:): is declared")

    def test_method_that_a_delegate_must_have(self):
        self.redeclare("CLLocationManagerDelegate.locationManager(_:didVisit:)", "optional ", "")
        self.reports("locationManager(_:didVisit:): is declared")

    def test_label(self):
        symbols = self.graphs["CoreMotion"].symbols
        symbols["CMAttitude.multiply(by:)"] = symbols.pop("CMAttitude.multiply(byInverseOf:)")
        self.reports("multiply(byInverseOf:): is not public", "CMAttitude.multiply(by:): is public and not in the file")

    def test_overload_that_is_gone(self):
        self.public("MKMapRect.contains(_:)").pop("public func contains(_ rect: MKMapRect) -> Bool")
        self.reports("MKMapRect.contains(_:): is no longer declared in MapKit")

    def test_overload_that_is_new(self):
        self.public("MKMapRect.contains(_:)")["public func contains(_ x: Double) -> Bool"] = False
        self.reports("MKMapRect.contains(_:): has no line for `public func contains(_ x: Double) -> Bool`")

    def test_override_needs_no_line(self):
        self.graphs["MapKit"].symbols["MKMapView.isEqual(_:)"] = {"override func isEqual(_ object: Any?) -> Bool": True}
        self.reports()

    def test_another_compiler(self):
        for graph in self.graphs.values():
            graph.compiler = "9.9"
        self.reports()
        self.redeclare("CLBeacon.rssi", "Int", "Swift.Int")
        self.reports("CLBeacon.rssi: is declared", f"Swift 9.9's, those of the file Swift {self.inventory.compiler}'s")

    def test_name_of_a_test(self):
        self.line("CLBeacon.rssi").reason = "BeaconTests.rangin"
        self.reports("CLBeacon.rssi: there is no test BeaconTests.rangin")

    def test_name_of_a_suite(self):
        self.line("CLBeacon.rssi").reason = "BeaconTest.ranging"
        self.reports("CLBeacon.rssi: there is no test BeaconTest.ranging")

    def test_test_of_another_module(self):
        self.line("MKMapView").reason = "BeaconTests.ranging"
        self.reports("MKMapView: there is no test BeaconTests.ranging")

    def test_test_that_does_not_speak_of_it(self):
        self.line("CLPlacemark.inlandWater").reason = "InventoryTypeTests.codes"
        self.reports("CLPlacemark.inlandWater: neither the file of InventoryTypeTests.codes nor its spies speak of it")

    def test_columns(self):
        line = next(text for text in TEXT.splitlines() if "| CLBeacon.rssi |" in text)
        for old, new in ((" | 2016 today", ""), ("2016 today", "2017"), ("behaves", "is shown")):
            self.edit(line, line.replace(old, new))
            self.assertTrue(any("CLBeacon.rssi: is not `module" in text for text in
                                checker.check(self.inventory, self.graphs, SUITES)))

    def test_line_twice(self):
        line = next(text for text in TEXT.splitlines() if "| CLBeacon.rssi |" in text)
        self.edit(line, line + "\n" + line)
        self.reports("CLBeacon.rssi: has this line twice")

    def test_no_reason(self):
        self.line("CLCondition").state, self.line("CLCondition").reason = "not on a board", ""
        self.reports("CLCondition: does not say why it is not on a board")

    def test_document_is_not_on_a_board(self):
        self.line("MKMapView").state = "not on a board"
        self.reports("MKMapView: is declared in the documents, and has to be on a board")

    def test_share(self):
        lines = [line for line in self.inventory.lines if line.sources and "documents" not in line.sources]
        for line in lines[:100]:
            line.state, line.reason = "not on a board", "planted"
        self.reports("symbols are not on a board: more than a 20th")


class Rewriting(InventoryTestCase):
    """What `--write` makes of the same; its file has no fault then."""

    def rewritten(self, *texts):
        said = self.inventory.rewrite(self.graphs)
        self.assertEqual(len(said), len(texts), said)
        for sentence, text in zip(said, texts):
            self.assertIn(text, sentence)
        self.inventory = checker.Inventory(str(self.inventory))

    def test_nothing(self):
        self.rewritten()
        self.assertEqual(str(self.inventory), TEXT)

    def test_hand_written_columns_are_kept(self):
        columns = self.line("CLBeacon.rssi").columns
        self.redeclare("CLBeacon.rssi", "Int", "Double")
        self.rewritten("declared CoreLocation CLBeacon.rssi: open var rssi: Double { get }, before: open var rssi: Int")
        self.assertEqual(self.line("CLBeacon.rssi").columns, columns)
        self.reports()

    def test_new_symbol_is_ours(self):
        self.graphs["CoreMotion"].symbols["CMNew"] = {"public struct CMNew": False}
        self.rewritten("ours     CoreMotion CMNew: public struct CMNew")
        self.assertTrue(self.line("CMNew").is_ours)
        self.reports()

    def test_symbol_that_is_gone_is_dropped(self):
        del self.graphs["CoreLocation"].symbols["CLBeacon.rssi"]
        self.rewritten("dropped  CoreLocation | CLBeacon.rssi | open var rssi: Int { get } | 2016 today | behaves")
        self.reports()

    def test_empty_declaration_is_filled_in(self):
        self.edit("| CLBeacon.rssi | open var rssi: Int { get } |", "| CLBeacon.rssi | |")
        self.rewritten("declared CoreLocation CLBeacon.rssi: open var rssi: Int { get }, before: nothing")
        self.assertEqual(str(self.inventory), TEXT)

    def test_overloads_that_are_both_declared_differently_are_dropped(self):
        name = next(line.name for line in self.inventory.lines
                    if len(self.graphs[line.module].symbols.get(line.name, {})) == 2)
        module, public = self.line(name).module, self.public(name)
        self.graphs[module].symbols[name] = {f"@new {declaration}": overrides for declaration, overrides in public.items()}
        self.rewritten("dropped", "dropped", "ours", "ours")


class Declarations(unittest.TestCase):
    """What is made of a symbol graph."""

    def symbol(self, kind, path, text, access="public", **more):
        return {
            "kind": {"identifier": "swift." + kind}, "identifier": {"precise": "s:" + path},
            "pathComponents": path.split("."), "declarationFragments": [{"kind": "text", "spelling": text}],
            "accessLevel": access, **more}

    def declared(self, symbols, *relations):
        relations = [dict(zip(("kind", "source", "target", "targetFallback"), relation)) for relation in relations]
        return checker.Graph([{
            "metadata": {"generator": "Swift version 6.3.1 (swift-6.3.1-RELEASE)"},
            "symbols": symbols, "relationships": relations}]).symbols

    def test_type(self):
        found = self.declared(
            [self.symbol("class", "A", "class A", "open"), self.symbol("class", "B", "class  B\n", "open")],
            ("inheritsFrom", "s:A", "c:O", "Foundation.NSObject"), ("conformsTo", "s:A", "s:H", "Swift.Hashable"),
            ("conformsTo", "s:A", "s:S", "Swift.Sendable"), ("conformsTo", "s:A", "s:M", "Swift.SendableMetatype"),
            ("inheritsFrom", "s:B", "s:A"), ("conformsTo", "s:B", "s:H", "Swift.Hashable"),
            ("conformsTo", "s:B", "s:S", "Swift.Sendable"), ("conformsTo", "s:B", "s:C", "Foundation.NSCopying"))
        self.assertEqual(found, {
            "A": {"open class A : NSObject, Sendable": False}, "B": {"open class B : A, NSCopying": False}})

    def test_optional_requirement(self):
        default = self.symbol("method", "P.f()", "func f()")
        default["identifier"] = {"precise": "s:default"}
        found = self.declared(
            [self.symbol("method", "P.f()", "func f()"), self.symbol("method", "P.g()", "func g()"), default],
            ("defaultImplementationOf", "s:default", "s:P.f()"))
        self.assertEqual(found, {
            "P.f()": {"public optional func f()": False}, "P.g()": {"public func g()": False}})

    def test_member(self):
        deprecated = [{"domain": "*", "isUnconditionallyDeprecated": True}]
        found = self.declared(
            [self.symbol("enum.case", "E.default", "case `default`"),
             self.symbol("method", "B.f()", "override func f()"),
             self.symbol("property", "B.old", "var old: Int { get }", availability=deprecated)],
            ("overrides", "s:B.f()", "s:A.f()"))
        self.assertEqual(found, {
            "E.default": {"public case default": False}, "B.f()": {"public override func f()": True},
            "B.old": {"@available(*, deprecated) public var old: Int { get }": False}})


if __name__ == "__main__":
    unittest.main(verbosity=0)
