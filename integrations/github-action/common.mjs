// Code that the steps of the action share: the inputs as a runner passes them, the files of a job, and `berth` with the account's
// credentials.
import { spawnSync } from "node:child_process"
import { readFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"

const pollMillis = 200

/** An input of the action; empty if it is not given. */
export const input = (name) => (process.env[`INPUT_${name.replaceAll(" ", "_").toUpperCase()}`] ?? "").trim()

/** The folder in which runners keep a job's temporary files. */
export const temporary = process.env.RUNNER_TEMP || tmpdir()

/** The files of one use of the action, in a separate folder. */
export const filesIn = (folder) => ({
  folder,
  /** The process id of `berth run`. */
  pid: join(folder, "pid"),
  /** When that process started, as the system states it. The system may reuse the process id for another process. */
  start: join(folder, "pid.start"),
  /** The output of berth. */
  log: join(folder, "log"),
  /** The node, once it runs. */
  node: join(folder, "node.json"),
  /** This file is created when the job has ended. */
  done: join(folder, "done")
})

/** The environment of `berth`: the environment of the job, overridden by the inputs. Other programs of the job do not get the inputs. */
export const environment = () => {
  const set = {
    BERTH_BASE_URL: "base-url",
    BERTH_PROJECT: "project",
    BERTH_LOCATION: "location",
    BERTH_API_KEY: "api-key",
    BERTH_ACCESS_TOKEN: "access-token"
  }
  const given = Object.entries(set).flatMap(([variable, name]) => (input(name) === "" ? [] : [[variable, input(name)]]))
  // The inputs of a step are environment variables, too. Programs that berth starts must not get the secrets among them.
  const rest = Object.entries(process.env).filter(([name]) => !/^INPUT_(?:API-KEY|ACCESS-TOKEN)$/.test(name))
  return { ...Object.fromEntries(rest), ...Object.fromEntries(given) }
}

/** The text of a file; undefined if it cannot be read. */
export const readOr = (path) => {
  try {
    return readFileSync(path, "utf8")
  } catch {
    return undefined
  }
}

/** When a process started, according to a line of `/proc/PID/stat` or of `ps -o stat=,lstart=`; undefined if it has ended. */
export const startIn = (line) => {
  // The name of the program, in parentheses, may contain any characters.
  const fields = line
    .trim()
    .slice(line.lastIndexOf(")") + 1)
    .trim()
    .split(/\s+/)
  if (fields[0] === "" || /^[ZX]/.test(fields[0])) return undefined
  return line.includes(")") ? fields[19] : fields.slice(1).join(" ")
}

/**
 * When the process with this id started; undefined if none runs. A process that has ended does not count, even if its parent has not
 * waited for it.
 */
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

/** Whether exactly this process runs, by its id and its start. If the start is unknown, it counts as another process. */
export const isRunning = ({ pid, start }) => pid > 0 && start !== undefined && startOf(pid) === start

/** Waits until `check` returns a value other than undefined, for about `maxMillis` at most. */
export const until = async (check, maxMillis) => {
  for (let waitedMillis = 0; ; waitedMillis += pollMillis) {
    const found = check()
    if (found !== undefined || waitedMillis >= maxMillis) return found
    await sleep(pollMillis)
  }
}

/** Writes a line to the log of the job. The runner treats a line that begins with `::` as a command. */
export const say = (line) => process.stdout.write(`${line}\n`)

/** Escapes a text as the value of a command to the runner, which must be one line. */
export const dataOf = (text) => text.replaceAll("%", "%25").replaceAll("\r", "%0D").replaceAll("\n", "%0A")

/**
 * Writes a text of another program to the log of a job. Without the changes, the runner would treat a line that begins with `::`, or that
 * has `##[` anywhere, as a command.
 */
export const show = (text) => {
  for (const line of text.split(/[\r\n]+/)) {
    if (line !== "") say(line.replaceAll(/:(?=:)/g, ": ").replaceAll(/##(?=\[)/g, "## "))
  }
}
