import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from "vitest"
import { startProgram } from "../../src/settings/startProgram.ts"

let folder: string
beforeEach(() => void (folder = mkdtempSync(join(tmpdir(), "berth-program-"))))
afterEach(() => rmSync(folder, { recursive: true }))

const sh = (script: string, variables = {}) =>
  startProgram(["sh", "-c", script, join(folder, "out")], { stdio: ["ignore", "inherit", "inherit"], variables })
const written = () => readFileSync(join(folder, "out"), "utf8")

/** Waits until `holds` is true, without a limit, because the time that a process takes does not matter here. */
const until = async (holds: () => boolean) => {
  while (!holds()) await new Promise((resolve) => setImmediate(resolve))
}

describe("a program", () => {
  it.each([
    ["exit 0", 0],
    ["exit 7", 7],
    ["kill -TERM $$", 143],
    ["kill -KILL $$", 137]
  ])("ends with the code of a shell: %s is %i", async (script, code) => {
    expect(await sh(script).ended).toBe(code)
  })

  it.runIf(process.platform === "linux").each([34, 40, 64])(
    "has not succeeded if the real-time signal %i ends it",
    async (signal) => {
      expect(await sh(`kill -${signal} $$`).ended).toBe(128 + signal)
    }
  )

  it("gets its words and every variable as they are, and no credential", async () => {
    const variables = { "odd.name": "it's\n$HOME", BERTH_NODE_ID: "7" }
    vi.stubEnv("BERTH_API_KEY", "secret")
    onTestFinished(() => void vi.unstubAllEnvs())
    const print = `require("fs").writeFileSync(process.argv[1], JSON.stringify([process.argv.slice(2), process.env]))`
    const words = [process.execPath, "-e", print, "--", join(folder, "out"), "", "a  b", "'*'", "line\nline"]
    expect(await startProgram(words, { variables }).ended).toBe(0)
    const [args, env] = JSON.parse(written())
    expect(args).toEqual(["", "a  b", "'*'", "line\nline"])
    expect(env).toMatchObject(variables)
    expect(env).not.toHaveProperty("BERTH_API_KEY")
  })

  it("ends with all that it has started", async () => {
    const script = `sh -c "trap : TERM; echo > '$0.deaf'; while :; do sleep 1; done" & (sleep 300 & echo $! > "$0.orphan"); echo $! > "$0"; wait`
    const program = sh(script)
    await until(() => {
      try {
        // Wait until the first process ignores the signal; before that, the signal would end it.
        const files = ["out.deaf", "out.orphan"].map((name) => readFileSync(join(folder, name), "utf8"))
        return [written(), ...files].every((text) => text.endsWith("\n"))
      } catch {
        return false
      }
    })
    program.signal("SIGTERM")
    await program.ended
    expect(program.isRunning()).toBe(true)
    program.signal("SIGKILL")
    await until(() => !program.isRunning())
  })
})
