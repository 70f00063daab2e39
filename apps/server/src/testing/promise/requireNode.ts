/**
 * Refuses a Node that is too old, in one sentence. It is imported first and is a file of its own in the package, because the rest
 * fails there in many ways as soon as it is loaded.
 */
const { bun, deno, node } = process.versions
const [major = 0, minor = 0] = node.split(".").map(Number)

if (bun === undefined && deno === undefined && (major < 22 || (major === 22 && minor < 19))) {
  throw new Error(`@berthkit/server needs Node 22.19 or newer; this is Node ${node}.`)
}
