/**
 * What a client is made from: where the service is and whose account is spoken for.
 */
import { Data, Duration, Redacted, Result } from "effect"
import { prefix } from "../api/Routes.ts"
import type { Lane } from "../domain/Lane.ts"

/** The two halves of an account's credentials, made in the account portal (interface.md §5). */
export interface Credentials {
  readonly apiKey: Redacted.Redacted
  readonly accessToken: Redacted.Redacted
}

/** Options of a client. */
export interface ClientOptions {
  /** The service's scheme and host; the whole `/myaccount/api/v1` address is accepted too. */
  readonly baseUrl: string | URL
  readonly credentials: Credentials
  /** Longest time a call may take altogether. Default 60 seconds. */
  readonly deadline?: Duration.Input | undefined
  /** Longest time one attempt on the wire may take. Default 15 seconds. */
  readonly attemptTimeout?: Duration.Input | undefined
  /** Lane of every call that does not name one. Default: that of the operation. */
  readonly lane?: Lane | undefined
  /**
   * File through which the processes of this machine that use the same key leave room for each other. One file per key; it is
   * safe to lose. Needs `node:fs`. Default: none, every process for itself.
   */
  readonly allowanceFile?: string | undefined
}

/** Options, checked and with defaults. */
export interface Settings {
  readonly origin: string
  readonly credentials: Credentials
  readonly deadline: Duration.Duration
  readonly attemptTimeout: Duration.Duration
  readonly lane: Lane | undefined
  readonly allowanceFile: string | undefined
}

/** An option that no client can be made with. */
export class InvalidOption extends Data.TaggedError("InvalidOption")<{
  /** Name of the option, such as `baseUrl`. */
  readonly option: string
  readonly detail: string
}> {
  override get message() {
    return `The option ${this.option} is not usable: ${this.detail}.`
  }
}

const originOf = (baseUrl: string | URL): string | undefined => {
  const url = URL.parse(String(baseUrl))
  if (url === null || !/^https?:$/.test(url.protocol) || url.username !== "" || url.search !== "") return undefined
  const path = url.pathname.replace(/\/+$/, "")
  return path === "" || path === prefix ? url.origin : undefined
}

const positive = (input: Duration.Input, option: string): Result.Result<Duration.Duration, InvalidOption> => {
  const duration = Duration.fromInput(input)
  return duration._tag === "Some" && Duration.toMillis(duration.value) > 0
    ? Result.succeed(duration.value)
    : Result.fail(
        new InvalidOption({ option, detail: 'expected a duration longer than nothing, such as "30 seconds"' })
      )
}

const headerSafe = /^[\x21-\x7e]+$/

const credential = (value: Redacted.Redacted, option: string): Result.Result<void, InvalidOption> =>
  headerSafe.test(Redacted.value(value))
    ? Result.succeed(undefined)
    : Result.fail(new InvalidOption({ option, detail: "expected printable characters without spaces" }))

/** Checks the options; the first unusable one is named. */
export const settingsFrom = (options: ClientOptions): Result.Result<Settings, InvalidOption> =>
  Result.gen(function* () {
    const origin = originOf(options.baseUrl)
    if (origin === undefined) {
      return yield* Result.fail(
        new InvalidOption({ option: "baseUrl", detail: `expected http(s)://host[:port] or the same with ${prefix}` })
      )
    }
    yield* credential(options.credentials.apiKey, "apiKey")
    yield* credential(options.credentials.accessToken, "accessToken")
    const deadline = yield* positive(options.deadline ?? "60 seconds", "deadline")
    const attemptTimeout = yield* positive(options.attemptTimeout ?? "15 seconds", "attemptTimeout")
    return {
      origin,
      credentials: options.credentials,
      deadline,
      attemptTimeout,
      lane: options.lane,
      allowanceFile: options.allowanceFile
    }
  })
