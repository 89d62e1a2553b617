// The program `lodestone`, apart from its library: a program's entry point has no place beside that of the tests.

import LodestoneCommand

runLodestone()
