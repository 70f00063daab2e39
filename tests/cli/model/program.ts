/**
 * Runs `berth` within this process, in virtual time, with the model's service behind `node:http`. Its stdin is a terminal, a pipe, or
 * empty. It can be interrupted or killed at any request; no part of a killed program continues.
 */
import { EventEmitter } from "node:events"
import { existsSync, readdirSync, readFileSync, renameSync, statSync, writeFileSync } from "node:fs"
import type http from "node:http"
import { basename, dirname, join } from "node:path"
import { PassThrough } from "node:stream"
import { run } from "@berthkit/cli/program"
import { Clock, ConfigProvider, Effect, Exit, type Fiber } from "effect"
import { type Access, disksOf, isWriting } from "@berthkit/testing/disk"
import type { Service, WireReply } from "./service.ts"

/** What ends a command early: at a request, or at a change of a file. */
export interface Cut {
  /** The number of the request, from 1, or the first create. */
  readonly atRequest?: number | "create"
  /** The number of the change of a file, from 1. */
  readonly atWrite?: number
  /** Whether the service receives that request, or the disk that change. */
  readonly isSent: boolean
  /** `kill` ends the program, `interrupt` is like Ctrl-C, and after `restart` the machine boots anew. */
  readonly how: "kill" | "interrupt" | "restart"
}

export interface Invocation {
  readonly args: ReadonlyArray<string>
  readonly env: Readonly<Record<string, string>>
  /** The folders with the locks and leases of this command. */
  readonly folders: ReadonlyArray<string>
  /** The answers of a person at the terminal, in order; undefined without a terminal. */
  readonly answers?: ReadonlyArray<string>
  /**
   * Returns the next line for a stdin that is a pipe. It gets stdout so far, and returns undefined if no line is due yet, or `end` to close
   * stdin.
   */
  readonly conversation?: (stdout: string) => string | "end" | undefined
  /** The width of the terminal. */
  readonly columns?: number | undefined
  /** Runs between a question and its answer. */
  readonly beforeAnswer?: () => void
  readonly cut?: Cut | undefined
  /** Runs when the service receives a request, with its number. */
  readonly onRequest?: (n: number) => void
  /** Whether a use of a file in these folders fails, and with which code. */
  readonly faultOf?: (access: Access, path: string) => string | undefined
}

export interface Outcome {
  readonly command: number
  /** Null if it was cut short. */
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
  /** How many questions were asked. */
  readonly questions: number
  readonly requests: number
  /** Why the command did not end; null if it ended. */
  readonly hangs: string | null
  /** Whether the machine was started again. */
  readonly isRestart: boolean
}

/** One running command. */
class Run {
  isDead = false
  requests = 0
  writes = 0
  stdout = ""
  stderr = ""
  readonly command: number
  constructor(command: number) {
    this.command = command
  }
  get shown() {
    return `${this.stderr}\n${this.stdout}`
  }
}

const immediate = globalThis.setImmediate
const turn = () => new Promise<void>((resolve) => immediate(resolve))
/**
 * Resolves after the next turn of the event loop that has something to do. The immediate has no reference, so the loop sleeps until then
 * and leaves the cores to the threads that read and write files. The timer is needed because the end of a child process does not always
 * wake the loop.
 */
const event = () =>
  new Promise<void>((resolve) => {
    // oxlint-disable-next-line no-restricted-globals -- See above.
    const latest = setTimeout(resolve, 20)
    immediate(() => {
      clearTimeout(latest)
      resolve()
    }).unref()
  })
// oxlint-disable-next-line no-restricted-globals -- Nothing else shows that a module is still being loaded.
const wait = (millis: number) => new Promise<void>((resolve) => setTimeout(resolve, millis))

/** Kinds of work outside this thread. While such work runs, no virtual time passes. */
const busy = new Set(["FSReqCallback", "FSReqPromise", "ProcessWrap", "CloseReq"])
const isBusy = () => process.getActiveResourcesInfo().some((name) => busy.has(name))

/** More virtual time than any command needs. */
const maxMillis = 6 * 3_600_000
/** After this much real time a command counts as hanging. */
const maxTurns = 20_000
const maxIdle = 400

const question = /(?:\[y\/N\]|to go on:) $/

/** Runs commands against one service, one at a time. */
export class Terminal {
  readonly #service: Service
  #command = 0
  /** Whether all modules are loaded. While they load, time has to stand still. */
  static isWarm = false

  constructor(service: Service) {
    this.#service = service
  }

