// Watches the launchers of this process, such as npx and pnpm. A launcher that is killed passes no signal on, so this process would
// otherwise run for ever.
import { readFileSync } from "node:fs"
import { basename } from "node:path"

/** How often they are checked. */
const everyMillis = 200

/** The parent of a process, `undefined` when the process is gone. Only Linux shows the parents of other processes. */
const parentOf = (pid: number): number | undefined => {
  if (pid === process.pid) return process.ppid
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1")
    // After the name, which may hold anything: its state, then its parent.
    return Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1])
  } catch {
    return undefined
  }
}

/** The command line of a process. Programs that set their title have all of it in one word. */
const commandOf = (pid: number): ReadonlyArray<string> => {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8").split(/[\0 ]/)
  } catch {
    return []
  }
}

const isManager = (command: ReadonlyArray<string>): boolean =>
  command.slice(0, 2).some((word) => /^(?:npm|npx|pnpm|pnpx|corepack)(?:-cli)?(?:\.[cm]?js)?$/.test(basename(word)))

const isShell = ([shell = "", flag]: ReadonlyArray<string>): boolean =>
  /^(?:ba|da|z)?sh$/.test(basename(shell)) && flag === "-c"

/** The launchers of this process, the nearest first. A shell counts if a launcher has started it. */
const findLaunchers = (): ReadonlyArray<number> => {
  if (process.platform !== "linux") return process.env["npm_lifecycle_event"] === undefined ? [] : [process.ppid]
  const chain: Array<number> = []
  let count = 0
  for (let pid = parentOf(process.pid); pid !== undefined && pid > 1; pid = parentOf(pid)) {
    const command = commandOf(pid)
    if (!isManager(command) && !isShell(command)) break
    chain.push(pid)
    if (isManager(command)) count = chain.length
  }
  return chain.slice(0, count)
}

/** Ends this process as SIGTERM does once a launcher is gone. A hang-up of the terminal may end launchers alone. */
export const endWithLaunchers = (): void => {
  const chain = [process.pid, ...findLaunchers()]
  let isAlone = false
  const timer = setInterval(() => {
    if (chain.slice(1).every((launcher, index) => parentOf(chain[index]!) === launcher)) return
    if (isAlone) {
      clearInterval(timer)
      process.kill(process.pid, "SIGTERM")
    }
    // The launchers may have got the hang-up first: this process has it by the next check.
    isAlone = true
  }, everyMillis).unref()
  process.once("SIGHUP", () => clearInterval(timer))
}
