/**
 * The address of a PostgreSQL server in settings. It may contain a password, so messages show only `shownAddress`. Missing
 * parts of the address come from the variables that every PostgreSQL program reads, such as PGPASSWORD.
 */
import { Redacted, Result } from "effect"

/** Whether a string begins like a PostgreSQL address. */
export const isPostgres = (text: string): boolean => /^postgres(ql)?:\/\//.test(text)

/** The schema of the tables: `berth` unless the address says `?schema=NAME`. */
export const schemaOf = (address: Redacted.Redacted): string =>
  new URL(Redacted.value(address)).searchParams.get("schema") ?? "berth"

/**
 * The required form of an address. It limits the length of the schema's name, because some names of tables begin with it and PostgreSQL
 * limits the length of names.
 */
const postgresForm =
  "an address such as postgres://USER:PASSWORD@HOST/DATABASE?schema=berth, with a schema of at most 40 small letters, digits and _"

/** The parts of an address: the parameter of each, its variable, and its usual place in the address. */
const parts = [
  ["host", "PGHOST", ({ hostname }: URL) => hostname],
  ["port", "PGPORT", ({ port }: URL) => port],
  ["user", "PGUSER", ({ username }: URL) => username],
  ["password", "PGPASSWORD", ({ password }: URL) => password],
  ["dbname", "PGDATABASE", ({ pathname }: URL) => pathname.replace(/^\//, "")],
  ["sslmode", "PGSSLMODE", () => ""],
  ["connect_timeout", "PGCONNECT_TIMEOUT", () => ""],
  ["options", "PGOPTIONS", () => ""]
] as const

/** The variables that complete an address. */
export const postgresVariables: ReadonlyArray<string> = parts.map(([, variable]) => variable)

const sslModes: ReadonlySet<string> = new Set(["disable", "allow", "prefer", "require", "verify-ca", "verify-full"])

/** The name of the first unusable part of an address, or of the variable that it comes from; null if all parts are usable. */
const badPart = (url: URL, fromVariable: ReadonlySet<string>): string | null => {
  const isBad: Readonly<Record<string, (value: string) => boolean>> = {
    port: (value) => !/^\d{1,5}$/.test(value) || Number(value) < 1 || Number(value) > 65_535,
    sslmode: (value) => !sslModes.has(value),
    connect_timeout: (value) => !/^\d{1,9}$/.test(value)
  }
  for (const [name, variable] of parts) {
    const value = url.searchParams.get(name)
    if (value !== null && isBad[name]?.(value) === true) return fromVariable.has(variable) ? variable : name
  }
  return null
}

/**
 * Parses an address and completes it from the variables, for example with the password. A blank variable counts as unset.
 * Fails with a string that continues a sentence after the name of the setting.
 */
export const readAddress = (
  text: string,
  variable: (name: string) => string | undefined
): Result.Result<Redacted.Redacted, string> => {
  const url = isPostgres(text) ? URL.parse(text) : null
  if (url === null || !/^[a-z_][a-z0-9_]{0,39}$/.test(schemaOf(Redacted.make(text)))) {
    return Result.fail(`has to be ${postgresForm}`)
  }
  const filled = new Set<string>()
  for (const [name, from, stated] of parts) {
    const value = variable(from)
    if (!value?.trim() || stated(url) !== "" || url.searchParams.has(name)) continue
    url.searchParams.set(name, value)
    filled.add(from)
  }
  const bad = badPart(url, filled)
  return bad === null
    ? Result.succeed(Redacted.make(filled.size === 0 ? text : url.href))
    : Result.fail(`has a ${bad} that is not usable`)
}

/**
 * Whether an address may contain a password, in its usual places or in the wrong one: an `@` or `#` after the host is probably part of a
 * password that is not percent-encoded. A string that is not an address counts as one that does.
 */
export const mayHoldPassword = (text: string): boolean => {
  const url = isPostgres(text) ? URL.parse(text) : null
  return (
    url === null ||
    url.password !== "" ||
    /[@#]/.test(url.pathname + url.search + url.hash) ||
    Array.from(url.searchParams.keys()).some((name) => /password/i.test(name))
  )
}

/** The host, port and database of an address. The database is empty if the address names none. */
export const serverOf = (address: Redacted.Redacted) => {
  const { hostname, pathname, port, searchParams } = new URL(Redacted.value(address))
  const host = searchParams.get("host") ?? decodeURIComponent(hostname.replace(/^\[|\]$/g, ""))
  return {
    host: host || "localhost",
    port: Number(searchParams.get("port") ?? (port || 5432)),
    database: searchParams.get("dbname") ?? pathname.replace(/^\//, "")
  }
}

/** An address for display, without user and password. */
export const shownAddress = (address: Redacted.Redacted): string => {
  const { database, host, port } = serverOf(address)
  const shownHost = host.includes(":") ? `[${host}]` : host
  return `postgres://${shownHost}${port === 5432 ? "" : `:${port}`}/${database}?schema=${schemaOf(address)}`
}
