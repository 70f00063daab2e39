import { assert, describe, it } from "@effect/vitest"
import { noun, verb } from "../../src/commandLine/CommandTree.ts"
import { rawFlags } from "../../src/commandLine/words.ts"
import { readRequest } from "../../src/commandLine/Request.ts"

const load = () => Promise.resolve()
const tree = [
  noun("node", "Nodes", [verb("list", "List", load, { aliases: ["ls"] }), verb("delete", "Delete", load)]),
  verb("api", "Any request", load),
  verb("completion", "Print a script", load)
]
const asked = (line: string) => {
  const request = readRequest(tree, line === "" ? [] : line.split(" "))
  switch (request._tag) {
    case "Run":
      return `run ${request.path.join(" ")}: ${request.args.join(" ")}`
    case "Help":
      return `help ${request.place.path.join(" ")}`.trim()
    case "UnknownCommand":
      return `${request.word}? ${request.suggestions.join(", ")}`.trim()
    case "UnknownFlag":
      return `${request.written}?`
    case "NoCommand":
      return `nothing of ${request.path.join(" ")}`
    case "Version":
      return "version"
  }
}

describe("a command line asks for", () => {
  it.each([
    ["node list --limit 3", "run node list: --limit 3"],
    ["node ls", "run node list: "],
    ["-o json node list", "run node list: -o json"],
    ["--profile node node list", "run node list: --profile node"],
    ["node -o json list x", "run node list: -o json x"],
    ["api GET /nodes/", "run api: GET /nodes/"],
    ["node list -- --help", "run node list: -- --help"],
    ["", "help"],
    ["--help", "help"],
    ["help", "help"],
    ["node --help", "help node"],
    ["node list --limit --help", "help node list"],
    ["node list -h", "help node list"],
    ["help node list", "help node list"],
    ["help node", "help node"],
    ["help api", "help api"],
    ["version", "version"],
    ["-V", "version"],
    ["--version", "version"],
    ["node", "nothing of node"],
    ["-o json", "nothing of"],
    ["nod list", "nod? node"],
    ["node lst", "lst? list"],
    ["node remove 1", "remove? delete"],
    ["ls", "ls? node list"],
    ["frobnicate", "frobnicate?"],
    ["--completions zsh", "run completion: zsh"],
    ["--completions=bash", "run completion: bash"],
    ["--debug --completions fish", "run completion: --debug fish"],
    ["--completions", "run completion:"],
    ["--completions --help", "help completion"],
    ["node --completions bash", "bash?"],
    ["--api-key=s3cr3t node list", "--api-key?"],
    ["--api-key s3cr3t node list", "--api-key?"]
  ])("berth %s: %s", (line, expected) => assert.strictEqual(asked(line).trim(), expected.trim()))
})

describe("global flags of a line that cannot be parsed", () => {
  it.each([
    ["-o json nod", "json"],
    ["-ojson", "json"],
    ["-o=json", "json"],
    ["api -iojson /nodes", "json"],
    ["node delete -yo json 1", "json"],
    ["--output json --output=yaml", "yaml"],
    ["node list -- -o json", undefined],
    ["--output", undefined]
  ])("%s: %s", (line, output) => assert.strictEqual(rawFlags(line.split(" ")).output, output))

  it.each([
    ["--quiet", true],
    ["--quiet=yes", true],
    ["--quiet=1", true],
    ["--quiet=off", false],
    ["--quiet=perhaps", false],
    ["node list", false]
  ])("%s: %s", (line, quiet) => assert.strictEqual(rawFlags(line.split(" ")).quiet, quiet))
})
