/** The help of every command: it fits the screen, and the commands that it shows can be typed. */
import { assert, describe, it } from "@effect/vitest"
import { flagsOf } from "../../src/commandLine/Parameter.ts"
import { isNoun, verbsOf } from "../../src/commandLine/CommandTree.ts"
import { helpOfGroup } from "../../src/commandLine/helpOf.ts"
import { globalFlagList } from "../../src/commandLine/globalFlags.ts"
import { helpText } from "@berthkit/terminal/helpText"
import { readRequest } from "../../src/commandLine/Request.ts"
import { readWords } from "../../src/commandLine/words.ts"
import { loadHelp, recordNamed } from "../../src/commands/describe.ts"
import { tree } from "../../src/commands/tree.ts"

const longest = (text: string) => Math.max(...text.split("\n").map((line) => line.length))

describe.each(verbsOf(tree).map(({ path, verb }) => [path.join(" "), path, verb] as const))(
  "berth %s",
  (name, path, verb) => {
    it("has help of at most 80 columns and one screen, with an example", async () => {
      const description = await loadHelp(path, verb)
      const text = helpText(description, false)
      assert.isAtMost(longest(text), 80)
      assert.isAtMost(text.split("\n").length, 60)
      assert.include(text, `berth ${name}`)
      assert.notMatch(text, / $/m)
      assert.isAtLeast(description.examples.length, 2)
      assert.isAtMost(description.examples.length, 3)
      assert.match(text, /\nGLOBAL FLAGS\n.*\n(?:  .*\n)*$/)
    })

    it("has no switch with a value, and no flag that is not described", async () => {
      const flags = flagsOf((await verb.load()).parameters)
      for (const flag of flags) assert.isNotEmpty(flag.description, flag.name)
      const grouped = Object.values(verb.groups).flat()
      assert.deepStrictEqual(
        grouped.filter((each) => !flags.some((flag) => flag.name === each)),
        []
      )
    })

    it("has examples that its parser knows", async () => {
      const flags = [...flagsOf((await verb.load()).parameters), ...globalFlagList]
      for (const { command } of verb.examples) {
        // Leave out the part before `berth`, as in `eval "$(berth …)"`, and replace a command that prints ids by one id.
        const own = command.startsWith("berth ")
          ? command.replace(/\$\(.*\)/, "1")
          : command.replace(/^.*\$\(|\).*$/g, "")
        const [program, ...args] = own.split(" | ")[0]!.split(" ")
        assert.strictEqual(program, "berth")
        const request = readRequest(tree, args)
        assert.strictEqual(request._tag === "Run" ? request.path.join(" ") : request._tag, name)
        if (request._tag === "Run") assert.isUndefined(readWords(request.args, flags).unknown, command)
      }
    })

    it("prints records that there are", async () => {
      for (const record of verb.prints) assert.isNotEmpty((await recordNamed(record)).fields([]))
    })
  }
)

describe("berth --help", () => {
  it("is at most 80 columns wide and names every command", () => {
    const text = helpText(helpOfGroup(tree, undefined), false)
    assert.isAtMost(longest(text), 80)
    for (const { name } of tree) assert.include(text, `  ${name} `)
  })
})

describe.each([undefined, ...tree.filter(isNoun)])("the help of %o", (noun) => {
  it("is at most 80 columns wide, has examples, and ends with the global flags", () => {
    const text = helpText(helpOfGroup(tree, noun), false)
    assert.isAtMost(longest(text), 80)
    assert.notMatch(text, / $/m)
    assert.match(text, /\nEXAMPLES\n(?:  .*\n)+\nOUTPUT FLAGS\n(?:  .*\n)+\nGLOBAL FLAGS\n(?:  .*\n)+$/)
  })
})

describe("what a command needs", () => {
  it("is marked in its help and stands in its usage, also where a terminal asks for it", async () => {
    for (const { path, verb } of verbsOf(tree)) {
      const { arguments: args, flagGroups, usage } = await loadHelp(path, verb)
      const flags = flagGroups.flatMap(({ flags }) => flags)
      for (const need of verb.needs) {
        assert.isTrue([...args, ...flags].find(({ name }) => name === need)?.required, need)
        assert.include(usage, need)
      }
      // A switch takes no value, so it has no placeholder for one.
      assert.notInclude(usage, "null")
    }
  })

  it("ends with the command line of another program, if it takes one", async () => {
    const usages = await Promise.all(
      verbsOf(tree)
        .filter(({ verb }) => verb.wraps)
        .map(async ({ path, verb }) => (await loadHelp(path, verb)).usage)
    )
    assert.deepStrictEqual(usages, [
      "berth node ssh NODE [flags] [-- COMMAND…]",
      "berth run --plan PLAN --image IMAGE [flags] -- COMMAND…"
    ])
  })
})
