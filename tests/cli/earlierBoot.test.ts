/**
 * The reply to a create was lost, and the service states no time. After a reboot, or on another machine, berth must judge whether the
 * service may still process the create.
 */
import { globSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Clock, Effect } from "effect"
import { type Altered, alteredService, image, plan } from "./AlteredService.ts"
import { hurriedFolderOf, webs } from "./fleet.ts"
import { accelerated, invoke, movable } from "./invoke.ts"
import { stateFolder } from "./stateFolder.ts"

const order = ["--plan", plan, "--image", image, "--yes"]

/** Makes the records of creates look like records from an earlier boot. */
const reboot = (state: string) => {
  const records = globSync(join(state, "**/open/*.json"))
  assert.isNotEmpty(records)
  for (const path of records) {
    const record = JSON.parse(readFileSync(path, "utf8"))
    writeFileSync(path, JSON.stringify({ ...record, sentAt: { ...record.sentAt, bootClock: "an earlier boot" } }))
  }
}

/** Runs `use` on a service that states no time, with a clock that the test advances. */
const withoutTime = <E, R>(
  use: (
    fleet: Effect.Success<ReturnType<typeof hurriedFolderOf>>,
    moveOn: (minutes: number) => void,
    service: Altered
  ) => Effect.Effect<void, E, R>
) =>
  Effect.gen(function* () {
    const { account, service } = yield* alteredService
    service.isDated = false
    const fleet = yield* hurriedFolderOf(account)
    fleet.write(webs(1, plan))
    service.areCreatesSwallowed = true
    let sent = 0
    service.onRequest = (request) => void (sent += request.startsWith("POST") ? 1 : 0)
    // On a busy machine, the deadline may end before the create is sent.
    yield* Effect.repeat(fleet.run(["node", "create", "u", ...order, "--deadline", "2s"]), {
      until: () => sent === 1,
      times: 9
    })
    yield* Effect.repeat(fleet.apply("--yes", "--deadline", "2s"), { until: () => sent === 2, times: 9 })
    service.areCreatesSwallowed = false
    reboot((yield* fleet.env).XDG_STATE_HOME)
    const moved = Effect.flatMap(movable, ({ clock, moveOn }) =>
      Effect.provideService(
        use(fleet, (minutes) => moveOn(minutes * 60_000), service),
        Clock.Clock,
        clock
      )
    )
    yield* accelerated(moved)
  }).pipe(Effect.scoped)

