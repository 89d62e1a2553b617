#!/usr/bin/env python3
"""Copies a tree into a folder in which unchanged files keep their dates, so that a build there is a short one.

    mirror.py SOURCE TARGET [KEEP...]

Left out are `.git`, `.build*` and `Package.resolved`. What else is in TARGET is removed, except for `.build*` and the top-level
names KEEP.
"""
import os
import shutil
import sys
from pathlib import Path


def is_left_out(name):
    """Returns whether a part of the path is no source."""
    return any(part == ".git" or part == "Package.resolved" or part.startswith(".build") for part in name.parts)


def files(source):
    """Returns the relative paths to copy."""
    found = set()
    for folder, folders, names in os.walk(source):
        place = Path(folder).relative_to(source)
        links = [name for name in folders if (Path(folder) / name).is_symlink()]
        found.update(place / name for name in names + links if not is_left_out(place / name))
        folders[:] = [name for name in folders if not is_left_out(place / name)]
    return found


def remove_rest(target, wanted, kept):
    for top in target.iterdir():
        if top.name.startswith(".build") or top.name in kept:
            continue
        for folder, folders, names in os.walk(top) if top.is_dir() and not top.is_symlink() else []:
            links = [name for name in folders if (Path(folder) / name).is_symlink()]
            for path in (Path(folder) / name for name in names + links):
                # Packages inside of the tree have builds of their own.
                inner = any(part.startswith(".build") for part in path.relative_to(target).parts)
                if path.relative_to(target) not in wanted and not inner:
                    path.unlink()
        if (top.is_symlink() or not top.is_dir()) and top.relative_to(target) not in wanted:
            top.unlink()
        for folder, _, _ in os.walk(top, topdown=False) if top.is_dir() and not top.is_symlink() else []:
            if not os.listdir(folder):
                os.rmdir(folder)


def copy(new, old):
    old.parent.mkdir(parents=True, exist_ok=True)
    if new.is_symlink():
        if not old.is_symlink() or os.readlink(old) != os.readlink(new):
            old.unlink(missing_ok=True)
            old.symlink_to(os.readlink(new))
        return
    if old.is_symlink():
        old.unlink()
    if not old.is_file() or old.read_bytes() != new.read_bytes():
        shutil.copyfile(new, old)
    shutil.copymode(new, old)


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    source, target, kept = Path(sys.argv[1]), Path(sys.argv[2]), set(sys.argv[3:])
    target.mkdir(parents=True, exist_ok=True)
    wanted = files(source)
    remove_rest(target, wanted, kept)
    for name in sorted(wanted):
        copy(source / name, target / name)


if __name__ == "__main__":
    main()
