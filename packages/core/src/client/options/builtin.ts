/**
 * Node's own modules. The client takes them from the running process instead of importing them. A bundler then has no import to resolve,
 * keep or drop. The bundle can then use files in every runtime that has these modules.
 */

/** The modules that the client uses. */
interface Modules {
  readonly "node:async_hooks": typeof import("node:async_hooks")
  readonly "node:crypto": typeof import("node:crypto")
  readonly "node:fs": typeof import("node:fs")
  readonly "node:fs/promises": typeof import("node:fs/promises")
  readonly "node:http": typeof import("node:http")
  readonly "node:https": typeof import("node:https")
  readonly "node:os": typeof import("node:os")
  readonly "node:path": typeof import("node:path")
  readonly "node:worker_threads": typeof import("node:worker_threads")
  readonly "node:zlib": typeof import("node:zlib")
}

/**
 * A module of Node; undefined in a runtime without it, such as a browser.
 *
 * @internal Published declarations leave it out: not every program that imports them has the types of Node.
 */
export const builtin = <Name extends keyof Modules>(name: Name): Modules[Name] | undefined => {
  try {
    return globalThis.process?.getBuiltinModule?.(name) as Modules[Name] | undefined
  } catch {
    // The `process` of Next's edge runtime throws.
    return undefined
  }
}