describe("a create of an earlier boot, on a service that states no time", () => {
  it.live("lets --if-absent make the node once the wall clock cannot be wrong by so much", () =>
    withoutTime((fleet, moveOn, { nodes }) =>
      Effect.gen(function* () {
        const create = fleet.run(["node", "create", "u", ...order, "--if-absent"])
        moveOn(11)
        const refused = yield* create
        assert.strictEqual(refused.code, 8, refused.stderr)
        assert.include(refused.stderr, "in 26 minutes at the latest")
        moveOn(16)
        const made = yield* create
        assert.strictEqual(made.code, 0, made.stderr)
        assert.deepStrictEqual(
          nodes.map(({ name }) => name),
          ["u"]
        )
      })
    )
  )

  it.live("can be forgotten then, if no node has its name", () =>
    withoutTime((fleet, moveOn, { nodes }) =>
      Effect.gen(function* () {
        const forget = fleet.run(["fleet", "forget", "-f", fleet.file, "web-1"])
        moveOn(11)
        const early = yield* forget
        assert.strictEqual(early.code, 5, early.stderr)
        assert.include(early.stderr, "Run the same command again in 26 minutes.")
        moveOn(16)
        yield* fleet.run(["node", "create", "shop-web-1", ...order])
        const refused = yield* forget
        assert.strictEqual(refused.code, 5, refused.stderr)
        assert.match(refused.stderr, /berth fleet adopt -f \S+ 1000 --as web-1/)
        nodes.length = 0
        const forgotten = yield* forget
        assert.strictEqual(forgotten.code, 0, forgotten.stderr)
        const made = yield* fleet.apply("--yes")
        assert.strictEqual(made.code, 0, made.stderr)
      })
    )
  )

  it.live("can be forgotten on a list that does not show its end, if a person says that nothing was made", () =>
    withoutTime((fleet, moveOn, service) =>
      Effect.gen(function* () {
        const other = yield* fleet.run(["node", "create", "other", ...order])
        assert.strictEqual(other.code, 0, other.stderr)
        service.isEndMissing = true
        const forget = (...args: ReadonlyArray<string>) => fleet.run(["fleet", "forget", ...args])
        const member = ["-f", fleet.file, "web-1"]
        moveOn(11)
        const early = yield* forget(...member, "--not-made")
        assert.strictEqual(early.code, 5, early.stderr)
        moveOn(16)
        for (const [args, command] of [
          [member, `berth fleet forget web-1 -f ${fleet.file}`],
          [["shop"], "berth fleet forget shop"]
        ] as const) {
          const refused = yield* forget(...args)
          assert.strictEqual(refused.code, 7, refused.stderr)
          assert.include(
            refused.stderr,
            `Look for shop-web-1 in the account portal. If it is there: berth fleet adopt -f ${fleet.file} ID --as web-1. If it is not: ${command} --not-made`
          )
        }
        const applied = yield* fleet.apply("--yes")
        assert.strictEqual(applied.code, 7, applied.stderr)
        assert.match(applied.stderr, /hint: .+ run it again in a minute\. .+ berth node delete ID/)
        const named = yield* fleet.run(["node", "delete", "other", "--yes"])
        assert.strictEqual(named.code, 7, named.stderr)
        assert.include(named.stderr, "Name the node by its id")
        const forgotten = yield* forget(...member, "--not-made")
        assert.strictEqual(forgotten.code, 0, forgotten.stderr)
        assert.notInclude(fleet.ledgerText(), '"creating"')
      })
    )
  )

  it.live("is not forgotten beside a listed node of its name, whatever a person says", () =>
    withoutTime((fleet, moveOn) =>
      Effect.gen(function* () {
        moveOn(27)
        yield* fleet.run(["node", "create", "shop-web-1", ...order])
        const refused = yield* fleet.run(["fleet", "forget", "-f", fleet.file, "web-1", "--not-made"])
        assert.strictEqual(refused.code, 5, refused.stderr)
        assert.include(refused.stderr, "shop-web-1 exists (id 1000)")
      })
    )
  )

  it.live(
    "leaves its member to a node of its name that another command created, and to a person who forgets the member",
    () =>
      withoutTime((fleet, moveOn, { nodes }) =>
        Effect.gen(function* () {
          const forget = fleet.run(["fleet", "forget", "-f", fleet.file, "web-1"])
          const adopt = fleet.run(["fleet", "adopt", "-f", fleet.file, "1000", "--as", "web-1"])
          yield* fleet.run(["node", "create", "shop-web-1", ...order])
          moveOn(11)
          const early = yield* adopt
          assert.deepStrictEqual([early.code, nodes.length], [5, 1], early.stderr)
          assert.include(early.stderr, "hint: Run the same command again in 26 minutes.")
          moveOn(16)
          const refused = yield* forget
          assert.strictEqual(refused.code, 5, refused.stderr)
          assert.match(
            refused.stderr,
            /hint: If node 1000 is web-1: berth fleet adopt -f \S+ 1000 --as web-1\. If it is not, run that and then: berth fleet forget -f \S+ web-1\n/
          )
          const adopted = yield* adopt
          assert.strictEqual(adopted.code, 0, adopted.stderr)
          const forgotten = yield* forget
          assert.strictEqual(forgotten.code, 0, forgotten.stderr)
        })
      )
  )

  it.live("can be forgotten beside a node of its name that is another fleet's", () =>
    withoutTime((fleet, moveOn) =>
      Effect.gen(function* () {
        const other = join(fleet.folder, "other.yaml")
        writeFileSync(other, `fleet: other\nnodes:\n  x: { plan: ${plan}, image: ${image}, name: "shop-web-{n}" }\n`)
        moveOn(27)
        const applied = yield* fleet.run(["apply", "-f", other, "--yes"])
        assert.strictEqual(applied.code, 0, applied.stderr)
        const forgotten = yield* fleet.run(["fleet", "forget", "-f", fleet.file, "web-1"])
        assert.strictEqual(forgotten.code, 0, forgotten.stderr)
      })
    )
  )
})

