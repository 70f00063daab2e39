// What the steps of the action share: the inputs as a runner passes them, the files of a job, and `berth` with the account's credentials.
import { readFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"

const pollMillis = 200

/** An input of the action; empty where it is not given. */
export const input = (name) => (process.env[`INPUT_${name.replaceAll(" ", "_").toUpperCase()}`] ?? "").trim()

/** Where runners keep what belongs to a job. */
export const temporary = process.env.RUNNER_TEMP || tmpdir()

/** The files of one use of the action, in a folder of its own. */
export const filesIn = (folder) => ({
  folder,
  /** The number of the process of `berth run`. */
  pid: join(folder, "pid"),
  /** What berth says. */
  log: join(folder, "log"),
  /** The node, once it runs. */
  node: join(folder, "node.json"),
  /** Made when the job has ended. */
  done: join(folder, "done")
})

/** The environment of `berth`: inputs over that of the job. Other programs of the job get none of it. */
export const environment = () => {
  const set = { BERTH_BASE_URL: "base-url", BERTH_API_KEY: "api-key", BERTH_ACCESS_TOKEN: "access-token" }
  const given = Object.entries(set).flatMap(([variable, name]) => (input(name) === "" ? [] : [[variable, input(name)]]))
  // Inputs of a step are variables, too: nothing that berth starts gets the secrets among them.
  const rest = Object.entries(process.env).filter(([name]) => !/^INPUT_(?:API-KEY|ACCESS-TOKEN)$/.test(name))
  return { ...Object.fromEntries(rest), ...Object.fromEntries(given) }
}

/** The text of a file; undefined where it cannot be read. */
export const readOr = (path) => {
  try {
    return readFileSync(path, "utf8")
  } catch {
    return undefined
  }
}

/** Whether the process runs. One that has ended and that nobody has waited for does not. */
export const isRunning = (pid) => {
  const status = readOr(`/proc/${pid}/stat`)
  if (status !== undefined) return !/^[ZX]$/.test(status.slice(status.lastIndexOf(")") + 2)[0])
  try {
    process.kill(pid, 0)
    return process.platform !== "linux"
  } catch {
    return false
  }
}

/** Waits until `check` gives a value that is not undefined, at most about so long. */
export const until = async (check, maxMillis) => {
  for (let waitedMillis = 0; ; waitedMillis += pollMillis) {
    const found = check()
    if (found !== undefined || waitedMillis >= maxMillis) return found
    await sleep(pollMillis)
  }
}

/** A line in the log of the job; one that begins with `::` is a command to the runner. */
export const say = (line) => process.stdout.write(`${line}\n`)

/** Text of another program in the log of a job, where a line that begins with `::` would be a command. */
export const show = (text) => {
  for (const line of text.split("\n")) if (line !== "") say(line.replaceAll("::", ": :"))
}
