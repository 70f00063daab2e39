import { spawnSync } from "node:child_process"
import {
  chmodSync,
  cpSync,
  globSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync
} from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeEach, describe, expect, it } from "vitest"

const folder = mkdtempSync(join(tmpdir(), "berth-compiled-"))
const compiled = join(folder, "dist/compiled")
afterAll(() => rmSync(folder, { recursive: true }))

beforeEach(() => {
  rmSync(folder, { recursive: true })
  cpSync("apps/cli/bin", join(folder, "bin"), { recursive: true })
  cpSync("apps/cli/dist", join(folder, "dist"), { recursive: true, filter: (path) => !path.includes("compiled") })
})

const berthWith = (options: ReadonlyArray<string>, ...args: ReadonlyArray<string>) => {
  const { status, stderr, stdout } = spawnSync(process.execPath, [...options, join(folder, "bin/berth.mjs"), ...args], {
    encoding: "utf8",
    env: { HOME: folder }
  })
  return { status, stderr, stdout }
}
const berth = (...args: ReadonlyArray<string>) => berthWith([], ...args)

/**
 * A file that a run compiled: whether there was cached code for it, whether V8 accepted that code, and how long the code is before any of
 * it runs.
 */
interface Compiled {
  readonly name: string
  readonly isKept: boolean
  readonly isTaken: boolean
  readonly length: number
}

/** Runs berth and returns the files that it compiled, which a wrapper of `vm.Script` records. */
const compiledBy = (...args: ReadonlyArray<string>): ReadonlyArray<Compiled> => {
  const [probe, found] = [join(folder, "probe.cjs"), join(folder, "compiled.json")]
  writeFileSync(
    probe,
    `const vm = require("vm")
    const all = []
    vm.Script = class extends vm.Script {
      constructor(source, options) {
        super(source, options)
        const name = require("path").basename(options.filename)
        const isKept = options.cachedData !== undefined
        all.push({ name, isKept, isTaken: isKept && !this.cachedDataRejected, length: this.createCachedData().length })
      }
    }
    process.on("exit", () => require("fs").writeFileSync(${JSON.stringify(found)}, JSON.stringify(all)))`
  )
  expect(berthWith(["--require", probe], ...args)).toMatchObject({ status: 0, stderr: "" })
  return JSON.parse(readFileSync(found, "utf8"))
}

/** The file with the code of the program. */
const kept = () => globSync(join(compiled, "*/program-*"))[0]!

const flipped = (bytes: Buffer, at: number) => {
  const changed = Buffer.from(bytes)
  changed[at] = bytes[at]! ^ 1
  return changed
}

/** The commands for which the code was cached. */
const commands = () => readFileSync(kept(), "latin1").split("\n", 1)[0]!.split(",")

