/**
 * An install of the workspace brings its own Node, pinned by hash. If there is none for the machine and no other Node is new enough, the
 * install stops with one sentence.
 */
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync
} from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { Program } from "@berthkit/testing/Program"
import { afterEach, beforeEach, describe, expect, it } from "vitest"

const root = fileURLToPath(new URL("../..", import.meta.url))
const script = join(root, "scripts/requireNode.sh")

let folder: string

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "berth-node-"))
  mkdirSync(join(folder, "bin"))
  for (const name of ["sh", "uname", "rm"]) symlinkSync(`/bin/${name}`, join(folder, "bin", name))
})

afterEach(() => rmSync(folder, { recursive: true, force: true }))

const addProgram = (path: string, text: string) => {
  mkdirSync(dirname(join(folder, path)), { recursive: true })
  writeFileSync(join(folder, path), text)
  chmodSync(join(folder, path), 0o755)
}

const install = () => new Program("/bin/sh", [script], { cwd: folder, env: { PATH: join(folder, "bin") } }).ended

describe("an install", () => {
  it("runs on a Node that is new enough", async () => {
    symlinkSync(process.execPath, join(folder, "bin/node"))
    expect(await install()).toEqual({ code: 0, stdout: "", stderr: "" })
  })

  it("stops in one sentence where Node is too old", async () => {
    addProgram("bin/node", `#!/bin/sh\nif [ "$1" = -v ]; then echo v20.20.2; else exit 1; fi\n`)
    const { code, stderr } = await install()
    expect(code).toBe(1)
    expect(stderr).toMatch(
      /^The workspace needs Node 26\. .* with v20\.20\.2\. Put Node 26 or newer first on PATH.*\n$/
    )
  })

  it("stops with the same sentence if there is none", async () => {
    const { code, stderr } = await install()
    expect(code).toBe(1)
    expect(stderr).toMatch(/^The workspace needs Node 26\. .* with no Node\. .*\n$/)
  })

  it("uses the Node on PATH if its own Node cannot run", async () => {
    symlinkSync(process.execPath, join(folder, "bin/node"))
    addProgram("node_modules/.bin/node", "#!/no/such/loader\n")
    expect(await install()).toEqual({ code: 0, stdout: "", stderr: "" })
    expect(existsSync(join(folder, "node_modules/.bin/node"))).toBe(false)
  })
})

describe("the lockfile", () => {
  const lockfile = readFileSync(join(root, "pnpm-lock.yaml"), "utf8")
  const manifest = JSON.parse(readFileSync(join(root, "package.json"), "utf8"))

  it("has the hash of the Node of every platform, and all are the one that runs this", () => {
    const platforms = Object.keys(manifest.optionalDependencies)
    expect(platforms.length).toBeGreaterThan(3)
    for (const name of platforms) {
      expect(lockfile).toContain(`\n  ${name}@${process.versions.node}:\n    resolution: {integrity: sha512-`)
    }
  })
})
