/**
 * Berth never affects the wrong machine: even if a service lies, no DELETE, no commitment and no `created` is about a node that was not
 * requested.
 */
import { nodeRecord, ok, type Reply, type Request } from "@berthkit/core/testing"
import type { Ended } from "@berthkit/testing/Program"
import { isSoak } from "@berthkit/testing/chance"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as fc from "fast-check"
import { lines } from "./berth.ts"
import { invoke } from "./invoke.ts"
import { type ChangeLie, type ListLie, LyingService, type OneLie } from "./LyingService.ts"
import { serve } from "./ScriptedServer.ts"
import { stateFolder } from "./stateFolder.ts"

const account = { BERTH_API_KEY: "key-of-a-test", BERTH_ACCESS_TOKEN: "token-of-a-test" }

/** Runs commands one after the other against a service. Returns how they ended, and the requests of the last command. */
const against = (
  answer: (request: Request) => Reply,
  commands: ReadonlyArray<ReadonlyArray<string>>,
  variables: Readonly<Record<string, string>> = {}
) =>
  Effect.gen(function* () {
    let requests: Array<Request> = []
    const url = yield* serve((request) => {
      requests.push(request)
      return answer(request)
    })
    let ended: Ended = { code: -1, stdout: "", stderr: "" }
    for (const args of commands) {
      requests = []
      ended = yield* invoke(args, { env: { ...account, ...variables, BERTH_BASE_URL: url } })
    }
    return { ...ended, requests, changes: requests.filter(({ method }) => method !== "GET") }
  }).pipe(Effect.scoped)

/** A service with these nodes. `own` may replace any of its replies. */
const withNodes =
  (
    nodes: ReadonlyArray<ReturnType<typeof nodeRecord>>,
    own: (request: Request) => Reply | undefined = () => undefined
  ) =>
  (request: Request): Reply => {
    const reply = own(request)
    if (reply !== undefined) return reply
    const { method, path, query } = request
    if (method !== "GET") return ok({})
    if (path.startsWith("/images")) return ok([])
    if (path === "/nodes/") {
      const [page, size] = [Number(query["page_no"] ?? 1), Number(query["per_page"])]
      return ok(nodes.slice((page - 1) * size, page * size))
    }
    const node = nodes.find(({ id }) => path === `/nodes/${id}/`)
    return node === undefined ? { status: 404, body: JSON.stringify({ code: 404 }) } : ok(node)
  }

const a = nodeRecord({ id: 1, name: "a" })
const b = nodeRecord({ id: 2, name: "b" })

describe("a reply about another node", () => {
  const mixedUp = withNodes([a, b], ({ method, path }) =>
    method === "GET" && path === "/nodes/1/" ? ok(b) : undefined
  )
  for (const args of [
    ["node", "delete", "1", "--yes"],
    ["node", "delete", "a", "--yes"],
    ["node", "delete", "1", "2", "--yes", "--dry-run"],
    ["commitment", "set", "1", "auto_terminate", "--yes"],
    ["commitment", "set", "a", "auto_terminate", "--yes"],
    ["node", "get", "1"],
    ["node", "ip", "1"],
    ["node", "wait", "1", "--timeout", "5s"]
  ]) {
    it.live(`ends berth ${args.join(" ")}, and nothing is sent for it`, () =>
      Effect.map(against(mixedUp, [args]), ({ changes, code, stderr, stdout }) => {
        assert.deepStrictEqual(changes, [])
        assert.notInclude(stdout, "203.0.113.7")
        assert.include([7, 9], code)
        assert.include(stderr, "expected node 1 at data.id, got 2.")
      })
    )
  }

  for (const args of [
    ["node", "delete", "1", "--yes"],
    ["commitment", "set", "1", "auto_terminate", "--yes"]
  ]) {
    it.live(`is no success of berth ${args.join(" ")}`, () =>
      Effect.map(
        against(
          withNodes([a, b], ({ method }) => (method === "GET" ? undefined : ok(b))),
          [args]
        ),
        ({ code, stderr, stdout }) => {
          assert.deepStrictEqual([code, stdout], [7, ""])
          assert.match(stderr, /hint: The service mixes up nodes/)
        }
      )
    )
  }
})

