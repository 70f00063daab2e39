/**
 * The options of a client: the service's address, the account's credentials, bounds and defaults; checked once.
 */
import { Data, Duration, type Effect, Predicate, Redacted, Result } from "effect"
import { defaultMaxBodyTokens } from "../../api/BodyBounds.ts"
import { prefix } from "../../api/Routes.ts"
import type { Lane } from "../../domain/Lane.ts"
import type { RawReply } from "../../api/Reply.ts"
import type { AttemptReport } from "./AttemptReport.ts"
import { pathFault } from "./pathFault.ts"
import { type Headers, headersFault, lowerCase } from "./Headers.ts"
import {
  attemptsFault,
  type Check,
  countFault,
  functionFault,
  laneFault,
  maxAllowedAttempts,
  timespanFault
} from "./OptionCheck.ts"
import { version } from "./version.ts"

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
  /**
   * The name of the account at this service, 1 to 128 characters. The keys of creates then belong to this name, so they stay valid when the
   * API key is replaced, if the state folder stays the same. Two accounts must not share a name. Default: keys belong to the API key.
   */
  readonly account?: string | undefined
  /**
   * The project whose nodes the client sees: a whole number from 1. Every request carries it as `project_id`, and keys of creates belong to
   * it. Needs `location`. Default: none, as in the documented interface.
   */
  readonly project?: number | undefined
  /** The location of these nodes, such as `Delhi`. Keys of creates ignore its case. Needs `project`. Default: none. */
  readonly location?: string | undefined
  /** Maximum time of a whole call. Default 60 seconds. */
  readonly deadline?: Duration.Input | undefined
  /** Maximum time of one attempt on the wire. Default 15 seconds. */
  readonly attemptTimeout?: Duration.Input | undefined
  /** Maximum number of attempts of one call, 1 to 8: with 1, nothing is sent again. Default 8, which span at least 6 seconds. */
  readonly maxAttempts?: number | undefined
  /** Lane of calls that set none. Default: the lane of the operation. */
  readonly lane?: Lane | undefined
  /**
   * File through which the processes of this machine that use the same API key share the allowance. Each API key needs its own file, which
   * is safe to lose. A relative path is relative to the working directory; `~` is refused. Needs `node:fs`. Default: none, so processes
   * share nothing.
   */
  readonly allowanceFile?: string | undefined
  /**
   * Maximum length of a reply's body, in bytes. Default 2 MiB, and 16 MiB for an image list. A longer body fails with `UnexpectedResponse`,
   * or with the reason of the reply's status.
   */
  readonly maxBodyBytes?: number | undefined
  /**
   * Maximum number of tokens in a body that is parsed: outside strings, each `,` and `[` is one token, each `{` and `:` three. The limit
   * bounds how long parsing blocks the program. Default 200 000, and 2 million for an image list.
   */
  readonly maxBodyTokens?: number | undefined
  /**
   * Headers of every request, for a gateway before the service. Headers that the client or HTTP sets are refused, so none replaces the
   * credentials. If a name says that the value is a secret (such as `x-gateway-token`), the value is masked like the credentials.
   */
  readonly headers?: Headers | undefined
  /** The whole `User-Agent` header, in printable ASCII characters. Default `berth/VERSION`. A browser sets its own. */
  readonly userAgent?: string | undefined
  /** Called with each attempt of every call when it is over. The call does not wait for it. */
  readonly onAttempt?: ((attempt: AttemptReport) => Effect.Effect<void>) | undefined
  /** Called with the last reply of each call, before the `onReply` of the call itself. */
  readonly onReply?: ((reply: RawReply) => Effect.Effect<void>) | undefined
}

/** Options, checked and with defaults. */
export interface Settings {
  readonly origin: string
  readonly credentials: Credentials
  readonly account: string | undefined
  /** Set exactly if `location` is. */
  readonly project: number | undefined
  readonly location: string | undefined
  readonly deadline: Duration.Duration
  readonly attemptTimeout: Duration.Duration
  readonly maxAttempts: number
  readonly lane: Lane | undefined
  readonly allowanceFile: string | undefined
  readonly maxBodyBytes: number
  readonly maxBodyTokens: number
  /** The headers by name in lower case. */
  readonly headers: Headers
  readonly onAttempt: ClientOptions["onAttempt"]
  readonly onReply: ClientOptions["onReply"]
}

/** The parts of an identity for a project and a location; empty without them. The case of a location is ignored. */
export const placeOf = ({
  location,
  project
}: Partial<Pick<Settings, "project" | "location">>): ReadonlyArray<string> =>
  project === undefined || location === undefined ? [] : [String(project), location.toLowerCase()]

/** An unusable option. */
export class InvalidOption extends Data.TaggedError("InvalidOption")<{
  /** Name of the option, such as `baseUrl`, or of the variable of the environment that it comes from. */
  readonly option: string
  readonly detail: string
}> {
  override get message() {
    return `The ${/^[A-Z]/.test(this.option) ? "variable" : "option"} ${this.option} is not usable: ${this.detail}.`
  }
}

/** A page of 100 nodes takes less than a tenth of this. An image list has another limit. */
const defaultMaxBodyBytes = 2 * 1024 * 1024

