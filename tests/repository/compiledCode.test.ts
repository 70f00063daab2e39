import { spawnSync } from "node:child_process"
import { cpSync, globSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs"
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

const berth = (...args: ReadonlyArray<string>) => {
  const { status, stderr, stdout } = spawnSync(process.execPath, [join(folder, "bin/berth.mjs"), ...args], {
    encoding: "utf8",
    env: { HOME: folder }
  })
  return { status, stderr, stdout }
}

/** The file with the code of the program. */
const kept = () => globSync(join(compiled, "*/program-*"))[0]!

/** The commands that the code was kept for. */
const commands = () => readFileSync(kept(), "latin1").split("\n", 1)[0]!.split(",").slice(1)

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
    writeFileSync(kept(), Buffer.from(good).fill(0, good.length >> 1, (good.length >> 1) + 512))
    expect(berth("schema", "node", "list")).toEqual(first)
    expect(readFileSync(kept()).length).toBeGreaterThan(good.length / 2)
    expect(commands()).toEqual(["schema node"])
    writeFileSync(kept(), good.subarray(0, good.length / 2))
    expect(berth("schema", "node", "list")).toEqual(first)
  })

  it("is not needed where it cannot be kept", () => {
    writeFileSync(compiled, "no folder")
    expect(berth("profile", "list", "--quiet")).toMatchObject({ status: 0, stderr: "" })
    expect(readFileSync(compiled, "utf8")).toBe("no folder")
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