  get lastCommand() {
    return this.#command
  }

  async invoke(invocation: Invocation): Promise<Outcome> {
    const {
      answers,
      args,
      beforeAnswer,
      columns = 400,
      conversation,
      cut,
      env,
      folders,
      faultOf,
      onRequest
    } = invocation
    const { time } = this.#service
    const running = new Run(++this.#command)
    const stdin: PassThrough = Object.assign(new PassThrough(), {
      isTTY: answers !== undefined,
      setRawMode: () => stdin,
      columns,
      rows: 50,
      ref: () => {},
      unref: () => {}
    })
    if (answers === undefined && conversation === undefined) stdin.end()
    const surface = answers === undefined ? {} : { isTTY: true, columns }
    const [stdout, stderr] = [Object.assign(new PassThrough(), surface), Object.assign(new PassThrough(), surface)]
    stdout.on("data", (chunk) => (running.stdout += String(chunk)))
    stderr.on("data", (chunk) => (running.stderr += String(chunk)))
    const { stdin: realStdin } = process
    const { getBuiltinModule } = process
    let fiber: Fiber.Fiber<number> | undefined
    let isCut = false
    /** Cuts the command. Returns whether its present action still happens. */
    const end = ({ how, isSent }: Cut): boolean => {
      isCut = true
      if (how === "interrupt") fiber?.interruptUnsafe()
      else running.isDead = true
      return isSent
    }
    const modules: Readonly<Record<string, unknown>> = {
      "node:http": this.#http(running, (n, isCreate) => {
        onRequest?.(n)
        const isNow = n === cut?.atRequest || (isCreate && cut?.atRequest === "create")
        return cut === undefined || !isNow || isCut || end(cut)
      }),
      ...disksOf(running, (access, path) => {
        if (!folders.some((folder) => path.startsWith(folder))) return undefined
        const isNow = isWriting(access) && ++running.writes === cut?.atWrite
        if (isNow && !isCut && !end(cut) && running.isDead) return "EIO"
        return faultOf?.(access, path)
      })
    }
    Object.defineProperty(process, "stdin", { value: stdin, configurable: true })
    process.getBuiltinModule = ((name: string) => modules[name] ?? getBuiltinModule(name)) as typeof getBuiltinModule

    const program = run(args, { stdout, stderr }).pipe(
      Effect.provideService(ConfigProvider.ConfigProvider, ConfigProvider.fromEnv({ env: { ...env } })),
      Effect.provideService(Clock.Clock, time.clockOf(running))
    )
    fiber = Effect.runFork(program)
    let exit: Exit.Exit<number> | undefined
    fiber.addObserver((ended) => (exit = ended))

    const startedMillis = time.nowMillis
    let questions = 0
    let answered = 0
    let hangs: string | null = null
    let idle = 0
    for (let turns = 0; ;) {
      await this.#settled(() => exit !== undefined || running.isDead)
      if (exit !== undefined || running.isDead) break
      if (answers !== undefined && running.stderr.length > answered && question.test(running.stderr)) {
        answered = running.stderr.length
        if (questions === 0) beforeAnswer?.()
        const answer = answers[Math.min(questions, answers.length - 1)] ?? "n"
        questions++
        const asked = /Type (\d+) to go on: $/.exec(running.stderr)?.[1]
        stdin.write(`${answer === "y" && asked !== undefined ? asked : answer}\n`)
        continue
      }
      const line = conversation?.(running.stdout)
      if (line === "end") {
        if (!stdin.writableEnded) {
          stdin.end()
          continue
        }
      } else if (line !== undefined) {
        stdin.write(`${line}\n`)
        continue
      }
      if (time.nowMillis - startedMillis > maxMillis) hangs = "it goes on for six hours"
      else if (++turns > maxTurns) hangs = "it goes on without an end"
      else if (!time.step()) {
        // Only the number of idle turns shows whether a module is still being loaded.
        if (++idle > maxIdle) hangs = "it waits for nothing"
        else await wait(5)
      } else idle = 0
      if (hangs !== null) {
        running.isDead = true
        break
      }
    }
    if (running.isDead) await turn()
    Object.defineProperty(process, "stdin", { value: realStdin, configurable: true })
    process.getBuiltinModule = getBuiltinModule
    stdin.destroy()
    running.isDead = true
    const isRestart = isCut && cut?.how === "restart"
    for (const folder of folders) bury(folder, isRestart)
    if (isRestart) time.restart()
    const code = exit !== undefined && Exit.isSuccess(exit) ? exit.value : null
    return {
      command: running.command,
      code,
      stdout: running.stdout,
      stderr: running.stderr,
      questions,
      requests: running.requests,
      hangs,
      isRestart
    }
  }

  /** Waits until nothing more can happen without time passing. */
  async #settled(isOver: () => boolean): Promise<void> {
    if (!Terminal.isWarm) await wait(8)
    for (let quiet = 0; quiet < 3 && !isOver();) {
      await (isBusy() ? event() : turn())
      quiet = isBusy() ? 0 : quiet + 1
    }
  }

  /** The part of `node:http` that `berth` uses, for one run. */
  #http(running: Run, onRequest: (n: number, isCreate: boolean) => boolean) {
    const service = this.#service
    return {
      Agent: class {
        destroy() {}
      },
      request: (address: string | URL, { method = "GET" }: http.RequestOptions) => {
        const url = new URL(address)
        const outgoing = new Outgoing()
        outgoing.onEnd = (text) => {
          if (running.isDead) return
          const shown = running.shown
          const isLost = !onRequest(++running.requests, method === "POST" && url.pathname.endsWith("/nodes/"))
          const request = {
            method,
            path: url.pathname.replace("/myaccount/api/v1", ""),
            query: url.searchParams,
            body: text === "" ? {} : (JSON.parse(text) as Record<string, unknown>),
            command: running.command,
            shown
          }
          const respond = (reply: WireReply | "broken") => {
            const isAwaited = !running.isDead && !outgoing.isDestroyed
            if (isAwaited) outgoing.answer(reply)
            return isAwaited
          }
          service.receive(request, respond, isLost)
          if (isLost && !running.isDead) respond("broken")
        }
        return outgoing
      }
    }
  }
}

