import { spawnSync } from "node:child_process"
import { globSync, mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { constantsOnFirstUse, inAscii, withoutFacades } from "@berth/scripts/leanStart"
import { afterAll, describe, expect, it } from "vitest"

const valueOf = async (code: string): Promise<unknown> =>
  (await import(`data:text/javascript,${encodeURIComponent(withoutFacades(code))}`)).value

describe("a file of a bundle without facades", () => {
  it.each([
    ["a function by its name", `import{basename}from"node:path";export const value=basename("/a/b")`, "b"],
    [
      "a function by another name",
      `import { sep, basename as last } from "node:path";\nexport const value=last("/a/b")+sep`,
      "b/"
    ],
    ["a constant", "import{constants}from`node:os`;export const value=constants.signals.SIGINT", 2],
    [
      "a class",
      `import{EventEmitter}from'node:events';export const value=new (class extends EventEmitter{})().listenerCount("a")`,
      0
    ],
    [
      "a whole module",
      `import*as Path from"node:path";import P from"node:path";export const value=Path.sep===P.sep`,
      true
    ],
    ["a module that is loaded later", `export const value=(await import("node:path")).sep`, "/"],
    [
      "another file",
      `import{value as v}from"data:text/javascript,export const value=7";import{sep}from"node:path";export const value=v+sep`,
      "7/"
    ]
  ])("has %s", async (_, code, value) => {
    expect(withoutFacades(code)).not.toMatch(/(?:from|import\()\s*["'`]node:/)
    expect(await valueOf(code)).toBe(value)
  })

  it("keeps a text that resembles an import", async () => {
    expect(await valueOf(`export const value='import{a}from"node:fs";'`)).toBe('import{a}from"node:fs";')
  })
})

describe("a file of a bundle in ASCII", () => {
  it("has the same texts and patterns", async () => {
    const code = 'export const value=["₹ … 😀",`é${1}`,/[é😀]/u.test("😀")]'
    expect(inAscii(code)).toMatch(/^[\0-\x7f]*$/)
    expect(await valueOf(inAscii(code))).toEqual(["₹ … 😀", "é1", true])
  })
})

it("a constant of Effect that has changed ends the build", () => {
  const { transform } = constantsOnFirstUse()
  expect(() => Reflect.apply(transform as () => unknown, {}, ["const x = 1", "/x/effect/dist/Utils.js"])).toThrow(
    "effect/dist/Utils.js has changed"
  )
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
  it("imports no module of Node as one", () => {
    const facades = globSync("apps/cli/dist/*.mjs").flatMap(
      (path) => readFileSync(path, "utf8").match(/(?:from|import\()["'`]node:[a-z/]+["'`]/g) ?? []
    )
    // What a bundle calls CommonJS with.
    expect(facades.filter((each) => each !== 'from"node:module"')).toEqual([])
  })

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
