import { assert, describe, it } from "@effect/vitest"
import { namingAccount } from "../../src/commandLine/commandToType.ts"
import { tree } from "../../src/commands/tree.ts"

const commands = tree.map(({ name }) => name)
const flags = { profile: "work", baseUrl: "http://host:1", allowHttp: true }

describe("a hint", () => {
  it.each([
    [
      "To continue waiting: berth node wait 7; to remove it: berth node delete 7",
      "To continue waiting: berth --profile work --base-url http://host:1 --allow-http node wait 7; to remove it: berth --profile work --base-url http://host:1 --allow-http node delete 7"
    ],
    ["See: berth limits", "See: berth --profile work --base-url http://host:1 --allow-http limits"]
  ])("names the account that the command line names: %s", (hint, expected) => {
    assert.strictEqual(namingAccount(flags, commands)(hint), expected)
  })

  it.each([
    "See berth node create --help.",
    "Name one: berth auth logout --profile NAME; see berth profile list.",
    "For example: berth schema node list; berth --help lists the commands."
  ])("about what is the same for every account stays as it is: %s", (hint) => {
    assert.strictEqual(namingAccount(flags, commands)(hint), hint)
  })

  it.each([
    ["postgres://ci@db/ci", "Run: berth --state-url postgres://ci@db/ci state migrate"],
    ["postgres://ci:hunter2@db/ci", "Run: berth state migrate"],
    ["postgres://ci:hunter2", "Run: berth state migrate"]
  ])("names the database of the command line, unless it may contain a password: %s", (stateUrl, expected) => {
    assert.strictEqual(namingAccount({ stateUrl }, commands)("Run: berth state migrate"), expected)
  })

  it("leaves a node's name as it is, whatever it holds", () => {
    const hint = "To continue waiting: berth node wait 'berth node '\\''x' --for running"
    assert.strictEqual(
      namingAccount({ profile: "a b", baseUrl: undefined, allowHttp: false }, commands)(hint),
      "To continue waiting: berth --profile 'a b' node wait 'berth node '\\''x' --for running"
    )
  })

  it("stays unchanged if the command line names no account", () => {
    const hint = "List the nodes: berth node list"
    assert.strictEqual(
      namingAccount({ profile: undefined, baseUrl: undefined, allowHttp: false }, commands)(hint),
      hint
    )
  })
})
