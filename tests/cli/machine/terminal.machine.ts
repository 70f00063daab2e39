/** Questions, the guided form and the live line at a real terminal. Needs Linux, because its `script` makes the terminal. */
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { ok } from "@berthkit/core/testing"
import { Program } from "@berthkit/testing/Program"
import { assert, describe, it } from "@effect/vitest"
import { TestServer } from "@berthkit/server/testing"
import { Effect } from "effect"
import { inDialect, shownPlan } from "../../account.ts"
import { json, settings } from "../berth.ts"
import { serve } from "../ScriptedServer.ts"
import { webs } from "../fleet.ts"
import { berth } from "../invoke.ts"
import { stateFolder } from "../stateFolder.ts"

const binary = fileURLToPath(new URL("../../../apps/cli/bin/berth.mjs", import.meta.url))

const quoted = (argument: string) => `'${argument.replaceAll("'", `'\\''`)}'`

/** A text to type after another text was shown, and what happens in between. */
type Answer = readonly [shown: string, typed: string, meanwhile?: Effect.Effect<unknown, never, TestServer>]

/** Runs berth at its own terminal, and types each answer after its text was shown. */
const atTerminal = (
  args: ReadonlyArray<string>,
  answers: ReadonlyArray<Answer>,
  more: Readonly<Record<string, string>> = {}
) =>
  Effect.gen(function* () {
    const own = { TERM: "xterm", NO_COLOR: "1", XDG_CONFIG_HOME: "/tmp/berth-no-profiles" }
    const env = { ...(yield* settings), ...own, ...more }
    const command = `stty cols 100 rows 30; exec ${[process.execPath, binary, ...args].map(quoted).join(" ")}`
    const terminal = yield* Program.start(
      () =>
        new Program("script", ["--quiet", "--return", "--flush", "--command", command, "/dev/null"], {
          env,
          isInputOpen: true
        })
    )
    for (const [shown, typed, meanwhile = Effect.void] of answers) {
      yield* Effect.promise(() => terminal.printed(shown))
      yield* meanwhile
      yield* Effect.sync(() => terminal.child.stdin.write(typed))
    }
    return yield* Effect.promise(() => terminal.ended)
  }).pipe(Effect.scoped)

const left = Effect.map(berth(["node", "list", "-o", "json"]), (ended) =>
  json<ReadonlyArray<{ status: string }>>(ended)
)
const remaining = Effect.map(left, (nodes) => nodes.filter(({ status }) => status !== "terminate").length)

const plan = "C-2VCPU-8RAM-50DISK"
const image = "Ubuntu-22.04"
/** The name under which the form shows the plan. */
const shown = shownPlan(plan)

describe("a delete", () => {
  it.live("names the project and the location if they are set", () =>
    Effect.gen(function* () {
      const place = { BERTH_PROJECT: "1", BERTH_LOCATION: "Delhi" }
      const { stdout } = yield* atTerminal(["node", "delete", "fleet-1"], [["[y/N] ", "n\r"]], place)
      assert.match(stdout, /In project 1 at Delhi: Delete node fleet-1 /)
    }).pipe(Effect.provide(TestServer.layer(inDialect({ scenario: { fleet: 25 } }))))
  )

  it.live("asks, and does nothing when the answer is no or Ctrl-C", () =>
    Effect.gen(function* () {
      for (const typed of ["n\r", "\r", "\u0003"]) {
        const { code, stdout } = yield* atTerminal(["node", "delete", "fleet-1"], [["[y/N] ", typed]])
        assert.strictEqual(code, 130, JSON.stringify(typed))
        assert.include(stdout, "Nothing was changed.")
      }
      assert.strictEqual(yield* remaining, 25)
      const question = /Delete node fleet-1 \(\d+\)\? Its disk is deleted too\. \[y\/N\] /
      const { code, stdout } = yield* atTerminal(["node", "delete", "fleet-1"], [["[y/N] ", "y\r"]])
      assert.match(stdout, question)
      assert.notInclude(stdout, "Deleting")
      assert.strictEqual(code, 0)
      assert.strictEqual(yield* remaining, 24)
    }).pipe(Effect.provide(TestServer.layer(inDialect({ scenario: { fleet: 25 } }))))
  )

  it.live("of more than 20 nodes shows 20, and wants their number", () =>
    Effect.gen(function* () {
      const question = "Delete these 25 nodes? Their disks are deleted too. Type 25 to go on: "
      const refused = yield* atTerminal(["node", "delete", "fleet-*"], [[question, "y\r"]])
      assert.strictEqual(refused.code, 130)
      assert.include(refused.stdout, "… and 5 more.")
      assert.strictEqual(refused.stdout.match(/fleet-\d+ /g)?.length, 20)
      assert.strictEqual(yield* remaining, 25)
      const { code } = yield* atTerminal(["node", "delete", "fleet-*"], [[question, "25\r"]])
      assert.strictEqual(code, 0)
      assert.strictEqual(yield* remaining, 0)
    }).pipe(Effect.provide(TestServer.layer(inDialect({ scenario: { fleet: 25 } }))))
  )
})

describe("a fleet whose count is lowered", () => {
  it.live("asks, and wants the number typed above 10", () =>
    Effect.gen(function* () {
      const folder = yield* stateFolder
      const file = join(folder, "fleet.yaml")
      const write = (count: number) => writeFileSync(file, webs(count))
      const apply = (...answers: ReadonlyArray<readonly [string, string]>) =>
        atTerminal(["apply", "-f", file], answers, { XDG_STATE_HOME: folder })
      write(12)
      assert.strictEqual((yield* apply(["(create 12)? [y/N] ", "y\r"])).code, 0)
      write(2)
      const ten = "(delete 10)? Disks of deleted nodes are deleted too. [y/N] "
      assert.strictEqual((yield* apply([ten, "n\r"])).code, 130)
      write(1)
      const eleven = "(delete 11)? Disks of deleted nodes are deleted too. Type 11 to go on: "
      for (const typed of ["y\r", "10\r", "\r", "\u0003"]) {
        const { code, stdout } = yield* apply([eleven, typed])
        assert.deepStrictEqual([code, stdout.includes("Nothing was changed.")], [130, true], JSON.stringify(typed))
      }
      assert.strictEqual(yield* remaining, 12)
      assert.strictEqual((yield* apply([eleven, "11\r"])).code, 0)
      assert.strictEqual(yield* remaining, 1)
    }).pipe(Effect.scoped, Effect.provide(TestServer.layer(inDialect({ clock: "real", provisioning: "100 millis" }))))
  )
})

describe("a create with flags missing", () => {
  it.live("asks for them, lists the choices, and shows the price before it continues", () =>
    Effect.gen(function* () {
      const { code, stdout } = yield* atTerminal(
        ["node", "create"],
        [
          ["Name: ", "web\r"],
          ["Plan, by name or number", `${shown}S\r`],
          [`did you mean ${shown}?`, `${shown}\r`],
          ["Image, by name or number", `${image}\r`],
          ["[y/N] ", "y\r"]
        ]
      )
      assert.strictEqual(code, 0, stdout)
      assert.match(stdout, new RegExp(`Create node web on ${plan} from ${image}\\? ₹[\\d.]+ per hour`))
      assert.strictEqual(yield* remaining, 1)
    }).pipe(Effect.provide(TestServer.layer(inDialect())))
  )
})

describe("a create without an image", () => {
  it.live("refuses a plan that is not listed before it asks for the image", () =>
    Effect.gen(function* () {
      const { code, stdout } = yield* atTerminal(["node", "create", "web", "--plan", `${plan}S`], [])
      assert.strictEqual(code, 2)
      assert.include(stdout, `There is no plan ${plan}S; did you mean ${plan}?`)
      assert.notInclude(stdout, "Image:")
    }).pipe(Effect.provide(TestServer.layer(inDialect())))
  )
})

describe("a login", () => {
  it.live("shows nothing of a secret that is typed the moment it is asked for", () =>
    Effect.gen(function* () {
      const { code, stdout } = yield* atTerminal(
        ["auth", "login"],
        [
          ["API key: ", "the-key-of-a-test\r"],
          ["Access token: ", "the-token-of-a-test\r"]
        ]
      )
      assert.strictEqual(code, 3)
      assert.notMatch(stdout, /the-key|the-token/)
    }).pipe(Effect.provide(TestServer.layer(inDialect())))
  )
})

/** The texts that a command shows while it waits for a person or a node. */
const waits: ReadonlyArray<readonly [args: ReadonlyArray<string>, shown: string]> = [
  [["node", "delete", "fleet-1"], "[y/N] "],
  [["node", "create"], "Name: "],
  [["auth", "login"], "API key: "],
  [["node", "wait", "fleet-1", "--for", "power-off"], "waiting for power-off"],
  [["node", "watch"], "Ctrl-C ends."]
]

const signals = [
  ["Ctrl-C", 130],
  ["SIGINT", 130],
  ["SIGHUP", 129],
  ["SIGTERM", 143]
] as const

/** Stops a command at a terminal once it shows the text, and returns the state of the terminal afterwards. */
const stopped = (args: ReadonlyArray<string>, shown: string, signal: (typeof signals)[number][0]) =>
  Effect.gen(function* () {
    const env = { ...(yield* settings), TERM: "xterm", NO_COLOR: "1", HOME: "/nonexistent", XDG_CONFIG_HOME: "/tmp" }
    const inner = `sh -c 'echo PID=$$.; exec "$@"' sh ${[process.execPath, binary, ...args].map(quoted).join(" ")}`
    const command = `stty cols 100 rows 30; trap : INT; before=$(stty -g); ${inner}; code=$?; [ "$before" = "$(stty -g)" ] && echo RESTORED; exit $code`
    const terminal = yield* Program.start(
      () =>
        new Program("script", ["--quiet", "--return", "--flush", "--command", command, "/dev/null"], {
          env,
          isInputOpen: true
        })
    )
    const pid = Number(/\d+/.exec(yield* Effect.promise(() => terminal.printed(/PID=\d+\./)))![0])
    yield* Effect.promise(() => terminal.printed(shown))
    yield* Effect.sync(() =>
      signal === "Ctrl-C" ? void terminal.child.stdin.write("\u0003") : void process.kill(pid, signal)
    )
    return yield* Effect.promise(() => terminal.ended)
  }).pipe(Effect.scoped)

describe("a command that is stopped at a terminal", () => {
  it.live.each(waits)("leaves it as it was, and changes nothing: berth %j at %s", ([args, shown]) =>
    Effect.gen(function* () {
      for (const [signal, expected] of signals) {
        const { code, stdout } = yield* stopped(args, shown, signal)
        assert.strictEqual(code, expected, `${signal}: ${stdout}`)
        assert.include(stdout, "RESTORED", signal)
        // The cursor is never hidden.
        assert.notInclude(stdout, "\u001b[?25l")
      }
      assert.strictEqual(yield* remaining, 3)
    }).pipe(Effect.provide(TestServer.layer(inDialect({ scenario: { fleet: 3 } }))))
  )
})

describe("a terminal of 20 columns", () => {
  it.live("shows tables that are no wider", () =>
    Effect.gen(function* () {
      for (const args of [
        ["node", "list"],
        ["plan", "list"],
        ["image", "list"],
        ["cost"],
        ["doctor"],
        ["node", "delete", "*", "--dry-run"]
      ]) {
        const command = `stty cols 20 rows 30; exec ${[process.execPath, binary, ...args].map(quoted).join(" ")} 2>/dev/null`
        const env = { ...(yield* settings), TERM: "xterm" }
        const terminal = yield* Program.start(
          () => new Program("script", ["--quiet", "--return", "--flush", "--command", command, "/dev/null"], { env })
        )
        const { code, stdout } = yield* Effect.promise(() => terminal.ended)
        assert.strictEqual(code, 0, stdout)
        // oxlint-disable-next-line no-control-regex
        for (const line of stdout.replaceAll(/\u001b\[\d+m|\r/g, "").split("\n")) {
          assert.isAtMost(Array.from(line).length, 20, args.join(" "))
        }
      }
    }).pipe(Effect.scoped, Effect.provide(TestServer.layer(inDialect({ scenario: { fleet: 3 } }))))
  )
})

describe("a question", () => {
  it.live("ignores text that was typed before the question", () =>
    Effect.gen(function* () {
      const { code, stdout } = yield* atTerminal(
        ["node", "delete", "fleet-1"],
        [
          ["", "y\ry"],
          ["[y/N] ", "n\r"]
        ]
      )
      assert.strictEqual(code, 130, stdout)
      assert.strictEqual(yield* remaining, 1)
    }).pipe(Effect.provide(TestServer.layer(inDialect({ scenario: { fleet: 1 } }))))
  )

  it.live("changes nothing if another node has taken the name in the meantime", () =>
    Effect.gen(function* () {
      const twin = berth(["node", "create", "fleet-1", "--plan", plan, "--image", image])
      const { code, stdout } = yield* atTerminal(["node", "delete", "fleet-1"], [["[y/N] ", "y\r", twin]])
      assert.strictEqual(code, 2, stdout)
      assert.include(stdout, "2 nodes are named fleet-1")
      assert.strictEqual(yield* remaining, 2)
    }).pipe(Effect.provide(TestServer.layer(inDialect({ scenario: { fleet: 1 }, uniqueNames: false }))))
  )

  it.live("is asked again if other nodes match the pattern by then", () =>
    Effect.gen(function* () {
      const more = berth(["node", "create", "fleet-2", "--plan", plan, "--image", image])
      const { code, stdout } = yield* atTerminal(
        ["node", "delete", "fleet-*"],
        [
          ["Delete node fleet-1", "y\r", more],
          ["Delete these 2 nodes?", "n\r"]
        ]
      )
      assert.strictEqual(code, 130, stdout)
      assert.include(stdout, "The change is different from what was shown before the question.")
      assert.strictEqual(yield* remaining, 2)
    }).pipe(Effect.provide(TestServer.layer(inDialect({ scenario: { fleet: 1 } }))))
  )

  it.live("is asked again with the new price if the price rose", () =>
    Effect.gen(function* () {
      let perHour = "1.50"
      let created = 0
      const url = yield* serve(({ method, path }) => {
        if (method === "POST") created++
        if (!path.includes("/images/")) return ok([])
        const specs = { ram: "8.00", cpu: 2, disk_space: 50, series: "C", minimum_billing_amount: "0" }
        const prices = { price_per_hour: perHour, price_per_month: "1095" }
        const os = { name: "Ubuntu", version: "22.04", image }
        return ok([{ name: image, plan, image, os, zone: { slug_name: "ncr" }, specs: { ...specs, ...prices } }])
      })
      const { code, stdout } = yield* atTerminal(
        ["node", "create", "web", "--count", "2", "--plan", plan, "--image", image],
        [
          ["₹3.00 per hour", "y\r", Effect.sync(() => (perHour = "999"))],
          ["₹1998.00 per hour", "n\r"]
        ],
        { BERTH_BASE_URL: url }
      )
      assert.strictEqual(code, 130, stdout)
      assert.strictEqual(created, 0)
    }).pipe(Effect.scoped, Effect.provide(TestServer.layer(inDialect())))
  )
})
