import { mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { run, serve } from "../cli/berthServer.ts"

const folder = mkdtempSync(join(tmpdir(), "berth-learn-"))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const file = (name: string, text: string): string => {
  const path = join(folder, name)
  writeFileSync(path, text)
  return path
}

const huge = file("huge.har", "{")
truncateSync(huge, 500 * 1024 * 1024)

const nowhere = { BERTH_BASE_URL: "", BERTH_API_KEY: "", BERTH_ACCESS_TOKEN: "" }

describe("what cannot be used is refused in one line, with 2", () => {
  it.effect.each<[string, ReadonlyArray<string>, RegExp]>([
    ["no evidence", ["learn"], /learn needs evidence: add --har FILE, or --probe/],
    ["a file of 500 MB", ["learn", "--har", huge], /it has 500 MB; at most 64 MB are read/],
    [
      "a HAR that was cut off",
      ["learn", "--har", file("cut.har", '{"log":{"entries":[')],
      /it is not JSON, or it was cut off/
    ],
    [
      "a future profile",
      ["--profile", file("future.json", '{"format":"berth-profile/9"}')],
      /its format is berth-profile\/9/
    ],
    ["no address", ["learn", "--probe"], /BERTH_BASE_URL is not set/]
  ])("%s", ([, args, sentence]) =>
    Effect.gen(function* () {
      const { code, stderr, stdout } = yield* run(args, nowhere)
      expect([code, stdout]).toEqual([2, ""])
      expect(stderr).toMatch(sentence)
      expect(stderr).toMatch(/^berth-server[^\n]*\n$/)
    })
  )
})

describe("learning from the mock itself", () => {
  it.live(
    "asks about the project and the location of the flags where the service wants them, and says so without",
    () =>
      Effect.scoped(
        Effect.gen(function* () {
          const server = yield* serve(["--port", "0", "--dialect", "today"])
          const account = {
            BERTH_BASE_URL: server.ready.url,
            BERTH_API_KEY: "berth-key",
            BERTH_ACCESS_TOKEN: "berth-token",
            XDG_STATE_HOME: folder
          }
          const lost = yield* run(["learn", "--probe"], account)
          expect(lost.code).not.toBe(0)
          expect(lost.stderr).toMatch(/name the project and the location, --project NUMBER --location NAME\n$/)
          const place = ["--project", "7", "--location", "Delhi"]
          const learned = yield* run(["learn", "--probe", "-o", "json", ...place], account)
          expect([learned.code, learned.stderr]).toEqual([0, ""])
          expect(JSON.parse(learned.stdout).verdicts.confirmed).toBeGreaterThan(10)
        })
      )
  )

  it.live("refutes nothing, and the profile plays and checks", () =>
    Effect.scoped(
      Effect.gen(function* () {
        const server = yield* serve(["--port", "0", "--scenario", "fleet:130"])
        const account = {
          BERTH_BASE_URL: server.ready.url,
          BERTH_API_KEY: "berth-key",
          BERTH_ACCESS_TOKEN: "berth-token",
          XDG_STATE_HOME: folder
        }
        const [profile, html] = [join(folder, "own.json"), join(folder, "own.html")]
        const learned = yield* run(["learn", "--probe", "-o", "json", "--profile", profile, "--html", html], account)
        expect(learned.stderr).toBe("")
        const report = JSON.parse(learned.stdout)
        expect(report.verdicts).toMatchObject({ refuted: 0 })
        expect(report.verdicts.confirmed).toBeGreaterThan(40)
        expect(readFileSync(html, "utf8")).toMatch(/^<!doctype html>/)
        for (const text of [learned.stdout, readFileSync(profile, "utf8"), readFileSync(html, "utf8")]) {
          expect(text).not.toMatch(/berth-key|berth-token/)
        }
        const same = yield* run(["learn", "--probe", "--check", profile], account)
        expect([same.code, same.stderr]).toEqual([0, ""])

        const changed = JSON.parse(readFileSync(profile, "utf8"))
        changed.behaviour.paging.defaultSize = 25
        changed.behaviour.statuses.running = "ACTIVE"
        const moved = yield* run(["learn", "--probe", "--check", file("moved.json", JSON.stringify(changed))], account)
        expect(moved.code).toBe(11)
        expect(moved.stdout).toMatch(/paging\.defaultSize\n {2}before: 25\n {2}now: {4}20/)
        expect(moved.stderr).toMatch(
          /^berth-server: the service has changed .*: 2 differences in \d+ things compared\n$/
        )

        const player = yield* serve(["--port", "0", "--scenario", "fleet:130", "--profile", join(folder, "moved.json")])
        const reply = yield* Effect.promise(() =>
          fetch(`${player.ready.url}/myaccount/api/v1/nodes/?apikey=berth-key`, {
            headers: { authorization: "Bearer berth-token" }
          })
        )
        const { data } = (yield* Effect.promise(() => reply.json())) as any
        expect([data.length, data[0].status]).toEqual([25, "ACTIVE"])
        const description = yield* Effect.promise(() =>
          fetch(`${player.ready.url}/openapi.json`).then((found) => found.text())
        )
        expect(description).toMatch(/\(chosen: A7; confirmed by the profile\)/)
        expect(description).toMatch(/\(chosen: A16; open in the profile\)/)
        const page = yield* Effect.promise(() => fetch(`${player.ready.url}/docs`).then((found) => found.text()))
        expect(page).toMatch(/chosen: A7; confirmed by the profile/)
      })
    )
  )
})
