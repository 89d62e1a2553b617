"""The results of a script's checks, and the command that they are about.

Not a check by itself: scripts whose first argument is the path of `lodestone` import it."""
import os
import sys
import threading

if len(sys.argv) < 2 or not os.access(sys.argv[1], os.X_OK):
    sys.exit(f"usage: {os.path.basename(sys.argv[0])} LODESTONE   # the program, as Scripts/build.sh --bin says")
COMMAND = os.path.abspath(sys.argv[1])
failures = []
lock = threading.Lock()


def thread_failed(arguments):
    """An exception in a thread is a failure of the script: nobody waits for what it has not checked."""
    threading.__excepthook__(arguments)
    with lock:
        failures.append(f"a thread has failed: {arguments.exc_type.__name__}: {arguments.exc_value}")


threading.excepthook = thread_failed


def environment(**more):
    """This process's environment without Lodestone's variables: no board is used but the one that a check names."""
    return {**{k: v for k, v in os.environ.items() if not k.startswith("LODESTONE")}, **more}


def expect(what, holds, detail="", shown=""):
    """Prints the result of a check, followed by `shown`. `finish` prints `detail` if the check has failed."""
    with lock:
        print(("ok      " if holds else "FAILED  ") + what + (f" ({' '.join(str(shown).split())})" if shown else ""), flush=True)
        if not holds:
            failures.append(f"{what}: {detail}")


def finish(name, seconds=None):
    """Prints the failures and the result of the script, and exits."""
    for failure in failures:
        print(failure, file=sys.stderr)
    print(f"{name}: {'FAILED' if failures else 'passed'}" + (f" in {seconds:.0f} s" if seconds is not None else ""))
    sys.exit(1 if failures else 0)
