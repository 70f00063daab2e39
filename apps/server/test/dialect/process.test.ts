import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { run, serve } from "../cli/berthServer.ts"
import { callAs } from "../http/service.ts"
import { delhi } from "./today.ts"

describe.concurrent("berth-server --dialect today", () => {
  it.live("follows its switches, and keeps places in its state file", () =>
    Effect.gen(function* () {
      const folder = mkdtempSync(join(tmpdir(), "berth-today-"))
      yield* Effect.addFinalizer(() => Effect.sync(() => rmSync(folder, { recursive: true })))
      const state = ["--port", "0", "--state", join(folder, "worlds")]
      const flags = "--dialect today --list-dates --order descending --scenario small --clock frozen --catalogue whole"
      const first = yield* serve([...state, ...flags.split(" ")])
      const chennai = { ...delhi, location: "Chennai" }
      const query = { ...chennai, series: "C3", ram: 8, os: "Debian" }
      const [offer] = (yield* callAs(first.account, "GET", "/images/", { query })).json.data
      const body = { name: "kept-1", plan: offer.plan, image: offer.image }
      expect((yield* callAs(first.account, "POST", "/nodes/", { query: chennai, body })).status).toBe(200)
      const before = yield* callAs(first.account, "GET", "/nodes/", { query: delhi })
      expect(before.json.data.map(({ name }: { name: string }) => name)[0]).toBe("backup")
      expect(before.json.data[0].created_at).toBeDefined()
      yield* first.stop("SIGTERM")
      const second = yield* serve(state)
      expect((yield* callAs(second.account, "GET", "/nodes/", { query: delhi })).text).toBe(before.text)
      const { data } = (yield* callAs(second.account, "GET", "/nodes/", { query: chennai })).json
      expect(data).toMatchObject([{ name: "kept-1", plan: "C3.8GB" }])
    })
  )

  it.live("does not start with a switch of another dialect", () =>
    Effect.gen(function* () {
      for (const flags of [
        ["--list-dates"],
        ["--failures-with-200"],
        ["--paging", "ignored"],
        ["--order", "descending"]
      ]) {
        const { code, stderr } = yield* run(["--port", "0", ...flags])
        expect([code, stderr]).toEqual([2, `berth-server: ${flags[0]} needs --dialect today\n`])
      }
    })
  )
})
