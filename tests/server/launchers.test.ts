import { spawnSync } from "node:child_process"
import { once } from "node:events"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { Program } from "@berthkit/testing/Program"
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest"

const wrapper = fileURLToPath(new URL("../../scripts/start.ts", import.meta.url))
const folder = mkdtempSync(join(tmpdir(), "berth-launchers-"))
/** A launcher that is killed passes nothing on, like a real one that the system kills. */
const launcher = `
  import { spawn } from "node:child_process"
  const [command, ...args] = process.argv.slice(2)
  console.log("link", process.pid)
  spawn(command, args, { stdio: "inherit" })
`
const [npx, pnpm] = [join(folder, "npx-cli.js"), join(folder, "pnpm.mjs")]

beforeAll(() => {
  writeFileSync(join(folder, "package.json"), '{ "type": "module" }')
  for (const path of [npx, pnpm]) writeFileSync(path, launcher)
})
afterAll(() => rmSync(folder, { recursive: true }))

const behindPnpm = [process.execPath, pnpm, process.execPath, wrapper, "server", "--port", "0"]
const behindAll = ["sh", "-c", 'echo link $$; "$0" "$@"; true', ...behindPnpm]

/** Waits for the server behind a program. The server is ended with the test in any case. */
const serverBehind = async (program: Program) => {
  const { pid, url } = JSON.parse(await program.printed(/^\{.*$/m)) as { readonly pid: number; readonly url: string }
  onTestFinished(() => void spawnSync("kill", ["-KILL", String(pid)]))
  const links = Array.from(program.printedOn.stdout.matchAll(/^link (\d+)$/gm), ([, link]) => Number(link))
  return { url, links }
}

describe.runIf(process.platform === "linux")("a server behind npx, a shell and pnpm", () => {
  for (const [index, name] of ["npx", "the shell", "pnpm"].entries()) {
    it(`ends when ${name} is killed`, async () => {
      await using program = Program.ofNode(npx, behindAll)
      const { links, url } = await serverBehind(program)
      process.kill(links[index]!, "SIGKILL")
      // All processes hold stdout, so it is closed when the last one, the server, is gone.
      await program.ended
      await expect(fetch(url)).rejects.toThrow()
    })
  }

  it("does not end with the program that started them", async () => {
    const start = `
      import { spawn } from "node:child_process"
      const [command, ...args] = process.argv.slice(1)
      spawn(command, args, { stdio: "inherit" })
    `
    const args = ["--input-type=module", "-e", start, "--", ...behindPnpm]
    await using program = new Program(process.execPath, args)
    const { url } = await serverBehind(program)
    const exited = once(program.child, "exit")
    program.signal("SIGKILL")
    await exited
    // This is longer than the server takes to notice that a launcher is gone.
    const until = performance.now() + 500
    while (performance.now() < until) expect((await fetch(`${url}/_mock/health`)).status).toBe(200)
  })
})
