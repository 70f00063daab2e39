import { spawnSync } from "node:child_process"
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { basename, join } from "node:path"
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

/** The modules of Node that a run of the bundled `berth` loads, and the files that it reads. */
const loadedBy = (
  args: ReadonlyArray<string>,
  env: NodeJS.ProcessEnv = {}
): { readonly modules: ReadonlyArray<string>; readonly files: ReadonlyArray<string> } => {
  const report = `import fs from "node:fs"
    const read = fs.readFileSync
    const files = []
    fs.readFileSync = (path, ...rest) => (files.push(String(path)), read(path, ...rest))
    process.on("exit", () => process.stderr.write("\\n" + JSON.stringify({ modules: process.moduleLoadList, files })))`
  const { stderr } = spawnSync(
    process.execPath,
    ["--import", `data:text/javascript,${encodeURIComponent(report)}`, "apps/cli/bin/berth.mjs", ...args],
    {
      encoding: "utf8",
      env: {
        XDG_STATE_HOME: folder,
        BERTH_BASE_URL: "http://127.0.0.1:1",
        BERTH_API_KEY: "key",
        BERTH_ACCESS_TOKEN: "token",
        ...env
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
    const { modules } = loadedBy(args)
    expect(modules).toContain("NativeModule fs")
    expect(unneeded.filter((name) => modules.includes(`NativeModule ${name}`))).toEqual([])
  })

  it.each(["--help", "--version", "node create --help"])("is not loaded to answer %s", (line) => {
    const names = loadedBy(line.split(" ")).files.map((file) => basename(file))
    expect(names.filter((name) => /^(?:load|answer|main|quick-.*)\.cjs$/.test(name))).toEqual(["answer.cjs"])
  })

  /** The files of the bundle that contain this text and that a run loads. */
  const loadedWith = (text: string, args: ReadonlyArray<string>, env?: NodeJS.ProcessEnv) => {
    const dist = "apps/cli/dist"
    const names = loadedBy(args, env).files.map((file) => basename(file))
    expect(names).toContain("main.cjs")
    return readdirSync(dist).filter(
      (name) => names.includes(name) && name.endsWith(".cjs") && readFileSync(join(dist, name), "utf8").includes(text)
    )
  }
  const list = ["node", "list", "--deadline", "100ms"]

  it("loads the driver of PostgreSQL only if a setting names a database", () => {
    const driver = "SCRAM-SHA-256"
    for (const args of [["help"], list, ["limits", "--deadline", "100ms"], ["history"]]) {
      expect(loadedWith(driver, args)).toEqual([])
    }
    expect(loadedWith(driver, list, { BERTH_STATE_URL: "postgres://127.0.0.1:1/ci" })).toHaveLength(1)
  })

  it("loads YAML only if a command reads a fleet file", () => {
    const yaml = "Map keys must be unique"
    const create = ["node", "create", "web", "--plan", "C-1", "--image", "1", "--deadline", "100ms"]
    for (const args of [list, create, ["node", "get", "7", "--deadline", "100ms"], ["node", "delete", "7", "--yes"]]) {
      expect(loadedWith(yaml, args)).toEqual([])
    }
    expect(loadedWith(yaml, ["diff", "--file", "missing.yaml"])).toHaveLength(1)
  })
})

it("the bundle of berth-server starts from one file, and loads what learns on demand", () => {
  const code = readFileSync("apps/server/dist/main.mjs", "utf8")
  expect(code).not.toMatch(/\b(?:from|import)\s*["']\.\//)
  expect(code).toMatch(/\bimport\([`"']\.\/run-[\w-]+\.mjs[`"']\)/)
})