describe("a node that has another name when it is read by itself", () => {
  const renamed = withNodes([a, b], ({ method, path }) =>
    method === "GET" && path === "/nodes/1/" ? ok({ ...a, name: "production" }) : undefined
  )
  for (const args of [
    ["node", "delete", "a", "--yes"],
    ["node", "delete", "a*", "--yes"],
    ["commitment", "set", "a", "auto_terminate", "--yes"],
    ["node", "ip", "a"],
    ["node", "get", "a"],
    ["node", "wait", "a", "--timeout", "5s"],
    ["node", "wait", "a*", "--for", "power-off", "--timeout", "5s"],
    ["node", "wait", "a", "--for", "deleted", "--timeout", "5s"],
    ["node", "watch", "a", "--interval", "1s"],
    ["node", "watch", "a*", "--interval", "1s"]
  ]) {
    it.live(`is refused to berth ${args.join(" ")}`, () =>
      Effect.map(against(renamed, [args]), ({ changes, code, stderr, stdout }) => {
        assert.deepStrictEqual(changes, [])
        assert.strictEqual(code, 5, stderr)
        assert.notInclude(stdout, "203.0.113.7")
        assert.match(stdout + stderr, /Node 1 was listed as a\*?, but its name is production/)
      })
    )
  }

  it.live("is not waited for among several, which are read together", () => {
    const nodes = ["a", "b", "c", "d"].map((name, i) => nodeRecord({ id: i + 1, name }))
    const service = withNodes(nodes, ({ path }) =>
      path === "/nodes/1/" ? ok({ ...a, name: "production" }) : undefined
    )
    const command = ["node", "wait", "a", "b", "c", "d", "--timeout", "5s", "-o", "id"]
    return Effect.map(against(service, [command]), ({ code, stderr, stdout }) => {
      assert.deepStrictEqual([code, stdout], [9, "2\n3\n4\n"], stderr)
      assert.include(stderr, "Node 1 was listed as a, but its name is production")
    })
  })

  for (const command of [
    ["node", "wait", "web", "--timeout", "20s"],
    ["node", "watch", "web", "--interval", "1s"]
  ]) {
    it.live(`ends berth ${command.join(" ")} when it gets the name meanwhile`, () => {
      let reads = 0
      const starting = nodeRecord({ id: 1, name: "web", status: "created" })
      const service = withNodes([starting], ({ path }) =>
        path === "/nodes/1/" ? ok({ ...starting, name: ++reads > 1 ? "production" : "web" }) : undefined
      )
      return Effect.map(against(service, [command]), ({ code, stderr }) => {
        assert.strictEqual(code, 5, stderr)
        assert.include(stderr, "Node 1 was listed as web, but its name is production")
      })
    })
  }

  it.live("is followed by its id", () =>
    Effect.map(against(renamed, [["node", "wait", "1", "--timeout", "5s", "-o", "name"]]), ({ code, stdout }) => {
      assert.deepStrictEqual([code, stdout], [0, "production\n"])
    })
  )
})

