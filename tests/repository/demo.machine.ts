/** The whole demo: its output and its failures. No process may outlive it. */
import { randomUUID } from "node:crypto"
import { readdirSync, readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { HttpService } from "@berthkit/testing/HttpService"
import { Program } from "@berthkit/testing/Program"
import { describe, expect, onTestFinished, test } from "vitest"

const script = fileURLToPath(new URL("../../scripts/demo.ts", import.meta.url))

/** A running demo. */
class Demo {
  /** Marks the environment of every process that the demo starts. */
  readonly marker = randomUUID()
  readonly program: Program

  constructor(env: Record<string, string> = {}) {
    this.program = Program.ofNode(script, [], {
      env: { ...process.env, NO_COLOR: "1", BERTH_BASE_URL: "", ...env, BERTH_DEMO_MARKER: this.marker }
    })
    // The signal lets the demo end the processes that it has started.
    onTestFinished(() => this.program.signal("SIGTERM"))
  }

  get output() {
    return this.program.output
  }

  /** Waits until the demo has printed `words`; fails if it ends before. */
  printed(words: string) {
    return this.program.printed(words, "either")
  }

  /** Waits until the demo has ended, and returns its exit code. */
  async code() {
    return (await this.program.ended).code
  }

  /** The command lines of the demo and of its running descendants, by process id. */
  processes() {
    const found = new Map<number, string>()
    for (const pid of readdirSync("/proc").filter((name) => /^\d+$/.test(name))) {
      try {
        if (!readFileSync(`/proc/${pid}/environ`).includes(this.marker)) continue
        found.set(Number(pid), readFileSync(`/proc/${pid}/cmdline`, "utf8"))
      } catch {
        // The process has ended in the meantime.
      }
    }
    return found
  }

  /** Expects every process to end. A killed process takes a moment. */
  async leavesNoProcess() {
    await expect.poll(() => Array.from(this.processes().values())).toEqual([])
  }
}

describe("without an account", () => {
  test("takes a node through its whole life and reports it in events", async () => {
    const demo = new Demo()
    expect(await demo.code()).toBe(0)
    expect(demo.output).toContain("Done.")
    const events = demo.output.slice(demo.output.indexOf("5. The events"))
    for (const event of [
      "berth.watch.baseline (",
      "node.created",
      "from created to running",
      "from running to terminate",
      "node.deleted"
    ]) {
      expect(events).toContain(event)
    }
    if (process.platform === "linux") expect(Array.from(demo.processes().values())).toEqual([])
    // The credentials begin with these words, and end with characters that encodings write differently.
    expect(demo.output).not.toMatch(/key(\/|%2F)[0-9a-f]{8}|token(\/|%2F)[0-9a-f]{8}/i)
    for (const word of ["key/", "token/"])
      expect(demo.output).not.toContain(Buffer.from(word).toString("base64").slice(0, 5))
  })

  describe.runIf(process.platform === "linux")("on Linux", () => {
    test("fails in one sentence when the daemon dies", async () => {
      const demo = new Demo()
      await demo.printed("4. The life of a node")
      const daemon = Array.from(demo.processes()).find(([, command]) => command.includes("berth-watch.mjs"))
      process.kill(daemon![0], "SIGKILL")
      expect(await demo.code()).toBe(1)
      expect(demo.output).toMatch(/\nThe demo stopped: berth-watch ended without a change to running\.\n$/)
      expect(demo.output).not.toContain("Done.")
      await demo.leavesNoProcess()
    })

    test("ends when the reader of its output goes away", async () => {
      const demo = new Demo()
      await demo.printed("It listens on")
      demo.program.child.stdout.destroy()
      expect(await demo.code()).toBe(0)
      await demo.leavesNoProcess()
    })

    test("ends when its terminal goes away", async () => {
      const demo = new Demo()
      await demo.printed("4. The life of a node")
      demo.program.signal("SIGHUP")
      expect(await demo.code()).toBe(129)
      await demo.leavesNoProcess()
    })
  })
})

test("only reads an account of the user's own", async () => {
  const requests: Array<string> = []
  await using service = await HttpService.listen(({ method, url = "" }, response) => {
    requests.push(`${method} ${url.split("?")[0]}`)
    response.setHeader("content-type", "application/json")
    response.end(JSON.stringify({ message: "Success", code: 200, data: [], errors: {} }))
  })
  const demo = new Demo({
    BERTH_BASE_URL: service.url,
    // The test must not write into the home folder.
    BERTH_ALLOWANCE_FILE: "off",
    BERTH_API_KEY: "a-key-of-ones-own",
    BERTH_ACCESS_TOKEN: "a-token-of-ones-own"
  })
  expect({ code: await demo.code(), output: demo.output }).toMatchObject({
    code: 0,
    output: expect.stringContaining("Done.")
  })
  expect(requests).toContain("GET /myaccount/api/v1/nodes/")
  expect(requests.filter((request) => !request.startsWith("GET "))).toEqual([])
})
