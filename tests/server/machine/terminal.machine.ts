/**
 * Tests servers that a person starts from an interactive shell in a terminal, when the shell or the terminal ends. Needs Linux, because
 * its `script` makes the terminal.
 */
import { spawnSync } from "node:child_process"
import { fileURLToPath } from "node:url"
import { Program } from "@berthkit/testing/Program"
import { describe, expect, it, onTestFinished } from "vitest"

const root = fileURLToPath(new URL("../../..", import.meta.url))
const bare = `${process.execPath} ${root}apps/server/bin/berth-server.mjs --port 0`
const wrapped = `npx --yes pnpm@12.21.0 --silent berth-server --port 0`

/** A shell in its own terminal, and a server that `command` has started there. */
const login = async (command: string) => {
  const shell = "bash --norc --noprofile -i"
  const terminal = new Program("script", ["--quiet", "--flush", "--command", shell, "/dev/null"], {
    cwd: root,
    isInputOpen: true
  })
  terminal.child.stdin.write(`${command}\n`)
  const { pid, url } = JSON.parse(await terminal.printed(/\{"url".*\}/)) as { pid: number; url: string }
  onTestFinished(() => void spawnSync("kill", ["-KILL", String(pid), String(terminal.child.pid)]))
  return { terminal, url }
}

const answers = async (url: string): Promise<boolean> =>
  fetch(`${url}/_mock/health`, { headers: { connection: "close" } }).then(
    ({ ok }) => ok,
    () => false
  )

/** Rejects if the server has not ended within the promised time. */
const ends = (url: string) => expect.poll(() => answers(url)).toBe(false)

/** Rejects if the server ends. Waits longer than a server needs to notice that its starter or terminal is gone. */
const goesOn = async (url: string) => {
  const until = performance.now() + 2_000
  while (performance.now() < until) expect(await answers(url)).toBe(true)
}

describe.each([
  ["the program", bare],
  ["pnpm", wrapped]
])("a server that was started by %s", (_, command) => {
  it("goes on after a logout when it was started with `&`", async () => {
    const { terminal, url } = await login(`${command} &`)
    // The first `exit` only makes Bash warn about running jobs.
    terminal.child.stdin.write("exit\nexit\n")
    await terminal.ended
    await goesOn(url)
  })

  it("goes on when its terminal is closed if it was started with `&`", async () => {
    const { terminal, url } = await login(`${command} &`)
    terminal.signal("SIGKILL")
    await goesOn(url)
  })

  it("ends when its terminal is closed if it was in the foreground", async () => {
    const { terminal, url } = await login(command)
    terminal.signal("SIGKILL")
    await ends(url)
  })

  it("ends with Ctrl-C", async () => {
    const { terminal, url } = await login(command)
    terminal.child.stdin.write("\u0003")
    await ends(url)
  })
})

it("survives the end of its terminal under nohup", async () => {
  const { terminal, url } = await login(`nohup ${bare} | cat &`)
  terminal.signal("SIGKILL")
  await goesOn(url)
})

describe("a server that was started by npx and pnpm", () => {
  /** The ids of the processes between the test and the server: npx, a shell, pnpm. */
  const linksOf = (pid: number, end: number): ReadonlyArray<number> => {
    const parent = Number(spawnSync("ps", ["-o", "ppid=", "-p", String(pid)], { encoding: "utf8" }).stdout)
    return parent === end ? [pid] : [...linksOf(parent, end), pid]
  }

  it("is gone within a second when any of them is killed", async () => {
    for (const index of [0, 1, 2]) {
      await using program = new Program("npx", wrapped.split(" ").slice(1), { cwd: root })
      const { pid } = JSON.parse(await program.printed(/^.*\n/)) as { pid: number }
      const links = linksOf(pid, process.pid)
      expect(links).toHaveLength(4)
      process.kill(links[index]!, "SIGKILL")
      const killed = performance.now()
      // The server holds its stdout open until it ends.
      await program.ended
      expect(performance.now() - killed).toBeLessThan(1_000)
    }
  })
})
