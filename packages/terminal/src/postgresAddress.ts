/**
 * The address of a PostgreSQL server, as settings have it. It holds a password: no message shows more of it than `shownAddress`.
 */
import { Redacted } from "effect"

/** Whether a text is an address of PostgreSQL at all. */
export const isPostgres = (text: string): boolean => /^postgres(ql)?:\/\//.test(text)

/** The schema of the tables: `berth` unless the address says `?schema=NAME`. */
export const schemaOf = (address: Redacted.Redacted): string =>
  new URL(Redacted.value(address)).searchParams.get("schema") ?? "berth"

/** What an address has to look like. A longer name would not fit with those of tables behind it. */
export const postgresForm =
  "an address such as postgres://USER:PASSWORD@HOST/DATABASE?schema=berth, with a schema of at most 40 small letters, digits and _"

/** Whether it is one, as far as its text shows. */
export const isAddress = (address: Redacted.Redacted): boolean =>
  URL.canParse(Redacted.value(address)) && /^[a-z_][a-z0-9_]{0,39}$/.test(schemaOf(address))

/** An address as people are shown it: without who connects, and with what. */
export const shownAddress = (address: Redacted.Redacted): string => {
  const { host, pathname } = new URL(Redacted.value(address))
  return `postgres://${host}${pathname}?schema=${schemaOf(address)}`
}
