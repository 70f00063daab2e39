/** Locks seen from another container: processes in different pid namespaces share one folder. Needs Linux and root. */
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { Program } from "@berthkit/testing/Program"
import { assert, describe, it } from "vitest"

const program = fileURLToPath(new URL("../client/creation/locker.ts", import.meta.url))

/** Starts a locker here or in a container, which is a new pid namespace, with or without a `/proc` of that namespace. */
const locker = (
  container: "here" | "container" | "container without its own /proc",
  ...args: ReadonlyArray<string>
) => {
  const unshare = ["unshare", "--pid", "--fork", "--kill-child"]
  const [command, ...rest] =
    container === "here"
      ? [process.execPath]
      : [...unshare, ...(container === "container" ? ["--mount-proc"] : []), process.execPath]
  return new Program(command!, [...rest, program, ...args])
}

const taken = async (container: Parameters<typeof locker>[0], lock: string, millis: number) => {
  await using other = locker(container, "try", lock, String(millis))
  return JSON.parse(await other.succeeded()) as number | null
}

describe.concurrent("a lock", () => {
  for (const [holder, other] of [
    ["container", "here"],
    ["here", "container"],
    ["container", "container"],
    ["container without its own /proc", "here"],
    ["here", "container without its own /proc"]
  ] as const) {
    it(`held in "${holder}" is held in "${other}", and is free there half a minute after its process was killed`, async () => {
      const folder = await mkdtemp(join(tmpdir(), "berth-namespaces-"))
      const lock = join(folder, "job.lock")
      try {
        await using child = locker(holder, "hold", lock)
        await child.printed("held")
        assert.isNull(await taken(other, lock, 8000))
        await child.kill()
        const killedAt = performance.now()
        // The last heartbeat came up to five seconds before the process ended.
        assert.isNotNull(await taken(other, lock, 75_000))
        assert.isAbove(performance.now() - killedAt, 24_000)
      } finally {
        await rm(folder, { recursive: true, force: true })
      }
    })
  }

  it("of a killed process is free at once for another in the same container", async () => {
    const folder = await mkdtemp(join(tmpdir(), "berth-namespaces-"))
    const lock = join(folder, "job.lock")
    try {
      const script = `"$0" "$1" hold "$2" > "$2.out" & until grep held "$2.out"; do sleep 0.1; done; kill -9 $!; wait $!; "$0" "$1" try "$2" 20000`
      const args = ["--pid", "--fork", "--mount-proc", "sh", "-c", script, process.execPath, program, lock]
      await using container = new Program("unshare", args)
      const { stdout } = await container.ended
      const [held, took] = stdout.trim().split("\n")
      assert.strictEqual(held, "held")
      assert.isBelow(Number(took), 5000)
    } finally {
      await rm(folder, { recursive: true, force: true })
    }
  })
})
