// Parses PowerShell code from stdin. Prints whether it has errors, and the commands that it calls.
import { text } from "node:stream/consumers"
import { fileURLToPath } from "node:url"
import { Language, Parser } from "web-tree-sitter"

await Parser.init()
const parser = new Parser()
const grammar = new URL("tree-sitter-powershell.wasm", import.meta.resolve("tree-sitter-powershell/package.json"))
parser.setLanguage(await Language.load(fileURLToPath(grammar)))
const { rootNode } = parser.parse(await text(process.stdin))
const commands = rootNode.descendantsOfType("command_name").map((node) => node.text)
process.stdout.write(JSON.stringify({ isValid: !rootNode.hasError, commands }))