describe("a name that has the characters of a pattern", () => {
  const nodes = withNodes([nodeRecord({ id: 1, name: "db[1]" }), nodeRecord({ id: 2, name: "db1" })])
  const starred = [nodeRecord({ id: 1, name: "x*" }), nodeRecord({ id: 2, name: "xy" })]

  it.live("names the node of that very name", () =>
    Effect.map(against(nodes, [["node", "delete", "db[1]", "--yes"]]), ({ changes, code }) => {
      assert.deepStrictEqual([code, changes.map(({ path }) => path)], [0, ["/nodes/1/"]])
    })
  )

  for (const given of ["db[1]", "{db1,web}", "name:x*"]) {
    it.live(`names no other when berth node delete ${given} runs again`, () => {
      const rest = [nodeRecord({ id: 2, name: "db1" }), nodeRecord({ id: 3, name: "web" })]
      const left = [...rest, nodeRecord({ id: 4, name: "xy" })]
      let isGone = false
      const service = (request: Request) => {
        const present = isGone ? left : [nodeRecord({ id: 1, name: given.replace("name:", "") }), ...left]
        isGone ||= request.method === "DELETE"
        return withNodes(present)(request)
      }
      const command = ["node", "delete", given, "--ignore-not-found", "--yes", "-o", "json"]
      return Effect.map(against(service, [command, command]), ({ changes, code, stderr, stdout }) => {
        assert.deepStrictEqual([code, changes], [0, []], stderr)
        assert.isTrue(isGone)
        assert.include(stdout, '"absent"')
      })
    })
  }

  for (const present of [starred, starred.slice(0, 1)]) {
    it.live(`is refused as a pattern to a change of ${present.length} nodes that it fits`, () =>
      Effect.map(against(withNodes(present), [["node", "delete", "x*", "--yes"]]), ({ changes, code, stderr }) => {
        assert.deepStrictEqual([code, changes], [2, []])
        assert.include(stderr, "x* is both a pattern and the name of a node: 1 (running).")
        assert.include(
          stderr,
          "hint: For the node with exactly this name write 'name:x*', for all that match write 'pattern:x*'."
        )
      })
    )
  }

  for (const [given, expected] of [
    ["pattern:x*", ["/nodes/1/", "/nodes/2/"]],
    ["name:x*", ["/nodes/1/"]],
    ["pattern:x[y]", ["/nodes/2/"]],
    ["pattern:{xy,web}", ["/nodes/2/"]]
  ] as const) {
    it.live(`is what its prefix says: ${given}`, () =>
      Effect.map(against(withNodes(starred), [["node", "delete", given, "--yes"]]), ({ changes, code }) => {
        assert.deepStrictEqual([code, changes.map(({ path }) => path).toSorted()], [0, expected])
      })
    )
  }

  it.live("is one among all that match it where nodes are only read", () =>
    Effect.map(against(withNodes(starred), [["node", "get", "x*", "-o", "id"]]), ({ code, stdout }) => {
      assert.deepStrictEqual([code, stdout], [0, "1\n2\n"])
    })
  )

  it.live("of several nodes is ambiguous, as any name is", () =>
    Effect.map(
      against(withNodes([1, 2].map((id) => nodeRecord({ id, name: "web-*" }))), [["node", "delete", "web-*", "--yes"]]),
      ({ changes, code }) => assert.deepStrictEqual([code, changes], [2, []])
    )
  )

  for (const [given, hint] of [
    ["web-*", "for a node with exactly this name write 'name:web-*'"],
    ["web[1]", "for a pattern write 'pattern:web[1]'"]
  ] as const) {
    it.live(`and that no node has has the other reading in the hint: ${given}`, () =>
      Effect.map(against(nodes, [["node", "delete", given, "--yes"]]), ({ code, stderr }) => {
        assert.strictEqual(code, 4)
        assert.include(stderr, hint)
      })
    )
  }
})

