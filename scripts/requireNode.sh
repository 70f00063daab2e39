# Runs after every install, before anything needs Node: stops in one sentence where there is none for the workspace. A shell script,
# because a Node that is too old or made for another C library runs nothing.
own=node_modules/.bin/node

# It would hide the Node that is on PATH: npm has none for the C library of Alpine.
if [ -e "$own" ] && ! "$own" -e 0 2>/dev/null; then rm -f "$own"; fi

if ! node -e 'process.exit(parseInt(process.versions.node) < 26 ? 1 : 0)' 2>/dev/null; then
  echo "The workspace needs Node 26. The install brings it for Linux with glibc and for macOS; this is $(uname -sm) with" \
    "$(node -v 2>/dev/null || echo no Node). Put Node 26 or newer first on PATH, then install again." >&2
  exit 1
fi
