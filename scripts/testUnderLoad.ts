/**
 * `pnpm test:load [RUNS [ARGUMENT...]]`: repeats the test command, six times by default, while three busy loops slow the machine down.
 * Prints a line for each run, exits with 0 if all runs pass, and saves the output of a failed run in a file.
 */
import { spawn } from "node:child_process"
import { once } from "node:events"
import { createWriteStream } from "node:fs"
import { mkdtemp, readFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { stripVTControlCharacters } from "node:util"

const [given = "6", ...args] = process.argv.slice(2)
const runs = Number(given)
const loops = 3

const folder = await mkdtemp(join(tmpdir(), "berth-test-load-"))
const busy = Array.from({ length: loops }, () => spawn(process.execPath, ["-e", "for (;;);"], { stdio: "ignore" }))
const release = () => {
  for (const loop of busy) loop.kill("SIGKILL")
}
process.on("exit", release)
for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => process.exit(1))

let red = 0
for (let run = 1; run <= runs; run++) {
  const path = join(folder, `${run}.log`)
  const file = createWriteStream(path)
  const startedAt = performance.now()
  const command = [join(import.meta.dirname, "test.ts"), ...args]
  const child = spawn(process.execPath, command, { stdio: ["ignore", "pipe", "pipe"] })
  child.stdout.pipe(file, { end: false })
  child.stderr.pipe(file, { end: false })
  const [code] = (await once(child, "close")) as [number | null]
  file.end()
  await once(file, "close")
  const seconds = Math.round((performance.now() - startedAt) / 1000)
  const counts = /^ *Tests +(.*)$/m.exec(stripVTControlCharacters(await readFile(path, "utf8")))?.[1] ?? "no test ran"
  if (code !== 0) red++
  console.log(`run ${run} of ${runs}: ${code === 0 ? "green" : "red"}, ${counts}, ${seconds} s: ${path}`)
}
process.exitCode = red === 0 ? 0 : 1
process.exit()
