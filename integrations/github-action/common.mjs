// What the steps of the action share: the inputs as a runner passes them, the files of a job, and `berth` with the account's credentials.
import { spawnSync } from "node:child_process"
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
  /** When that process started, as the system states it: its number may be used again for another. */
  start: join(folder, "pid.start"),
  /** What berth says. */
  log: join(folder, "log"),
  /** The node, once it runs. */
  node: join(folder, "node.json"),
  /** Made when the job has ended. */
  done: join(folder, "done")
})

/** The environment of `berth`: inputs over that of the job. Other programs of the job get none of it. */
export const environment = () => {
  const set = {
    BERTH_BASE_URL: "base-url",
    BERTH_PROJECT: "project",
    BERTH_LOCATION: "location",
    BERTH_API_KEY: "api-key",
    BERTH_ACCESS_TOKEN: "access-token"
  }
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

/** When a process started, in a line of `/proc/PID/stat` or of `ps -o stat=,lstart=`; undefined where it has ended. */
export const startIn = (line) => {
  // The name of the program, in parentheses, may have anything in it.
  const fields = line
    .trim()
    .slice(line.lastIndexOf(")") + 1)
    .trim()
    .split(/\s+/)
  if (fields[0] === "" || /^[ZX]/.test(fields[0])) return undefined
  return line.includes(")") ? fields[19] : fields.slice(1).join(" ")
}

/** When the process with this number started; undefined where none runs. One that nobody has waited for does not. */
export const startOf = (pid) => {
  const status = readOr(`/proc/${pid}/stat`)
  if (status !== undefined) return startIn(status)
  if (process.platform === "linux") return undefined
  const shown = spawnSync("ps", ["-o", "stat=,lstart=", "-p", String(pid)], {
    encoding: "utf8",
    env: { ...process.env, LC_ALL: "C" }
  })
  return startIn(shown.stdout ?? "")
}

/** Whether that very process runs: its number and its start. One whose start is not known is taken for another. */
export const isRunning = ({ pid, start }) => pid > 0 && start !== undefined && startOf(pid) === start

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

/** Text as the value of a command to the runner, which is one line. */
export const dataOf = (text) => text.replaceAll("%", "%25").replaceAll("\r", "%0D").replaceAll("\n", "%0A")

/** Text of another program in the log of a job: the runner would take a line that begins with `::`, or has `##[` anywhere, for a command. */
export const show = (text) => {
  for (const line of text.split(/[\r\n]+/)) {
    if (line !== "") say(line.replaceAll(/:(?=:)/g, ": ").replaceAll(/##(?=\[)/g, "## "))
  }
}
