/**
 * Rejects a Node version that is too old, with one sentence. It is imported first, and is its own file in the package, because
 * the rest fails in many ways when loaded on an old Node.
 */
const { bun, deno, node } = process.versions
const [major = 0, minor = 0] = node.split(".").map(Number)

if (bun === undefined && deno === undefined && (major < 22 || (major === 22 && minor < 19))) {
  throw new Error(`@berthkit/server needs Node 22.19 or newer; this is Node ${node}.`)
}
