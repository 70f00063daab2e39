/**
 * Resumes effects that have paused so that others can run. Effect would use a timer for this, but a timer never fires in a test that
 * fakes the time. This scheduler uses a message channel, which no test fakes.
 */
import { Scheduler } from "effect"
import { builtin } from "../client/options/builtin.ts"

/** Runs a task after the current code. */
type Soon = (task: () => void) => void

/** Runs one task at a time. A waiting task keeps the process alive. */
const throughChannel = (Channel: typeof MessageChannel): Soon => {
  const { port1, port2 } = new Channel()
  // Ports in a browser do not have these methods, because they do not keep a process alive.
  const receiver: MessagePort & { ref?: () => void; unref?: () => void } = port1
  const waiting: Array<() => void> = []
  receiver.onmessage = () => {
    const task = waiting.shift()!
    if (waiting.length === 0) receiver.unref?.()
    task()
  }
  return (task) => {
    if (waiting.push(task) === 1) receiver.ref?.()
    port2.postMessage(null)
  }
}

/** A test environment may not have globals that its runtime has. */
const channel = () => globalThis.MessageChannel ?? builtin("node:worker_threads")?.MessageChannel

/** Falls back to a timer on edge runtimes, where `MessageChannel` is missing or throws. */
const makeSoon = (): Soon => {
  try {
    return throughChannel(channel())
  } catch {
    return (task) => void globalThis.setTimeout(task)
  }
}

let soon: Soon | undefined

/**
 * Binds a task to its caller's context, such as the current span, as a timer does. Otherwise it would run in the context of the caller
 * that opened the channel. Some versions of Bun throw here.
 */
const bound = (task: () => void): (() => void) => {
  try {
    return builtin("node:async_hooks")?.AsyncLocalStorage.bind(task) ?? task
  } catch {
    return task
  }
}

const schedule = (task: () => void): (() => void) => {
  let unlessCancelled: (() => void) | undefined = task
  soon ??= makeSoon()
  soon(bound(() => unlessCancelled?.()))
  return () => {
    unlessCancelled = undefined
  }
}

/** The scheduler of every effect that a promise waits for. */
export const scheduler: Scheduler.Scheduler = /*#__PURE__*/ new Scheduler.MixedScheduler("async", schedule)
