import { spawnSync } from "node:child_process"
import { describe, expect, it } from "vitest"

const binaries = ["apps/cli/bin/berth.mjs", "apps/server/bin/berth-server.mjs", "apps/watch/bin/berth-watch.mjs"]

/** Runs a binary on this Node, which says it is `version`. */
const onNode = (version: string, binary: string) =>
  spawnSync(
    process.execPath,
    [
      "--import",
      `data:text/javascript,Object.defineProperty(process.versions,"node",{value:"${version}"})`,
      binary,
      "--version"
    ],
    { encoding: "utf8", timeout: 20_000 }
  )

describe.each(binaries)("%s", (binary) => {
  it.each(["12.22.12", "20.20.2", "22.18.0"])(
    "on Node %s says in one line which Node it needs, and exits 1",
    (version) => {
      const { status, stdout, stderr } = onNode(version, binary)
      const name = /([\w-]+)\.mjs$/.exec(binary)?.[1]
      expect({ status, stdout, stderr }).toEqual({
        status: 1,
        stdout: "",
        stderr: `${name} needs Node 22.19 or newer; this is Node ${version}.\n`
      })
    }
  )

  it.each(["22.19.0", "24.0.0", "26.10.0"])("on Node %s starts", (version) => {
    const { status, stdout, stderr } = onNode(version, binary)
    expect({ status, stderr }).toEqual({ status: 0, stderr: "" })
    expect(stdout).toMatch(/\d+\.\d+\.\d+/)
  })
})
