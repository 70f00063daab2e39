import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { makeFolders } from "../../../src/client/files/StateFiles.ts"

/** A disk with folders. No folder can be made below `sealed`: `mkdir` reports that the parent does not exist. */
const makeDisk = (present: ReadonlyArray<string>, sealed = "-") => {
  const folders = new Set(present)
  const mkdir = (folder: string) =>
    Effect.suspend(() => {
      const above = folder.replace(/[\\/][^\\/]*$/, "")
      if (folders.has(folder)) return Effect.fail("EEXIST")
      if (!folders.has(above) || above === sealed) return Effect.fail("ENOENT")
      return Effect.sync(() => void folders.add(folder))
    })
  return { folders, make: (folder: string) => makeFolders(folder, mkdir, (error) => error) }
}

describe("folders", () => {
  for (const [wanted, present] of [
    ["/home/ada/.local/state/berth", ["", "/home", "/home/ada"]],
    ["C:\\Users\\ada\\AppData/accounts/1", ["C:", "C:\\Users"]],
    ["state/berth", ["", "state"]]
  ] as const) {
    it.effect(`are made with the missing ones above them: ${wanted}`, () =>
      Effect.gen(function* () {
        const { folders, make } = makeDisk(present)
        yield* make(wanted)
        assert.isTrue(folders.has(wanted))
        const all = folders.size
        yield* make(wanted)
        assert.strictEqual(folders.size, all)
      })
    )
  }

  it.effect("that cannot be made, although the one above them exists, fail", () =>
    Effect.gen(function* () {
      const { make } = makeDisk(["", "/proc"], "/proc")
      assert.strictEqual(yield* Effect.flip(make("/proc/nope/berth/accounts")), "ENOENT")
    })
  )

  it.effect("without any existing folder above them fail, too", () =>
    Effect.gen(function* () {
      assert.strictEqual(yield* Effect.flip(makeDisk([]).make("/state/berth")), "ENOENT")
      assert.strictEqual(yield* Effect.flip(makeDisk([]).make("berth")), "ENOENT")
    })
  )
})
