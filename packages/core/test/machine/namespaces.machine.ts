/**
 * Locks seen from another container: processes in pid namespaces of their own, on one folder. Needs Linux and root.
 */
import { spawn } from "node:child_process"
import { once } from "node:events"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { text } from "node:stream/consumers"
import { fileURLToPath } from "node:url"
import { assert, describe, it } from "vitest"

const program = fileURLToPath(new URL("../client/creation/locker.ts", import.meta.url))

/** Starts a locker here, or in a container: a pid namespace of its own, with or without a `/proc` that knows it. */
const locker = (
  container: "here" | "container" | "container without its own /proc",
  ...args: ReadonlyArray<string>
) => {
  const unshare = ["unshare", "--pid", "--fork", "--kill-child"]
  const [command, ...rest] =
    container === "here"
      ? [process.execPath]
      : [...unshare, ...(container === "container" ? ["--mount-proc"] : []), process.execPath]
  return spawn(command!, [...rest, program, ...args], { stdio: ["ignore", "pipe", "inherit"] })
}

const taken = async (container: Parameters<typeof locker>[0], lock: string, millis: number) => {
  const child = locker(container, "try", lock, String(millis))
  const [output] = await Promise.all([text(child.stdout), once(child, "exit")])
  return JSON.parse(output) as number | null
}

describe.concurrent("a lock", () => {
  for (const [holder, other] of [
    ["container", "here"],
    ["here", "container"],
    ["container", "container"],
    ["container without its own /proc", "here"],
    ["here", "container without its own /proc"]
  ] as const) {
    it(`held in "${holder}" is held in "${other}", and is free there a minute after its process was killed`, async () => {
      const folder = await mkdtemp(join(tmpdir(), "berth-namespaces-"))
      const lock = join(folder, "job.lock")
      try {
        const child = locker(holder, "hold", lock)
        await once(child.stdout, "data")
        assert.isNull(await taken(other, lock, 8000))
        child.kill("SIGKILL")
        await once(child, "exit")
        const killedAt = performance.now()
        // The last heartbeat is up to five seconds older than its end.
        assert.isNotNull(await taken(other, lock, 75_000))
        assert.isAbove(performance.now() - killedAt, 50_000)
      } finally {
        await rm(folder, { recursive: true, force: true })
      }
    })
  }

  it("of a killed process is free at once for another in the same container", async () => {
    const folder = await mkdtemp(join(tmpdir(), "berth-namespaces-"))
    const lock = join(folder, "job.lock")
    try {
      const script = `"$0" "$1" hold "$2" & sleep 3; kill -9 $!; wait $!; "$0" "$1" try "$2" 20000`
      const child = spawn(
        "unshare",
        ["--pid", "--fork", "--mount-proc", "sh", "-c", script, process.execPath, program, lock],
        { stdio: ["ignore", "pipe", "ignore"] }
      )
      const [output] = await Promise.all([text(child.stdout), once(child, "exit")])
      const [held, took] = output.trim().split("\n")
      assert.strictEqual(held, "held")
      assert.isBelow(Number(took), 5000)
    } finally {
      await rm(folder, { recursive: true, force: true })
    }
  })
})