describe("a list with a record that cannot be read", () => {
  const bad = (fields: Readonly<Record<string, unknown>>) => ({ ...nodeRecord({ id: 3, name: "c" }), ...fields })
  const warning =
    /^The list has records that cannot be read \(\S+\), and they are left out\. See them: berth api \/nodes\/$/

  for (const [what, record] of [
    ["a name that is no text", bad({ name: ["c"] })],
    ["no name", bad({ name: null })],
    ["no id", bad({ id: null })]
  ] as const) {
    it.live(`because it has ${what} is left out with one warning, and every other name works`, () =>
      Effect.gen(function* () {
        const service = withNodes([a, b, record as never])
        for (const args of [
          ["node", "list"],
          ["node", "get", "b"],
          ["node", "ip", "b"],
          ["node", "wait", "b"],
          ["node", "delete", "b", "--yes"],
          ["cost"]
        ]) {
          const { changes, code, stderr } = yield* against(service, [args])
          assert.strictEqual(code, 0, `${args.join(" ")}: ${stderr}`)
          assert.lengthOf(
            lines(stderr).filter((line) => warning.test(line)),
            1,
            args.join(" ")
          )
          assert.lengthOf(changes, args[1] === "delete" ? 1 : 0)
        }
      })
    )
  }

  it.live("is reported to a program, too, and fails where there is no other", () =>
    Effect.gen(function* () {
      const nameless = [a, b].map((node) => ({ ...node, name: null })) as never
      for (const args of [["node", "list"], ["node", "list", "--limit", "1"], ["cost"]]) {
        for (const format of ["json", "ndjson"]) {
          const some = yield* against(withNodes([a, bad({ name: null }) as never]), [[...args, "-o", format]])
          assert.strictEqual(some.code, 0)
          assert.lengthOf(lines(some.stderr), 1, some.stderr)
          assert.include(JSON.parse(some.stderr).warning.message, "records that cannot be read (name)")
          const none = yield* against(withNodes(nameless), [[...args, "-o", format]])
          assert.deepStrictEqual([none.code, none.stdout], [7, ""])
          assert.lengthOf(lines(none.stderr), 1, none.stderr)
          assert.include(
            JSON.parse(none.stderr).error.message,
            "expected a record that can be read at data, got 2 that cannot"
          )
        }
      }
    })
  )

  it.live("counts as a node of its name where a change is by that name", () =>
    Effect.gen(function* () {
      const twin = bad({ name: ["b"] })
      // A read by id shows the whole record, so two nodes are named b.
      const whole = nodeRecord({ id: 3, name: "b" })
      const service = withNodes([a, b, twin as never], ({ path }) => (path === "/nodes/3/" ? ok(whole) : undefined))
      const two = yield* against(service, [["node", "delete", "b", "--yes"]])
      assert.deepStrictEqual([two.code, two.changes], [2, []])
      assert.include(two.stderr, "2 nodes are named b: 2 (running), 3 (running).")
      // A record without an id cannot be read by itself, so nobody knows which node it is.
      const idless = bad({ name: "b", id: null })
      const unread = yield* against(withNodes([a, b, idless as never]), [["node", "delete", "b", "--yes"]])
      assert.deepStrictEqual([unread.code, unread.changes], [7, []])
      // The same holds if nothing in the record is readable. The hint names a way to continue.
      const junk = yield* against(withNodes([a, b, null as never]), [["node", "delete", "b", "--yes"]])
      assert.deepStrictEqual([junk.code, junk.changes], [7, []])
      assert.include(junk.stderr, "use the id of the one that you mean")
      const byId = yield* against(withNodes([a, b, null as never]), [["node", "delete", "2", "--yes"]])
      assert.deepStrictEqual([byId.code, byId.changes.map(({ path }) => path)], [0, ["/nodes/2/"]])
    })
  )

  it.live("is no reason to create a node that exists", () =>
    Effect.gen(function* () {
      const order = ["--plan", "C-4VCPU-16RAM-100DISK", "--image", "Ubuntu-22.04", "--force", "--yes", "--if-absent"]
      const record = bad({ name: null })
      const { changes, code } = yield* against(withNodes([a, b, record as never]), [
        ["node", "create", "web", ...order]
      ])
      assert.deepStrictEqual([code, changes], [7, []])
    })
  )

  it.live("without a plan it is neither the wanted node nor one to delete", () =>
    Effect.gen(function* () {
      const order = ["--plan", "C-4VCPU-16RAM-100DISK", "--image", "Ubuntu-22.04", "--force", "--yes", "--if-absent"]
      const { changes, code, stderr } = yield* against(withNodes([nodeRecord({ id: 7, name: "web", plan: null })]), [
        ["node", "create", "web", ...order]
      ])
      assert.deepStrictEqual([code, changes], [5, []], stderr)
      assert.include(stderr, "it is not known whether its plan is C-4VCPU-16RAM-100DISK")
      assert.notInclude(stderr, "delete")
    })
  )
})

describe("a service that sends page 1 whatever page is asked for", () => {
  const nodes = Array.from({ length: 150 }, (_, i) => nodeRecord({ id: i + 1, name: `n${i + 1}` }))
  const honest = withNodes(nodes)
  const endless =
    (first: ReadonlyArray<unknown>) =>
    (request: Request): Reply =>
      request.method === "GET" && request.path === "/nodes/" ? ok(first) : honest(request)
  const pages = {
    "whose records can be read": endless(nodes.slice(0, 100)),
    "one of whose records cannot be read": endless([{ ...nodes[0], name: null }, ...nodes.slice(1, 100)])
  }

  for (const [which, service] of Object.entries(pages)) {
    it.live(`and ${which} is reported where nodes are shown`, () =>
      Effect.gen(function* () {
        for (const [command, format] of [
          ["node list", "table"],
          ["node list", "json"],
          ["node list", "ndjson"],
          ["node list", "yaml"],
          ["node list", "id"],
          ["cost", "csv"],
          ["cost", "json"]
        ] as const) {
          const { code, stderr } = yield* against(service, [[...command.split(" "), "-o", format]])
          assert.strictEqual(code, 0, stderr)
          const said = lines(stderr).filter((line) => line.includes("cannot be read to its end"))
          assert.lengthOf(said, 1, `${command} -o ${format}: ${stderr}`)
          if (!format.endsWith("json")) continue
          assert.lengthOf(lines(stderr), 1)
          assert.hasAllKeys(JSON.parse(stderr), ["warning"])
        }
      })
    )

    it.live(`and ${which} proves no absence`, () =>
      Effect.gen(function* () {
        const order = ["--plan", "C-4VCPU-16RAM-100DISK", "--image", "Ubuntu-22.04", "--force", "--yes", "--if-absent"]
        for (const args of [
          ["get", "n149"],
          ["ip", "n149"],
          ["delete", "n149", "--yes"],
          ["delete", "n149", "--yes", "--ignore-not-found"],
          ["delete", "n50", "--yes"],
          ["create", "n149", ...order]
        ]) {
          const { changes, code, stderr } = yield* against(service, [["node", ...args]])
          assert.deepStrictEqual([code, changes], [7, []], `${args.join(" ")}: ${stderr}`)
          assert.include(stderr, "cannot be read to its end")
        }
        const byId = yield* against(service, [["node", "delete", "149", "--yes"]])
        assert.deepStrictEqual([byId.code, byId.changes.map(({ path }) => path)], [0, ["/nodes/149/"]])
        assert.strictEqual((yield* against(service, [["node", "get", "n50"]])).code, 0)
      })
    )
  }
})