describe("the compiled code of berth", () => {
  it("is kept by the first run of each command, once", () => {
    const first = berth("schema", "node", "list")
    expect(first).toMatchObject({ status: 0, stderr: "" })
    expect(commands()).toEqual(["schema node"])
    const { ino } = statSync(kept())
    expect(berth("schema", "node", "list")).toEqual(first)
    expect(statSync(kept()).ino).toBe(ino)
    expect(berth("profile", "list", "--quiet")).toMatchObject({ status: 0, stderr: "" })
    expect(commands()).toEqual(["schema node", "profile list"])
  })

  it("contains the functions that ran, and serves the next run", () => {
    const first = compiledBy("profile", "list", "--quiet")
    const hashed = first.filter(({ name }) => name !== "main.cjs")
    expect(hashed.length).toBeGreaterThan(1)
    expect(first.filter(({ isKept }) => isKept)).toEqual([])
    const program = hashed.find(({ name }) => name.startsWith("program-"))!
    // Without the functions that ran, the code would be much shorter. The file has it twice.
    expect(statSync(kept()).size).toBeGreaterThan(2.4 * program.length)
    const second = compiledBy("profile", "list", "--quiet")
    expect(second.map(({ isTaken, name }) => [name, isTaken])).toEqual(
      first.map(({ name }) => [name, name !== "main.cjs"])
    )
  })

  it("names no word that may be a name, and no command that failed", () => {
    expect(berth("profile", "list", "--quiet")).toMatchObject({ status: 0 })
    expect(berth("profile", "show", "Mine-1")).toMatchObject({ status: 2 })
    expect(berth("completion", "bash")).toMatchObject({ status: 0 })
    expect(berth("api", "/Mine-1/", "--help", "-o", "json")).toMatchObject({ status: 0 })
    expect(commands()).toEqual(["profile list", "completion bash", "api"])
  })

  it("is made anew where it is damaged", () => {
    const first = berth("schema", "node", "list")
    const good = readFileSync(kept())
    for (const damaged of [
      Buffer.from(good).fill(0, good.length >> 1, (good.length >> 1) + 512),
      flipped(good, good.length - 100_000),
      flipped(good, good.length - 99_999),
      good.subarray(0, good.length / 2),
      Buffer.concat([good, Buffer.alloc(8)])
    ]) {
      writeFileSync(kept(), damaged)
      expect(
        compiledBy("schema", "node", "list")
          .filter(({ isTaken }) => !isTaken)
          .map(({ name }) => name)
      ).toEqual(["main.cjs", kept().split("/").at(-1)])
      expect(berth("schema", "node", "list")).toEqual(first)
      expect(readFileSync(kept()).equals(damaged)).toBe(false)
      expect(commands()).toEqual(["schema node"])
    }
  })

  describe("if the package cannot be written", () => {
    const inCache = () => globSync(join(folder, ".cache/berth/compiled/*/*")).map((file) => file.split("/").at(-1)!)
    beforeEach(() => writeFileSync(compiled, "no folder"))

    it("is kept in the user's cache, for the user alone", () => {
      const first = compiledBy("profile", "list", "--quiet")
      const hashed = first.map(({ name }) => name).filter((name) => name !== "main.cjs")
      expect(inCache().toSorted()).toEqual(hashed.toSorted())
      expect(statSync(join(folder, ".cache/berth/compiled")).mode & 0o777).toBe(0o700)
      const second = compiledBy("profile", "list", "--quiet")
      expect(second.filter(({ isTaken }) => isTaken).map(({ name }) => name)).toEqual(hashed)
      expect(readFileSync(compiled, "utf8")).toBe("no folder")
    })

    it("is not taken from a folder that others can write", () => {
      expect(berth("profile", "list", "--quiet")).toMatchObject({ status: 0, stderr: "" })
      const [version] = globSync(join(folder, ".cache/berth/compiled/*"))
      chmodSync(version!, 0o777)
      expect(compiledBy("profile", "list", "--quiet").filter(({ isKept }) => isKept)).toEqual([])
    })

    it("drops records that were not written for a month", () => {
      expect(berth("profile", "list", "--quiet")).toMatchObject({ status: 0, stderr: "" })
      const [version] = globSync(join(folder, ".cache/berth/compiled/*"))
      for (const [name, days] of [
        ["program-00000000.cjs", 31],
        ["program-11111111.cjs", 29]
      ] as const) {
        const file = join(version!, name)
        writeFileSync(file, "")
        const at = Date.now() / 1000 - days * 86_400
        utimesSync(file, at, at)
      }
      expect(berth("schema", "node", "list")).toMatchObject({ status: 0, stderr: "" })
      expect(inCache()).toContain("program-11111111.cjs")
      expect(inCache()).not.toContain("program-00000000.cjs")
    })

    it("is not needed where it cannot be kept at all", () => {
      writeFileSync(join(folder, ".cache"), "no folder")
      expect(berth("profile", "list", "--quiet")).toMatchObject({ status: 0, stderr: "" })
      expect(readFileSync(join(folder, ".cache"), "utf8")).toBe("no folder")
    })
  })

  it("of the package is taken where it was kept for this command, and the user's where it was not", () => {
    expect(berth("profile", "list", "--quiet")).toMatchObject({ status: 0, stderr: "" })
    const [version] = globSync(join(compiled, "*"))
    // The files now belong to another user, so nothing new is written there.
    rmSync(join(folder, "kept"), { recursive: true, force: true })
    renameSync(version!, join(folder, "kept"))
    writeFileSync(version!, "no folder")
    expect(berth("schema", "node", "list")).toMatchObject({ status: 0, stderr: "" })
    rmSync(version!)
    renameSync(join(folder, "kept"), version!)
    const taken = (...args: ReadonlyArray<string>) =>
      compiledBy(...args).filter(({ isTaken, name }) => isTaken || name === "main.cjs").length
    const all = compiledBy("profile", "list", "--quiet").length
    expect(taken("profile", "list", "--quiet")).toBe(all)
    const { ino } = statSync(kept())
    expect(taken("schema", "node", "list")).toBe(compiledBy("schema", "node", "list").length)
    expect(statSync(kept()).ino).toBe(ino)
  })
})

it("a berth without a bundle names the command that makes it", () => {
  rmSync(join(folder, "dist"), { recursive: true })
  expect(berth("--version")).toEqual({
    status: 1,
    stdout: "",
    stderr: "berth is not bundled yet: run `pnpm build` in its workspace.\n"
  })
})
