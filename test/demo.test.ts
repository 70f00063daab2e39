/** The demo, as a stranger runs it: the whole path, and nothing left behind. */
import { execFile } from "node:child_process"
import { randomUUID } from "node:crypto"
import { readdirSync, readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { expect, test } from "vitest"

const script = fileURLToPath(new URL("../scripts/demo.ts", import.meta.url))

interface Run {
  readonly code: number | null
  readonly output: string
}

/** Runs the demo with `env` added, and everything it prints. */
const demo = (env: Record<string, string>) =>
  new Promise<Run>((resolve) => {
    const child = execFile(process.execPath, [script], { env: { ...process.env, ...env } }, (_, stdout, stderr) =>
      resolve({ code: child.exitCode, output: stdout + stderr })
    )
  })

/** Processes that have `marker` in their environment: whoever the demo started, and whom they started. */
const processesWith = (marker: string) =>
  readdirSync("/proc").filter((pid) => {
    try {
      return /^\d+$/.test(pid) && Number(pid) !== process.pid && readFileSync(`/proc/${pid}/environ`).includes(marker)
    } catch {
      return false // it ended meanwhile
    }
  })

test(
  "takes a node through its whole life, tells it in events, and leaves no process behind",
  { timeout: 60_000 },
  async () => {
    const marker = randomUUID()
    const { code, output } = await demo({ BERTH_DEMO_MARKER: marker, NO_COLOR: "1" })
    expect(output).toContain("Done.")
    expect(code).toBe(0)
    const events = output.slice(output.indexOf("What the daemon saw"))
    for (const event of [
      "baseline",
      "node.created",
      "from created to running",
      "from running to terminate",
      "node.deleted"
    ]) {
      expect(events).toContain(event)
    }
    if (process.platform === "linux") expect(processesWith(marker)).toEqual([])
    // Its account's credentials begin with these words and end in characters that every encoding writes differently.
    expect(output).not.toMatch(/key(\/|%2F)[0-9a-f]{8}|token(\/|%2F)[0-9a-f]{8}/i)
    for (const word of ["key/", "token/"])
      expect(output).not.toContain(Buffer.from(word).toString("base64").slice(0, 5))
  }
)