describe("a fleet with an open create", () => {
  it.live("is not forgotten as a whole while the node of a member may exist", () =>
    withoutTime((fleet, moveOn, { nodes }) =>
      Effect.gen(function* () {
        const forget = fleet.run(["fleet", "forget", "shop"])
        moveOn(11)
        const early = yield* forget
        assert.strictEqual(early.code, 5, early.stderr)
        assert.include(early.stderr, "It is not known yet whether shop-web-1 (web-1) was created")
        moveOn(16)
        yield* fleet.run(["node", "create", "shop-web-1", ...order])
        const refused = yield* forget
        assert.strictEqual(refused.code, 5, refused.stderr)
        assert.include(refused.stderr, "shop-web-1 exists (id 1000), and the create of web-1 may have made it")
        assert.include(refused.stderr, `berth fleet adopt -f ${fleet.file} 1000 --as web-1`)
        assert.include((yield* fleet.run(["fleet", "list"])).stdout, "shop")
        nodes.length = 0
        const forgotten = yield* forget
        assert.strictEqual(forgotten.code, 0, forgotten.stderr)
        assert.include(fleet.ledgerText(), '"creating"')
      })
    )
  )

  it.live("is not forgotten before the ledger has the node that the create has made", () =>
    Effect.gen(function* () {
      const { account, service } = yield* alteredService
      const fleet = yield* hurriedFolderOf(account)
      fleet.write(webs(1, plan))
      let open = ""
      service.onMade = () => void (open = fleet.ledgerText())
      assert.strictEqual((yield* fleet.apply("--yes")).code, 0)
      // As if apply was killed after the reply, before it wrote the ledger.
      assert.include(open, '"creating"')
      writeFileSync(fleet.ledger, open)
      const forget = fleet.run(["fleet", "forget", "shop"])
      const refused = yield* forget
      assert.strictEqual(refused.code, 5, refused.stderr)
      assert.include(refused.stderr, "The create of web-1 has made node 1000 (shop-web-1): the ledger has it now")
      assert.include(
        refused.stderr,
        "To delete it: berth node delete 1000. To forget it anyway: berth fleet forget shop"
      )
      assert.strictEqual((yield* forget).code, 0)
    }).pipe(Effect.scoped)
  )
})

describe("a create that an earlier apply sent, without a record in this state folder", () => {
  it.live.each(["another machine has the ledger", "the state folder is an older copy of itself"])(
    "is waited for before it is sent again: %s",
    (how) =>
      withoutTime((fleet, moveOn, { nodes }) =>
        Effect.gen(function* () {
          const other = yield* stateFolder
          const { XDG_STATE_HOME: own, ...account } = yield* fleet.env
          const isOther = how.startsWith("another")
          if (!isOther) for (const path of globSync(join(own, "**/open/*.json"))) rmSync(path)
          const apply = () =>
            invoke(["apply", "-f", fleet.file, "--yes"], {
              env: { ...account, XDG_STATE_HOME: isOther ? other : own }
            })
          for (const minutes of [0, 11]) {
            moveOn(minutes)
            const refused = yield* apply()
            assert.strictEqual(refused.code, 5, refused.stderr)
            assert.match(refused.stderr, /create(?: of)? shop-web-1 \(web-1\) at \S+, and /)
            assert.match(refused.stderr, /or here 26 minutes after that time/)
          }
          assert.lengthOf(nodes, 0)
          moveOn(16)
          const made = yield* apply()
          assert.deepStrictEqual([made.code, nodes.length], [0, 1], made.stderr)
        })
      )
  )
})