describe("a list that is none", () => {
  for (const data of [null, {}, "none", [null], [{ ...a, name: null }]]) {
    it.live(`${JSON.stringify(data)} is never an empty account`, () =>
      Effect.gen(function* () {
        const service = withNodes([], ({ path }) =>
          path === "/nodes/" || path.startsWith("/images") ? ok(data) : undefined
        )
        const order = ["--plan", "p", "--image", "i", "--force", "--yes", "--if-absent"]
        const lists = [["node", "list"], ["node", "list", "--page", "1"], ["cost"], ["node", "get", "none"]]
        for (const args of [...lists, ["node", "create", "web", ...order]]) {
          const { changes, code, stdout } = yield* against(service, [[...args, "-o", "json"]])
          assert.deepStrictEqual([code, stdout, changes], [7, "", []], args.join(" "))
        }
      })
    )
  }
})

describe("a change by a name", () => {
  /** Lists an account, then deletes by a name. Before the delete reads the list, a second node gets this name. */
  const afterRename = (size: number) =>
    Effect.gen(function* () {
      const cache = yield* stateFolder
      const nodes = Array.from({ length: size }, (_, i) =>
        nodeRecord({ id: i + 1, name: i === 9 ? "web" : `n${i + 1}` })
      )
      const service = withNodes(nodes)
      let lists = 0
      const answer = (request: Request) => {
        if (request.path === "/nodes/" && request.query["page_no"] === "1" && lists++ > 0) {
          nodes[49] = nodeRecord({ id: 50, name: "web" })
        }
        return service(request)
      }
      const commands = [
        ["node", "list", "-o", "id"],
        ["node", "delete", "web", "--yes"]
      ]
      return yield* against(answer, commands, { XDG_CACHE_HOME: cache, HOME: cache })
    }).pipe(Effect.scoped)

  for (const size of [60, 300, 990]) {
    it.live(`is proved to be of one node now, by the list of ${size} nodes`, () =>
      Effect.map(afterRename(size), ({ changes, code, requests, stderr }) => {
        assert.deepStrictEqual([code, changes], [2, []])
        assert.include(stderr, "2 nodes are named web: 10 (running), 50 (running).")
        assert.isAtMost(requests.length, 11)
      })
    )
  }

  it.live("is refused for want of a node only after the list was read, in an account of any size", () =>
    Effect.gen(function* () {
      const cache = yield* stateFolder
      const env = { XDG_CACHE_HOME: cache, HOME: cache }
      const order = ["--plan", "C-4VCPU-16RAM-100DISK", "--image", "Ubuntu-22.04", "--force", "--yes", "--if-absent"]
      const list = ["node", "list", "-o", "id"]
      /** A service that renames a node while the images are read. */
      const renaming = () => {
        const nodes = Array.from({ length: 1200 }, (_, i) => nodeRecord({ id: i + 1, name: `n${i + 1}` }))
        return withNodes(nodes, ({ path }) => {
          if (path.startsWith("/images")) nodes[4] = nodeRecord({ id: 5, name: "web" })
          return undefined
        })
      }
      const made = yield* against(renaming(), [list, ["node", "create", "web", ...order, "-o", "id"]], env)
      assert.deepStrictEqual([made.changes, made.stdout], [[], "5\n"], made.stderr)
      const deleting = [list, ["image", "list"], ["node", "delete", "web", "--yes"]]
      const deleted = yield* against(renaming(), deleting, env)
      assert.deepStrictEqual([deleted.code, deleted.changes.map(({ path }) => path)], [0, ["/nodes/5/"]])
    }).pipe(Effect.scoped)
  )
})

