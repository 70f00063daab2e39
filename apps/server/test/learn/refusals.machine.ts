import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { run } from "../cli/berthServer.ts"

const folder = mkdtempSync(join(tmpdir(), "berth-refusals-"))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const file = (name: string, text: string): string => {
  const path = join(folder, name)
  writeFileSync(path, text)
  return path
}

const huge = file("any.har", "{}")

const nowhere = { BERTH_BASE_URL: "", BERTH_API_KEY: "", BERTH_ACCESS_TOKEN: "" }

describe("what cannot be used is refused in one line, with 2", () => {
  it.effect.each<[string, ReadonlyArray<string>, RegExp]>([
    ["two kinds of it", ["learn", "--har", huge, "--probe"], /--har and --probe exclude each other/],
    ["a node without a probe", ["learn", "--har", huge, "--with-node"], /--with-node needs --probe/],
    ["a node without a limit", ["learn", "--probe", "--with-node"], /--with-node needs --max-charge/],
    ["no such file", ["learn", "--har", join(folder, "none.har")], /there is no such file/],
    ["a folder", ["learn", "--har", folder], /it is not a file/],
    [
      "a folder for the profile",
      ["learn", "--probe", "--profile", folder],
      /--profile: cannot write .*: it is not a file/
    ],
    ["no folder for the page", ["learn", "--probe", "--html", join(folder, "no/a.html")], /there is no such folder/],
    [
      "a damaged profile",
      ["--profile", file("bad.json", '{"format":"berth-profile/1","exchanges":-1}')],
      /it is damaged at /
    ],
    [
      "another file as a profile",
      ["--profile", file("other.json", '{"a":1}')],
      /it is not a profile of berth-server learn/
    ],
    [
      "a profile that is none, before anything is sent",
      ["learn", "--probe", "--check", join(folder, "other.json")],
      /it is not a profile/
    ]
  ])("%s", ([, args, sentence]) =>
    Effect.gen(function* () {
      const { code, stderr, stdout } = yield* run(args, nowhere)
      expect([code, stdout]).toEqual([2, ""])
      expect(stderr).toMatch(sentence)
      expect(stderr).toMatch(/^berth-server[^\n]*\n$/)
    })
  )
})
