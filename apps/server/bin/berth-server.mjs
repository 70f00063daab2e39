#!/usr/bin/env node
// Starts `berth-server`: says plainly when Node is too old, then loads the bundle, whose compiled code is kept for the
// next start. Old JavaScript on purpose: an old Node has to read this file before it can be told that it is too old.
import * as nodeModule from "module"
import { fileURLToPath } from "url"

const [major, minor] = process.versions.node.split(".").map(Number)
if (major < 22 || (major === 22 && minor < 19)) {
  process.stderr.write(`berth-server needs Node 22.19 or newer; this is Node ${process.versions.node}.\n`)
  process.exitCode = 1
} else {
  // Deno has none.
  if (nodeModule.enableCompileCache) {
    nodeModule.enableCompileCache(fileURLToPath(new URL("../dist/compiled", import.meta.url)))
  }
  import("../dist/main.mjs").catch((error) => {
    if (error.code !== "ERR_MODULE_NOT_FOUND") throw error
    process.stderr.write(`berth-server is not bundled yet: run \`pnpm build\` in its workspace. (${error.message})\n`)
    process.exitCode = 1
  })
}
