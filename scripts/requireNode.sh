# Runs after every install, before anything needs Node. If there is no Node that the workspace can use, it says so in one sentence
# and stops the install. It is a shell script, because a Node that is too old or made for another C library could not run it.
own=node_modules/.bin/node

# Remove the Node from npm if it does not run here: it would hide the Node on PATH. (npm has none for Alpine's C library.)
if [ -e "$own" ] && ! "$own" -e 0 2>/dev/null; then rm -f "$own"; fi

if ! node -e 'process.exit(parseInt(process.versions.node) < 26 ? 1 : 0)' 2>/dev/null; then
  echo "The workspace needs Node 26. The install brings it for Linux with glibc and for macOS; this is $(uname -sm) with" \
    "$(node -v 2>/dev/null || echo no Node). Put Node 26 or newer first on PATH, then install again." >&2
  exit 1
fi
