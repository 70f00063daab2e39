import { spawnSync } from "node:child_process"
import { readdirSync, readFileSync } from "node:fs"
import { describe, expect, it } from "vitest"

const binaries = [
  { name: "berth", home: "apps/cli" },
  { name: "berth-server", home: "apps/server" },
  { name: "berth-watch", home: "apps/watch" }
]

/** Runs a binary on this Node, made to say that it is `version`. */
const onNode = (version: string, binary: string, argument = "--version") =>
  spawnSync(
    process.execPath,
    [
      "--import",
      `data:text/javascript,Object.defineProperty(process.versions,"node",{value:"${version}"})`,
      binary,
      argument
    ],
    { encoding: "utf8", timeout: 20_000 }
  )

describe.each(binaries)("$name", ({ name, home }) => {
  const binary = `${home}/bin/${name}.mjs`

  it.each(["12.22.12", "20.20.2", "22.18.0"])("on Node %s says in one line what it needs, and exits 1", (version) => {
    const { status, stdout, stderr } = onNode(version, binary)
    expect({ status, stdout, stderr }).toEqual({
      status: 1,
      stdout: "",
      stderr: `${name} needs Node 22.19 or newer; this is Node ${version}.\n`
    })
  })

  it.each(["22.19.0", "24.0.0", "26.10.0"])("on Node %s starts", (version) => {
    const { status, stdout, stderr } = onNode(version, binary)
    expect({ status, stderr }).toEqual({ status: 0, stderr: "" })
    expect(stdout).toMatch(/\d+\.\d+\.\d+/)
  })

  it("keeps its compiled code for the next start", () => {
    onNode(process.versions.node, binary, "--help")
    expect(readdirSync(`${home}/dist/compiled`)).not.toEqual([])
  })

  it("compiles its schemas: bundling keeps the import that is there for its effect only", () => {
    // The call `effect/schema/SchemaJITCompiler/enable` consists of; bundles keep names.
    expect(readFileSync(`${home}/dist/main.mjs`, "utf8")).toMatch(/\binstall\(\(ast,resolve\)=>/)
  })
})
