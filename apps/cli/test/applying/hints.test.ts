/**
 * Checks that every flag in the hints of a failed apply exists: it belongs to the command that it follows, or to apply itself.
 */
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { assert, describe, it } from "@effect/vitest"
import { BerthError } from "@berthkit/core/domain/BerthError"
import * as reasons from "@berthkit/core/domain/ErrorReason"
import { Effect } from "effect"
import { problemOfMember } from "../../src/applying/memberProblem.ts"
import { verbsOf } from "../../src/commandLine/CommandTree.ts"
import { globalFlags } from "../../src/commandLine/globalFlags.ts"
import { flagsOf } from "../../src/commandLine/Parameter.ts"
import { inOwnWords } from "../../src/failure/ownKey.ts"
import { problemOf } from "../../src/failure/Problem.ts"
import { tree } from "../../src/commands/tree.ts"

const ofAll = [...Object.values(globalFlags).map(({ name }) => name), "help", "version"]

/** The flags of every command, by its words. */
const tables = Effect.promise(async () => {
  const found = new Map<string, ReadonlyArray<string>>()
  for (const { path, verb } of verbsOf(tree)) {
    const { parameters } = await verb.load()
    found.set(path.join(" "), [...flagsOf(parameters).map(({ name }) => name), ...ofAll])
  }
  return found
})

/** The flags in a string that their command does not have. A flag before any command counts as a flag of `own`. */
const faultsOf = (
  text: string,
  own: string,
  found: ReadonlyMap<string, ReadonlyArray<string>>
): ReadonlyArray<string> => {
  const faults: Array<string> = []
  // A command owns the flags up to the end of the sentence. Before other words, `berth` means the program.
  for (const sentence of text.split(/(?<=[.;:,)])\s/)) {
    const [before = "", ...after] = sentence.split(/\bberth (?=[a-z])/)
    const parts = after.map((part) => {
      const words = part.replaceAll(/[.;:,)]+(?=\s|$)/g, "").split(" ")
      return [part, [2, 1].map((length) => words.slice(0, length).join(" ")).find((name) => found.has(name))] as const
    })
    for (const [part, command = own] of [[before, own] as const, ...parts]) {
      for (const [, flag = ""] of part.matchAll(/--([a-z][a-z-]+)/g)) {
        if (!found.get(command)!.includes(flag)) faults.push(`berth ${command} --${flag}`)
      }
    }
  }
  return faults
}

/** Fields for every reason: all that its messages may need. */
const fields: Readonly<Record<string, unknown>> = {
  detail: "it failed",
  status: 422,
  nodeId: 7,
  retryAfterMillis: 1000,
  predictedMillis: 1000,
  leftMillis: 10,
  heldBack: null,
  sent: "maybe",
  limit: "deadline",
  afterMillis: 1000,
  wanted: "running",
  last: "creating",
  seen: ["creating"],
  impossible: false,
  waitedMillis: 1000,
  failure: null,
  refillsInMillis: 1000,
  nodeName: "shop-web-1",
  toldId: null,
  candidates: [],
  listRead: true,
  listFault: null,
  because: "the reply was lost",
  expected: "a record of at most maxBodyBytes",
  path: "/state",
  code: null,
  fields: {}
}

const variants = [
  {},
  { keyed: true },
  { keyed: true, toldId: 9 },
  { keyed: false },
  { candidates: [8], keyed: false },
  { fields: { key: ["it belongs to another create"] }, status: null },
  { code: "ENOSPC" },
  { code: "EMFILE" },
  { code: "EACCES" },
  { path: null }
]

/** Each reason, in each variant, of each operation. */
const errors = () => {
  const classes = Object.values(reasons).filter(
    (member): member is never => typeof member === "function" && (member as Function).prototype instanceof Error
  )
  assert.isAbove(classes.length, 15)
  return (classes as ReadonlyArray<new (fields: unknown) => never>).flatMap((reason) =>
    variants.flatMap((variant) =>
      ["nodes.create", "nodes.delete", "nodes.get", "nodes.list", "commitments.set"].map(
        (operation) => new BerthError({ operation, reason: new reason({ ...fields, ...variant }), attempts: [] })
      )
    )
  )
}

/** Advice about the key of a create, which the user of a fleet never sees. */
const ofAKey = /same key|another key|create it again/i

describe("the hint of a failed member", () => {
  it.effect("names only flags that exist", () =>
    Effect.gen(function* () {
      const found = yield* tables
      for (const error of errors()) {
        const { hint, message } = problemOfMember("web-1", error)
        assert.deepStrictEqual(faultsOf(`${message} ${hint}`, "apply", found), [], `${message} ${hint}`)
        assert.notMatch(hint, ofAKey)
      }
    })
  )
})

describe("the hint of a failed command that chooses its keys", () => {
  for (const name of ["run", "apply", "destroy", "diff"]) {
    it.effect(`names only flags that exist: berth ${name}`, () =>
      Effect.gen(function* () {
        const found = yield* tables
        for (const error of errors()) {
          const { hint, message } = problemOf(inOwnWords(error))
          assert.deepStrictEqual(faultsOf(`${message} ${hint}`, name, found), [], `${message} ${hint}`)
          assert.notMatch(hint, ofAKey)
        }
      })
    )
  }
})

describe("what apply and its companions say", () => {
  it.effect("names only flags that exist", () =>
    Effect.gen(function* () {
      const found = yield* tables
      const source = fileURLToPath(new URL("../../src/", import.meta.url))
      const said = ["applying", "fleet", "commands/apply", "commands/fleet"].flatMap((folder) =>
        readdirSync(join(source, folder)).flatMap((name) => {
          const text = readFileSync(join(source, folder, name), "utf8").replaceAll(/^\s*(?:\/\*\*|\*|\/\/).*$/gm, "")
          // Strings in quotes, without the values that they interpolate.
          return Array.from(text.matchAll(/"(?:[^"\\\n]|\\.)*"|`(?:[^`\\]|\\.)*`/g), ([quoted]) =>
            quoted
              .slice(1, -1)
              .replaceAll(/\$\{(?:flag|place\.flag)\}/g, "")
              .replaceAll(/\$\{[^}]*\}/g, "X")
              .replaceAll("`", "")
          )
        })
      )
      const sentences = said.filter((text) => /--[a-z]|\bberth [a-z]/.test(text))
      assert.isAbove(sentences.length, 25)
      assert.deepStrictEqual(
        sentences.flatMap((text) => faultsOf(text, "apply", found).map((fault) => `${fault} in: ${text}`)),
        []
      )
    })
  )
})
