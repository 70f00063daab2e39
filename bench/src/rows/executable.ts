/** Compares the single-file program with the Node inside it: how much larger it is, and how much longer it takes to start. */
import { mkdtempSync, rmSync, statSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { buildExecutables } from "@berthkit/scripts/executables"
import { wallMillis } from "../processes.ts"
import { ratioAtMost, type Row } from "../Row.ts"

const build = async () => {
  const folder = mkdtempSync(join(tmpdir(), "berth-executable-"))
  const [path = ""] = await buildExecutables(folder, ["cli"])
  return { path, close: async () => rmSync(folder, { recursive: true, force: true }) }
}

/** The size of the file; it does not change, so one pair is enough. */
export const executableSizeRow = async (): Promise<Row> => {
  const { close, path } = await build()
  return {
    name: "size of the executable",
    subject: "berth",
    baseline: "node",
    unit: "MiB",
    targets: [ratioAtMost(1.03)],
    pairs: 1,
    measure: () => ({ subject: statSync(path).size / 2 ** 20, baseline: statSync(process.execPath).size / 2 ** 20 }),
    close
  }
}

/** `berth --version` from start to exit. */
export const executableStartRow = async (): Promise<Row> => {
  const { close, path } = await build()
  const measure = () => ({ subject: wallMillis(["--version"], path), baseline: wallMillis(["-e", "0"]) })
  measure() // reads the file into the page cache
  return {
    name: "start of the executable",
    subject: "berth --version",
    baseline: "node -e 0",
    unit: "ms",
    // This loads the whole program, unlike the launcher of the package, which answers without it.
    targets: [ratioAtMost(4)],
    pairs: 21,
    measure,
    close
  }
}
