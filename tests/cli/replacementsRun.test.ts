/**
 * A replacement was seen running, but may be off or gone after the run has waited for other things. The old node is deleted only if the
 * replacement still runs.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { type Altered, alteredService, days, plan } from "./AlteredService.ts"
import { hurriedFolderOf, rowsOf, webs } from "./fleet.ts"

const fleetOf = Effect.fnUntraced(function* (text: string) {
  const { account, service } = yield* alteredService
  const fleet = yield* hurriedFolderOf(account)
  fleet.write(text)
  assert.strictEqual((yield* fleet.apply("--yes", "--max-commitment", "9999")).code, 0)
  const deletes = () => service.requests.filter((request) => request.startsWith("DELETE ")).length
  return { service, fleet, deletes }
})

const bounds = ["--yes", "--max-deletes", "9", "--max-commitment", "9999", "-o", "json"]

const ends = [
  [
    "off",
    "is power-off now",
    (service: Altered, id: number) => void (service.nodes.find((node) => node.id === id)!.status = "power-off")
  ],
  [
    "gone",
    "can no longer be found",
    (service: Altered, id: number) =>
      void service.nodes.splice(
        service.nodes.findIndex((node) => node.id === id),
        1
      )
  ]
] as const

describe.each(ends)("a new node that is %s", (_, is, end) => {
  it.live("while its commitment is bought replaces nothing", () =>
    Effect.gen(function* () {
      const { deletes, fleet, service } = yield* fleetOf(webs(1, plan))
      fleet.write(webs(1, plan, `, tags: [b], commitment: auto_renew ${days}d`))
      service.onRequest = (request) => {
        if (request.startsWith("POST /update_committed")) end(service, 1001)
      }
      const ended = yield* fleet.apply("--replace", "all", ...bounds)
      assert.deepStrictEqual([ended.code, deletes()], [9, 0], ended.stderr)
      const message = `shop-web-1 (1001), which replaces shop-web-1 (1000), ${is}: shop-web-1 (1000) was not deleted.`
      assert.include(ended.stderr, `web-1: ${message}`)
      assert.deepStrictEqual(
        rowsOf(ended).flatMap(({ action, outcome, reason }) => (action === "replace" ? [[outcome, reason]] : [])),
        [["failed", message]]
      )
    }).pipe(Effect.scoped)
  )

  it.live("while another new node is awaited replaces no node of a renamed group", () =>
    Effect.gen(function* () {
      const { deletes, fleet, service } = yield* fleetOf(webs(2, plan))
      fleet.write(webs(2, plan).replace("web:", "api:"))
      service.statusOfNew = "created"
      const stateOf = (id: number) => service.nodes.find((node) => node.id === id)
      let isSeen = false
      service.onRequest = (request) => {
        if (service.nodes.length < 4) return
        const shows = (id: number) => request === "GET /nodes/" || request === `GET /nodes/${id}/`
        if (isSeen && shows(1003) && stateOf(1003)?.status === "created") {
          stateOf(1003)!.status = "running"
          end(service, 1002)
        } else if (!isSeen && shows(1002)) {
          stateOf(1002)!.status = "running"
          isSeen = true
        }
      }
      const ended = yield* fleet.apply(...bounds)
      assert.deepStrictEqual([ended.code, deletes()], [9, 0], ended.stderr)
      // The creates are sent together: either may have been the first.
      assert.match(
        ended.stderr,
        new RegExp(`shop-api-\\d \\(1002\\), which may replace shop-web-\\d \\(100\\d\\), ${is}`)
      )
      assert.deepStrictEqual(
        rowsOf(ended).flatMap(({ action, outcome, reason }) =>
          action === "delete" ? [[outcome, reason.replace(/\d/, "N")]] : []
        ),
        Array.from({ length: 2 }, () => ["skipped", "left, because api-N does not run"])
      )
    }).pipe(Effect.scoped)
  )
})

describe("a node that a person puts out of the file", () => {
  it.live("is deleted whatever else runs, if nothing may replace it", () =>
    Effect.gen(function* () {
      const { deletes, fleet, service } = yield* fleetOf(webs(1, plan))
      fleet.write(webs(2, plan))
      yield* fleet.apply("--yes")
      const requests = service.requests.length
      fleet.write(webs(1, plan))
      assert.strictEqual((yield* fleet.apply(...bounds)).code, 0)
      assert.strictEqual(deletes(), 1)
      assert.notInclude(service.requests.slice(requests), "GET /nodes/1000/")
    }).pipe(Effect.scoped)
  )
})
