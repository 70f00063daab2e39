// Watches the programs that have launched this process, such as npx and pnpm. A launcher that is killed passes no signal on,
// so this process would otherwise run indefinitely.
import { readFileSync } from "node:fs"
import { basename } from "node:path"

/** Pause between two checks. */
const everyMillis = 200

/** The parent of a process; `undefined` if the process is gone. Only Linux shows the parents of other processes. */
const parentOf = (pid: number): number | undefined => {
  if (pid === process.pid) return process.ppid
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1")
    // The fields after the last `)`, which ends the name: the state, then the parent. The name itself may contain anything.
    return Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1])
  } catch {
    return undefined
  }
}

/**
 * The words of a process's command line. A program that sets its own title has the whole title in one word, so this also
 * splits at spaces.
 */
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

/** The launchers of this process, the nearest first. A shell in between counts as a launcher if a launcher has started it. */
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

/**
 * Once a launcher is gone, ends this process with SIGTERM. After a hang-up of the terminal, it does nothing, because a hang-up may end only
 * the launchers.
 */
export const endWithLaunchers = (): void => {
  const chain = [process.pid, ...findLaunchers()]
  let isAlone = false
  const timer = setInterval(() => {
    if (chain.slice(1).every((launcher, index) => parentOf(chain[index]!) === launcher)) return
    if (isAlone) {
      clearInterval(timer)
      process.kill(process.pid, "SIGTERM")
    }
    // Act only at the next check: if a hang-up ended the launchers, this process will have received the hang-up, too, by then.
    isAlone = true
  }, everyMillis).unref()
  process.once("SIGHUP", () => clearInterval(timer))
}
