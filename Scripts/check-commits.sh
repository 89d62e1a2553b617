#!/usr/bin/env bash
# The newest commits' messages: `area: imperative` of at most 72 characters, then a body.
set -euo pipefail
cd "$(dirname "$0")/.."
if [ "$(git rev-parse --show-toplevel 2> /dev/null)" != "$PWD" ]; then
  echo "no history here: commit messages are not looked at"
  exit 0
fi
commits=$(git log -10 --no-merges --format=%h)
# A shallow clone may have nothing but a merge.
[ -n "$commits" ] || { echo "no commit that is no merge: no message is looked at"; exit 0; }
wrong=0
for commit in $commits; do
  subject=$(git log -1 --format=%s "$commit")
  body=$(git log -1 --format=%b "$commit")
  if [ ${#subject} -gt 72 ] || ! [[ $subject =~ ^[a-z][a-z0-9\ -]*:\ [^\ ] ]] || [ -z "$body" ]; then
    echo "$commit: $subject (${#subject} characters, ${#body} of body)"
    wrong=1
  fi
done
[ $wrong = 1 ] || echo "the newest $(wc -w <<< "$commits") commit messages are as they should be"
exit $wrong
