/**
 * The address of a PostgreSQL server, as settings have it. It holds a password: no message shows more of it than `shownAddress`. What it
 * leaves out comes from the variables that every program of PostgreSQL reads.
 */
import { Redacted, Result } from "effect"

/** Whether a text is an address of PostgreSQL at all. */
export const isPostgres = (text: string): boolean => /^postgres(ql)?:\/\//.test(text)

/** The schema of the tables: `berth` unless the address says `?schema=NAME`. */
export const schemaOf = (address: Redacted.Redacted): string =>
  new URL(Redacted.value(address)).searchParams.get("schema") ?? "berth"

/** What an address has to look like. A longer name would not fit with those of tables behind it. */
const postgresForm =
  "an address such as postgres://USER:PASSWORD@HOST/DATABASE?schema=berth, with a schema of at most 40 small letters, digits and _"

/** The parts of an address by their parameters, with their variables and where else the address may state them. */
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

/** The variables that fill in an address. */
export const postgresVariables: ReadonlyArray<string> = parts.map(([, variable]) => variable)

const sslModes: ReadonlySet<string> = new Set(["disable", "allow", "prefer", "require", "verify-ca", "verify-full"])

/** Which part of an address cannot be used, by its variable if it comes from there; null if all can. */
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
 * The address in a text, as far as its form shows, with what the variables say of the parts that it leaves out: the password, for one.
 * A blank variable is not set. Fails in words that follow the name of the setting.
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

/** Where the server of an address is, and its database: empty where it is the server's default. */
export const serverOf = (address: Redacted.Redacted) => {
  const { hostname, pathname, port, searchParams } = new URL(Redacted.value(address))
  const host = searchParams.get("host") ?? decodeURIComponent(hostname.replace(/^\[|\]$/g, ""))
  return {
    host: host || "localhost",
    port: Number(searchParams.get("port") ?? (port || 5432)),
    database: searchParams.get("dbname") ?? pathname.replace(/^\//, "")
  }
}

/** An address as people are shown it: without who connects, and with what. */
export const shownAddress = (address: Redacted.Redacted): string => {
  const { database, host, port } = serverOf(address)
  const shownHost = host.includes(":") ? `[${host}]` : host
  return `postgres://${shownHost}${port === 5432 ? "" : `:${port}`}/${database}?schema=${schemaOf(address)}`
}
