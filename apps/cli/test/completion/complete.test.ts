import { assert, describe, it } from "@effect/vitest"
import { verbsOf } from "../../src/commandLine/CommandTree.ts"
import { loadHelp } from "../../src/commands/describe.ts"
import { tree } from "../../src/commands/tree.ts"
import { complete, completionLines, joined } from "../../src/completion/complete.ts"

const described = Object.fromEntries(
  await Promise.all(verbsOf(tree).map(async ({ path, verb }) => [path.join(" "), await loadHelp(path, verb)] as const))
)
const at = (line: string) => complete(tree, (path) => described[path], joined(line.split(" ")))
const values = (line: string) =>
  completionLines(at(line), [], "zsh")
    .split("\n")
    .slice(0, -1)
    .map((each) => each.split("\t")[0])

describe("completions", () => {
  it.each<[string, ReadonlyArray<string>]>([
    ["pl", ["plan"]],
    ["node de", ["delete"]],
    ["-o json node de", ["delete"]],
    ["--profile node node de", ["delete"]],
    ["node list --statu", ["--status"]],
    ["node list --status ru", ["running"]],
    ["node list --status=ru", ["--status=running"]],
    ["node list -o nd", ["ndjson"]],
    ["node ls --status ru", ["running"]],
    ["node wait web --for del", ["deleted"]],
    ["commitment set 7 auto_t", ["auto_terminate"]],
    ["completion f", ["fish"]],
    ["schema no", ["node"]],
    ["schema node li", ["list"]],
    ["help no", ["node"]],
    ["help node li", ["list"]],
    ["help node list ", []],
    ["help node list --statu", ["--status"]],
    ["node list --status running,power", ["running,power-off"]],
    ["node list --status=running,te", ["--status=running,terminate"]],
    ["node list --columns na", ["name"]],
    ["node list --columns id,na", ["id,name"]],
    ["node list --columns id,i", ["id,image"]],
    ["node list --columns al", ["all"]],
    ["node list --sort al", []],
    ["node list --sort ag", []],
    ["node list --columns ag", ["age"]],
    ["node list --sort -cre", ["-created"]],
    ["node list --sort=-created,na", ["--sort=-created,name"]],
    [
      "node list --sort name,-",
      values("node list --sort ")
        .filter((n) => n !== "name")
        .map((n) => `name,-${n}`)
    ],
    ["node watch --columns fr", ["from"]],
    ["completion bash --columns ", []],
    ["node list -- --statu", []]
  ])("of berth %s are %j", (line, expected) => assert.deepStrictEqual(values(line), Array.from(expected)))

  it.each([
    ["node get ", "nodes"],
    ["node get a ", "nodes"],
    ["commitment set ", "nodes"],
    ["plan get ", "plans"],
    ["node create --image ", "images"],
    ["node list --plan=", "plans"],
    ["node list --profile ", "profiles"],
    ["profile use ", "profiles"]
  ])("of berth %sare read: %s", (line, kind) => assert.strictEqual(at(line).dynamic, kind))

  it("are files where a file is taken", () => assert.strictEqual(values("api POST /nodes/ -d ")[0], ":files"))

  it("do not offer a flag again, unless it is repeatable", () => {
    assert.notInclude(values("node list --status running --"), "--status")
    assert.notInclude(values("node list -ojson --"), "--output")
    assert.include(values("node create --tag a --"), "--tag")
  })

  it("of bash leave out the text before the =, which bash keeps", () => {
    const split = complete(tree, (path) => described[path], joined(["node", "list", "--output", "=", "js"]))
    assert.strictEqual(completionLines(split, [], "bash"), "json\t\n")
    assert.strictEqual(completionLines(split, [], "fish"), "--output=json\t\n")
  })

  it("of a list begin in PowerShell behind the comma, which is where it inserts them", () => {
    assert.strictEqual(completionLines(at("node list --columns id,na"), [], "powershell"), "name\t\n")
    assert.strictEqual(completionLines(at("node list --columns id,na"), [], "bash"), "id,name\t\n")
  })

  it("offer no name that holds a control character or turns the direction of writing", () => {
    const names = ["web", "a\nb", "a\u001b[31m", "a\u202eb", ""].map((value) => ({ value, description: "7,\nrunning" }))
    assert.strictEqual(completionLines(at("node get "), names, "zsh"), "web\t7, running\n")
  })

  it("describe a node without the control characters of a status that is not known", () => {
    const nodes = [{ value: "web", description: "7, \u001b]0;x\u0007re\u202ebuilding\n" }]
    assert.strictEqual(completionLines(at("node get "), nodes, "zsh"), "web\t7, ]0;x re building \n")
  })
})
