/**
 * Finds the running processes of a program that berth started. Reads `/proc` on Linux, because `ps` may be missing there, and uses `ps`
 * elsewhere. Process id and start time together identify a process.
 */
import { readdirSync, readFileSync } from "node:fs"
import { execFileSync } from "node:child_process"

export interface Process {
  readonly pid: number
  readonly parent: number
  readonly group: number
  /** In a unit of the operating system, by its clock. The value can only be compared with other values of this field. */
  readonly startedAt: string
}

interface Stat extends Process {
  /** The controlling terminal; 0 if there is none. */
  readonly terminal: number
  /** The foreground process group of that terminal. */
  readonly foreground: number
}

/** A process that has ended stays in the table until its parent has waited for it. */
const hasEnded = (state: string) => /^[ZX]/.test(state)

/** Reads the state of a process; undefined if the process has ended. */
const statOf = (pid: number | "self"): Stat | undefined => {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, "utf8")
    // The name in parentheses may contain any characters.
    const fields = text.slice(text.lastIndexOf(")") + 2).split(" ")
    const [parent, group, , terminal, foreground] = fields.slice(1, 6).map(Number) as [
      number,
      number,
      number,
      number,
      number
    ]
    if (hasEnded(fields[0]!)) return undefined
    return { pid: Number.parseInt(text, 10), parent, group, terminal, foreground, startedAt: fields[19]! }
  } catch {
    return undefined
  }
}

/** All running processes; empty if the system does not list them. */
export const processes = (): ReadonlyArray<Process> => {
  try {
    if (process.platform === "linux") {
      return readdirSync("/proc").flatMap((name) => (/^\d+$/.test(name) ? (statOf(Number(name)) ?? []) : []))
    }
    const columns = ["-A", "-o", "pid=,ppid=,pgid=,stat=,lstart="]
    const rows = execFileSync("ps", columns, { encoding: "utf8", env: { ...process.env, LC_ALL: "C" } }).split("\n")
    return rows.flatMap((row) => {
      const [pid, parent, group, state = "", ...start] = row.trim().split(/\s+/)
      if (start.length === 0 || hasEnded(state)) return []
      return [{ pid: Number(pid), parent: Number(parent), group: Number(group), startedAt: start.join(" ") }]
    })
  } catch {
    return []
  }
}

/** A process and all its descendants. */
export const treeOf = (pid: number, all: ReadonlyArray<Process>): ReadonlyArray<Process> => {
  const children = Map.groupBy(all, ({ parent }) => parent)
  const tree = all.filter((each) => each.pid === pid)
  for (const { pid: parent } of tree) tree.push(...(children.get(parent) ?? []))
  return tree
}

/** Whether this process belongs to a terminal. */
export interface AtTerminal {
  /** Whether a terminal controls it, even if its streams are redirected. */
  readonly isControlled: boolean
  /** Whether Ctrl-C reaches it and the programs in its group. */
  readonly isForeground: boolean
}

export const atTerminal = (): AtTerminal => {
  const own = process.platform === "linux" ? statOf("self") : undefined
  if (own !== undefined) {
    return { isControlled: own.terminal !== 0, isForeground: own.terminal !== 0 && own.foreground === own.group }
  }
  const isControlled = [process.stdin, process.stdout, process.stderr].some(({ isTTY }) => isTTY)
  return { isControlled, isForeground: isControlled }
}