const unusable = (option: string, detail: string) => Result.fail(new InvalidOption({ option, detail }))

/** An address as text; a `URL` may come from another realm. */
const addressOf = (value: unknown): string =>
  Predicate.hasProperty(value, "href") && Predicate.isString(value.href)
    ? value.href
    : Predicate.isString(value)
      ? value
      : ""

const originOf = (baseUrl: unknown): string | undefined => {
  const url = URL.parse(addressOf(baseUrl))
  if (url === null || !/^https?:$/.test(url.protocol)) return undefined
  // Requests would drop these parts. Credentials do not belong in the address.
  if (url.username + url.password + url.search + url.hash !== "") return undefined
  const path = url.pathname.replace(/\/+$/, "")
  return path === "" || path === prefix ? url.origin : undefined
}

const headerSafe = /^[\x21-\x7e]+$/

const addressFault = (value: unknown) =>
  originOf(value) === undefined ? `expected http(s)://host[:port] or the same with ${prefix}` : undefined

const credentialFault = (value: unknown) => {
  if (!Redacted.isRedacted(value)) return "expected a text that is Redacted"
  const secret = Redacted.value(value)
  return Predicate.isString(secret) && headerSafe.test(secret)
    ? undefined
    : "expected printable ASCII characters without spaces"
}

const accountFault = (value: unknown) =>
  Predicate.isString(value) && /^[^\p{Cc}]{1,128}$/u.test(value) && value.trim() === value
    ? undefined
    : "expected 1 to 128 characters, none of them a control character, with no space around them"

const locationFault = (value: unknown) =>
  Predicate.isString(value) && /^[\p{L}\p{N}]([\p{L}\p{N} ._-]{0,62}[\p{L}\p{N}])?$/u.test(value)
    ? undefined
    : "expected the name of a location, such as Delhi"

const userAgentFault = (value: unknown) =>
  Predicate.isString(value) && /^[\x20-\x7e]+$/.test(value) && value.trim() !== ""
    ? undefined
    : "expected a User-Agent of printable ASCII characters"

/** What is wrong with the value of each option. */
const checks: { readonly [Name in keyof Required<ClientOptions>]: Check } = {
  baseUrl: addressFault,
  credentials: (value) => (Predicate.isObject(value) ? undefined : "expected apiKey and accessToken"),
  account: accountFault,
  project: countFault,
  location: locationFault,
  deadline: timespanFault,
  attemptTimeout: timespanFault,
  maxAttempts: attemptsFault,
  lane: laneFault,
  allowanceFile: (value) => pathFault(value, "the path of a file"),
  maxBodyBytes: countFault,
  maxBodyTokens: countFault,
  headers: headersFault,
  userAgent: userAgentFault,
  onAttempt: functionFault,
  onReply: functionFault
}

const isNeeded = (option: string) => option === "baseUrl" || option === "credentials"

/** A browser sets its own `User-Agent`, and a request to another origin may set none without permission. */
const isBrowser = "document" in globalThis || "importScripts" in globalThis

/** Checks the options, and fails with the first unusable one. */
export const settingsFrom = (options: ClientOptions): Result.Result<Settings, InvalidOption> => {
  const given: unknown = options
  if (!Predicate.isObject(given)) return unusable("options", "expected an object")
  const unknown = Object.keys(given).find((name) => !Object.hasOwn(checks, name))
  if (unknown !== undefined) {
    return unusable(unknown, `there is no such option; there are ${Object.keys(checks).join(", ")}`)
  }
  for (const [option, check] of Object.entries(checks)) {
    const fault = given[option] === undefined && !isNeeded(option) ? undefined : check(given[option])
    if (fault !== undefined) return unusable(option, fault)
  }
  const {
    account,
    allowanceFile,
    attemptTimeout = "15 seconds",
    baseUrl,
    credentials,
    deadline = "60 seconds",
    headers = {},
    lane,
    location,
    maxAttempts = maxAllowedAttempts,
    maxBodyBytes = defaultMaxBodyBytes,
    maxBodyTokens = defaultMaxBodyTokens,
    onAttempt,
    onReply,
    project,
    userAgent = `berth/${version}`
  } = options
  // A service that needs a project or a location needs both. Berth must not look in another place for a lost create.
  if (project !== undefined && location === undefined) return unusable("location", "a project needs a location")
  if (location !== undefined && project === undefined) return unusable("project", "a location needs a project")
  for (const half of ["apiKey", "accessToken"] as const) {
    const fault = credentialFault(credentials[half])
    if (fault !== undefined) return unusable(half, fault)
  }
  return Result.succeed({
    origin: originOf(baseUrl)!,
    credentials,
    account,
    project,
    location,
    deadline: Duration.fromInputUnsafe(deadline),
    attemptTimeout: Duration.fromInputUnsafe(attemptTimeout),
    maxAttempts,
    lane,
    allowanceFile,
    maxBodyBytes,
    maxBodyTokens,
    headers: {
      ...lowerCase(headers),
      ...(!isBrowser && { "user-agent": userAgent })
    },
    onAttempt,
    onReply
  })
}
