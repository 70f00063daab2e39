import { spawnSync } from "node:child_process"
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { runInNewContext } from "node:vm"
import { inAscii, requiringNode } from "@berthkit/scripts/bundle"
import { afterAll, describe, expect, it } from "vitest"

it("a module of Node that is loaded on demand comes by require", () => {
  const code = 'const a=import(`node:fs/promises`),b=import("./other.cjs"),c="import(node:fs)"'
  expect(requiringNode(code)).toBe(
    'const a=Promise.resolve(require("node:fs/promises")),b=import("./other.cjs"),c="import(node:fs)"'
  )
})

describe("a file of a bundle in ASCII", () => {
  it("has the same texts and patterns", () => {
    const code = '["₹ … 😀",`é${1}`,/[é😀]/u.test("😀")]'
    expect(inAscii(code)).toMatch(/^[\0-\x7f]*$/)
    expect(runInNewContext(inAscii(code))).toEqual(["₹ … 😀", "é1", true])
  })
})

const folder = mkdtempSync(join(tmpdir(), "berth-lean-"))
afterAll(() => rmSync(folder, { recursive: true }))

/** The modules of Node that a run of the bundled `berth` loads. */
const loadedBy = (...args: ReadonlyArray<string>): ReadonlyArray<string> => {
  const report = `process.on("exit",()=>process.stderr.write("\\n"+JSON.stringify(process.moduleLoadList)))`
  const { stderr } = spawnSync(
    process.execPath,
    ["--import", `data:text/javascript,${report}`, "apps/cli/bin/berth.mjs", ...args],
    {
      encoding: "utf8",
      env: {
        XDG_STATE_HOME: folder,
        BERTH_BASE_URL: "http://127.0.0.1:1",
        BERTH_API_KEY: "key",
        BERTH_ACCESS_TOKEN: "token"
      }
    }
  )
  return JSON.parse(stderr.split("\n").at(-1)!)
}

describe("the bundle of berth", () => {
  it.each([
    ["answers its version", ["--version"], ["crypto", "fs/promises", "readline", "child_process", "http"]],
    [
      "sends a request",
      ["node", "list", "--deadline", "100ms"],
      ["readline", "child_process", "tls", "internal/deps/undici/undici", "internal/crypto/webcrypto"]
    ]
  ])("%s without what it does not need of Node", (_, args, unneeded) => {
    const loaded = loadedBy(...args)
    expect(loaded).toContain("NativeModule fs")
    expect(unneeded.filter((name) => loaded.includes(`NativeModule ${name}`))).toEqual([])
  })
})

it("the bundle of berth-server starts from one file, and loads what learns on demand", () => {
  const code = readFileSync("apps/server/dist/main.mjs", "utf8")
  expect(code).not.toMatch(/\b(?:from|import)\s*["']\.\//)
  expect(code).toMatch(/\bimport\([`"']\.\/run-[\w-]+\.mjs[`"']\)/)
})
