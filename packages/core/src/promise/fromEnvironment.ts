/**
 * Reads the account from environment variables, the same ones that `berth` reads. Bundles for pages have `withoutEnvironment.ts` instead,
 * so this file imports only the class of its errors.
 */
import { InvalidOption } from "./Failure.ts"
import type { ClientOptions } from "./Client.ts"

const variables = {
  baseUrl: "BERTH_BASE_URL",
  apiKey: "BERTH_API_KEY",
  accessToken: "BERTH_ACCESS_TOKEN"
} as const

const furtherVariables = { account: "BERTH_ACCOUNT", project: "BERTH_PROJECT", location: "BERTH_LOCATION" } as const
const named = { ...variables, ...furtherVariables } as const

type Account = keyof typeof variables

const operation = "createClientFromEnv"

/** Reads an environment variable; undefined if it is not set or there is no environment. */
export const readVariable = (name: string): string | undefined => globalThis.process?.env?.[name]?.trim() || undefined

/** Throws `InvalidOption` if the variable that may name another allowance file has a fault. */
export const ensureAllowanceFile = (operation: string, faultOf: (path: string) => string | undefined): void => {
  const variable = "BERTH_ALLOWANCE_FILE"
  const path = readVariable(variable)
  const fault = path && faultOf(path)
  if (fault) throw new InvalidOption(operation, variable, fault)
}

/** Reads a required variable. Throws `InvalidOption`, which names the variable. */
const read = (variable: string): string => {
  let value: string | undefined
  try {
    value = globalThis.process.env[variable]
  } catch (error) {
    const why = globalThis.process === undefined ? "this runtime has no `process`" : String(error)
    throw new InvalidOption(operation, variable, `it cannot be read (${why})`)
  }
  if (value === undefined || value.trim() === "") throw new InvalidOption(operation, variable, "it is not set")
  return value
}

/**
 * Refuses to send credentials from the environment to a service that the environment does not name, because they belong to the service that
 * it names.
 */
const ensureOwnService = ({ accessToken, apiKey, baseUrl }: Partial<ClientOptions>): void => {
  const own = readVariable(variables.baseUrl)
  if (!own || baseUrl === undefined || (apiKey !== undefined && accessToken !== undefined)) return
  const [given, named] = [String(baseUrl), own].map((address) => URL.parse(address)?.origin)
  if (given === undefined || named === undefined || given === named) return
  throw new InvalidOption(
    operation,
    "baseUrl",
    `the credentials of the environment belong to ${named}; give apiKey and accessToken beside another baseUrl`
  )
}

/**
 * Makes a client with `make`. The environment supplies the account's settings that the options do not have. Throws `InvalidOption`, which
 * names the variable or the option.
 */
export const fromEnvironment = <A>(options: Partial<ClientOptions>, make: (options: ClientOptions) => A): A => {
  // `make` refuses options that are not an object.
  if (typeof options !== "object" || options === null) return make(options)
  ensureOwnService(options)
  const account: Record<string, unknown> = {}
  for (const [option, variable] of Object.entries(variables)) {
    if (options[option as Account] === undefined) account[option] = read(variable)
  }
  // These are optional. If the options name another account, the environment's name and place do not belong to that account.
  for (const [option, variable] of Object.entries(furtherVariables)) {
    const text = readVariable(variable)
    if (!text || options[option as keyof typeof furtherVariables] !== undefined || options.apiKey !== undefined)
      continue
    account[option] = option === "project" && /^\d+$/.test(text) ? Number(text) : text
  }
  try {
    return make({ ...options, ...account } as ClientOptions)
  } catch (error) {
    if (!(error instanceof InvalidOption) || !Object.hasOwn(account, error.option)) throw error
    throw new InvalidOption(operation, named[error.option as keyof typeof named], error.detail)
  }
}
