/**
 * Refuses a Node that is too old, with one sentence. This module is imported first and is a separate file in the package, because the other
 * modules fail in many ways on an old Node.
 */
const { bun, deno, node } = process.versions
const [major = 0, minor = 0] = node.split(".").map(Number)

if (bun === undefined && deno === undefined && (major < 22 || (major === 22 && minor < 19))) {
  throw new Error(`@berthkit/server needs Node 22.19 or newer; this is Node ${node}.`)
}
