/**
 * Parses the completion script for PowerShell, but does not run it, because Debian has no PowerShell. Needs a package registry, because the
 * parser comes from there.
 */
import { fileURLToPath } from "node:url"
import { Program } from "@berthkit/testing/Program"
import { assert, it } from "vitest"
import { install } from "../../document/installTools.ts"

const project = fileURLToPath(new URL("../powershell", import.meta.url))
const binary = fileURLToPath(new URL("../../../apps/cli/bin/berth.mjs", import.meta.url))

const parse = async (
  input: string
): Promise<{ readonly isValid: boolean; readonly commands: ReadonlyArray<string> }> => {
  await using parser = Program.ofNode(`${project}/parse.mjs`, [], { input })
  return JSON.parse(await parser.succeeded())
}

it("PowerShell can parse its completion script, which asks berth for the words", async () => {
  await install(project)
  await using berth = Program.ofNode(binary, ["completion", "powershell"])
  const script = await berth.succeeded()
  const { commands, isValid } = await parse(script)
  assert.isTrue(isValid)
  assert.includeMembers([...commands], ["Register-ArgumentCompleter", "berth"])
  assert.isFalse((await parse(script.replace("}", ""))).isValid)
})