describe("whatever a service answers", () => {
  const names = ["a", "b", "db1", "db[1]", "2"]
  const gets: ReadonlyArray<OneLie> = [
    "honest",
    "another node",
    "another name",
    "no id",
    "no name",
    "another day",
    "nothing",
    "gone",
    "another status"
  ]
  const lists: ReadonlyArray<ListLie> = [
    "honest",
    "null",
    "an object",
    "empty with errors",
    "swapped names",
    "twins",
    "a bad record",
    "nameless",
    "junk"
  ]
  const changes: ReadonlyArray<ChangeLie> = ["honest", "another node", "another id", "empty"]
  const target = fc.constantFrom("1", "2", "3", "a", "b", "db1", "db[1]", "name:2", "db*")
  const order = ["--plan", "C-4VCPU-16RAM-100DISK", "--image", "Ubuntu-22.04", "--force", "--yes"]

  /** Whether a name matches the argument. */
  const asks = (given: string, name: string) =>
    given === "db*" ? name.startsWith("db") : name === given.replace(/^name:/, "")

  const run = (service: LyingService, args: ReadonlyArray<string>) =>
    Effect.runPromise(against(service.answer, [[...args, "-o", "json"]]))

  it("no DELETE or commitment is for a node that it did not say is the one", () =>
    fc.assert(
      fc.asyncProperty(
        fc.array(fc.constantFrom(...names), { minLength: 2, maxLength: 5 }),
        fc.record({
          get: fc.constantFrom(...gets),
          list: fc.constantFrom(...lists),
          change: fc.constantFrom(...changes),
          other: fc.nat(9)
        }),
        target,
        fc.boolean(),
        async (present, lies, given, isDelete) => {
          if (!isDelete && given === "db*") return
          const service = new LyingService(present, lies)
          const args = isDelete
            ? ["node", "delete", given, "--yes"]
            : ["commitment", "set", given, "auto_terminate", "--yes"]
          const { code, stdout } = await run(service, args)
          const { changes, listed, stated } = service.transcript
          for (const { id, statedAs } of changes) {
            // The service was asked for exactly this node, and its reply stated this id and name.
            assert.isDefined(statedAs, `${given} is ${id}`)
            if (/^\d+$/.test(given)) assert.strictEqual(id, Number(given))
            else {
              assert.isTrue(asks(given, statedAs!), `${given} is ${statedAs}`)
              // Every other node that has this name in the list was read, and showed another name or none.
              const name = given.replace(/^name:/, "")
              for (const [other, names] of listed) {
                if (given === "db*" || other === id || !names.has(name)) continue
                assert.isTrue(stated.has(other) && stated.get(other) !== name, `${given} is ${id}, and ${other}`)
              }
            }
          }
          if (given !== "db*") assert.isAtMost(changes.length, 1)
          if (changes.length === 0) assert.notStrictEqual(code, 0)
          else if (lies.change.startsWith("another")) {
            assert.notStrictEqual(code, 0)
            assert.notInclude(stdout, "deleting")
          }
        }
      ),
      { seed: 20_260_723, numRuns: isSoak ? 150 : 60 }
    ))

  it("reports no node as created that was not made, and makes no second node of a name", () =>
    fc.assert(
      fc.asyncProperty(
        fc.array(fc.constantFrom(...names), { minLength: 2, maxLength: 4 }),
        fc.record({
          get: fc.constantFrom(...gets),
          list: fc.constantFrom(...lists),
          change: fc.constant("honest" as const),
          other: fc.nat(9)
        }),
        fc.constantFrom("a", "new"),
        fc.boolean(),
        async (present, lies, name, ifAbsent) => {
          const service = new LyingService(present, lies)
          const args = ["node", "create", name, ...order, ...(ifAbsent ? ["--if-absent"] : [])]
          const { code, stdout } = await run(service, args)
          const { creates, listed } = service.transcript
          if (code === 0) {
            const made = JSON.parse(stdout) as { readonly id: number; readonly name: string; readonly outcome: string }
            assert.strictEqual(made.name, name)
            if (made.outcome === "created") assert.deepStrictEqual(creates, [{ id: made.id, name }])
          }
          if (ifAbsent && creates.length > 0) {
            for (const [id, names] of listed) {
              if (id !== creates[0]!.id && names.has(name))
                assert.notStrictEqual(service.transcript.stated.get(id), name)
            }
          }
        }
      ),
      { seed: 20_260_724, numRuns: isSoak ? 80 : 40 }
    ))
})