/** A request on its way. */
class Outgoing extends EventEmitter {
  isDestroyed = false
  onEnd: (text: string) => void = () => {}

  override once(event: string, listener: (...args: ReadonlyArray<any>) => void): this {
    super.once(event, listener)
    if (event === "socket") queueMicrotask(() => this.emit("socket", { connecting: false }))
    return this
  }

  end(body?: string | Uint8Array) {
    this.onEnd(body === undefined ? "" : typeof body === "string" ? body : new TextDecoder().decode(body))
  }

  destroy() {
    this.isDestroyed = true
  }

  answer(reply: WireReply | "broken") {
    if (reply === "broken") {
      this.emit("error", Object.assign(new Error("socket hang up"), { code: "ECONNRESET" }))
      return
    }
    const headersDistinct = Object.fromEntries(Object.entries(reply.headers).map(([name, value]) => [name, [value]]))
    const incoming = Object.assign(new EventEmitter(), { statusCode: reply.status, headersDistinct })
    this.emit("response", incoming)
    if (reply.body !== "") incoming.emit("data", new TextEncoder().encode(reply.body))
    incoming.emit("end")
  }
}

let startTime: string | undefined
let restarts = 0

/** The start time of this process, as its locks and leases state it. */
const ownStartTime = (): string => {
  const stat = readFileSync("/proc/self/stat", "utf8")
  return stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19] ?? ""
}

const isLease = (path: string) => /\brecords\/lease\/[^/]*$/.test(path)

/**
 * Makes the locks and leases that a command leaves look like those of a process that has ended. After a restart of the machine, all that
 * was written is of an earlier boot.
 */
const bury = (folder: string, isRestart: boolean): void => {
  if (!existsSync(folder)) return
  startTime ??= ownStartTime()
  const own = `"startTime":"${startTime}"`
  const boot = isRestart ? readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim() : ""
  const earlier = isRestart ? `${String(++restarts).padStart(8, "0")}${boot.slice(8)}` : ""
  for (const name of readdirSync(folder, { recursive: true }) as ReadonlyArray<string>) {
    const path = join(folder, name)
    const isHeld = basename(name).startsWith("held.")
    if ((isRestart || isLease(path)) && statSync(path).isFile()) {
      const text = readFileSync(path, "utf8")
      const ended = text.replaceAll(own, `"startTime":"1"`)
      const buried = isRestart ? ended.replaceAll(boot, earlier) : ended
      if (buried !== text) writeFileSync(path, buried)
    }
    if (!isHeld) continue
    const parts = basename(name).split(".")
    parts[4] = "1"
    const to = parts.join(".")
    renameSync(path, join(dirname(path), isRestart ? to.replaceAll(boot, earlier) : to))
  }
}
