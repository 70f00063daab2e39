#!/usr/bin/env node
// Starts `berth`: reports a Node that is too old, and otherwise loads the bundle, whose compiled code is kept for the next start.
// Old JavaScript on purpose: an old Node has to read this file to report that it is too old.
import { createRequire } from "module"

const require = createRequire(import.meta.url)
const [major, minor] = process.versions.node.split(".").map(Number)
if (major < 22 || (major === 22 && minor < 19)) {
  process.stderr.write(`berth needs Node 22.19 or newer; this is Node ${process.versions.node}.\n`)
  process.exitCode = 1
} else if (require("fs").existsSync(new URL("../dist/main.cjs", import.meta.url))) {
  // Help and the version need nothing of the bundle.
  const isAsked = /^(?:--help|--version|version)$/.test(process.argv[process.argv.length - 1])
  if (!isAsked || !require("../dist/answer/answer.cjs").isAnswered) require("./load.cjs")
} else {
  process.stderr.write("berth is not bundled yet: run `pnpm build` in its workspace.\n")
  process.exitCode = 1
}
