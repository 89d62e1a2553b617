# The commands of this project; CI runs the same ones.

SHELL := /bin/bash
ARGS ?=
export SEED
# The suites with a long form. They keep all threads busy for minutes, in which tests elsewhere would time out.
LONG := ^(CalibrationCore|FusionCore|Geodesy|Lodestone)Tests\.

.PHONY: help oracles run test check check-long docs bench bench-daemon bench-fusion bench-decode hil hil-uml hil-boards hil-faults hil-pi prepare format

help: ## what there is
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

prepare: ## install what the build and its checks need, where it is missing
	@Scripts/prepare.sh

oracles: ## and what the checks are held against: gpsd, GeodSolve, the geoid's grid, a D-Bus, rsvg-convert, Chromium, peers of the protocols
	@Scripts/prepare.sh oracles

run: prepare ## live heading, altitude and position on the simulated board: make run ARGS="--seconds 20"
	@[ -x .build/release/lodestone ] || echo "lodestone: building, about 4 minutes the first time"
	@Scripts/build.sh --product lodestone
	@"$$(Scripts/build.sh --bin)/lodestone" monitor --board simulated $(ARGS)

test: prepare ## all tests, of an optimised build: some can be answered by no other, and all take a fifth of the time
	@Scripts/build.sh --tests
	@Scripts/build.sh --test

check: prepare ## what CI runs: lint, both builds without warnings, all tests, the floor compiler
	@Scripts/check.sh

check-long: oracles check ## what takes longer than a check may: soaks, fault sequences, thousands of units, fuzzers, storms, a fresh Debian: make check-long SEED=1
	@LODESTONE_LONG=1 Scripts/build.sh --test --filter '$(LONG)'
	@Tests/mutants.py run
	@Fuzz/run.sh 600
	@Tests/storm.sh 600
	@Scripts/build.sh
	@LODESTONE_DAY=1 Scripts/build.sh --test --filter 'LocationDaemonTests.DayTests'
	@Tests/crowd.py "$$(Scripts/build.sh --bin)"
	@Tests/soak.py "$$(Scripts/build.sh --bin)"
	@Tests/peers/setup.sh long
	@Tests/peers/all.py "$$(Scripts/build.sh --bin)" --long
	@"$$(Tests/peers/setup.sh)/bin/python" Tests/peers/drive.py "$$(Scripts/build.sh --bin)" --seconds 600
	@"$$(Tests/peers/setup.sh)/bin/python" Tests/peers/load.py "$$(Scripts/build.sh --bin)" --seconds 600
	@"$$(Tests/peers/setup.sh)/bin/python" Tests/peers/fleet.py "$$(Scripts/build.sh --bin)" --seconds 600
	@Scripts/fresh-debian.sh

docs: prepare ## the facades' documentation as a website in .build/docs
	@Scripts/docs.sh

bench: prepare ## share of a core and memory at full rates on the simulated board
	@Scripts/bench.sh

bench-daemon: prepare ## what a daemon adds to the way of a heading, what each program costs it, and what realtime buys: make bench-daemon ARGS=30
	@Scripts/build.sh
	@Scripts/bench-daemon.py "$$(Scripts/build.sh --bin)" $(ARGS)
	@Scripts/bench-realtime.py "$$(Scripts/build.sh --bin)" $(ARGS)

bench-fusion: prepare ## the filter on recordings, against published ones: make bench-fusion ARGS="--start 5"
	@Benchmarks/peers/compare.sh $(ARGS)

bench-decode: oracles ## receivers' logs beside gpsd's decoder, and memory over 1 GB: make bench-decode ARGS="--repetitions 3"
	@Benchmarks/peers/decode.py $(ARGS)

hil: hil-uml hil-pi ## the hardware tests on both emulated boards, as root

hil-uml: prepare ## the hardware tests in User-Mode Linux; the reports in .build/hil/uml
	@Tests/Hardware/uml/all.sh .build/hil/uml

hil-boards: prepare ## the hardware suite on every board file that stands for hardware, in User-Mode Linux; a minute on a quiet machine
	@Tests/Hardware/uml/boards.sh .build/hil/boards

hil-faults: prepare ## 200 sequences of faults in User-Mode Linux, 5 minutes: make hil-faults SEED=1
	@Tests/Hardware/uml/many-faults.sh .build/hil/faults

hil-pi: prepare ## the hardware suite on an emulated Raspberry Pi; the report in .build/hil/raspberry-pi
	@Tests/Hardware/raspberry-pi/all.sh .build/hil/raspberry-pi

format: ## lay the sources out as .swift-format says
	@swift format -i -r Sources Tests Examples Package.swift Benchmarks/Sources Benchmarks/Tests Benchmarks/Package.swift Fuzz/Sources Fuzz/Package.swift
