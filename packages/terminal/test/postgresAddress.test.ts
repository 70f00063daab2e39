import { describe, expect, it } from "@effect/vitest"
import { readAddress, serverOf, shownAddress } from "@berthkit/terminal/postgresAddress"
import { Redacted, Result } from "effect"

const read = (text: string, variables: Readonly<Record<string, string>> = {}) =>
  readAddress(text, (name) => variables[name])

const partsOf = (text: string, variables: Readonly<Record<string, string>>) => {
  const address = Result.getOrThrow(read(text, variables))
  const { searchParams, username } = new URL(Redacted.value(address))
  const { host, port, database } = serverOf(address)
  return [searchParams.get("user") ?? username, searchParams.get("password"), host, port, database]
}

const all = {
  PGHOST: "db.example.com",
  PGPORT: "6432",
  PGUSER: "watch",
  PGPASSWORD: "p w&%+=",
  PGDATABASE: "berth",
  PGSSLMODE: "require"
}

describe("an address of PostgreSQL", () => {
  it("gets the parts that it leaves out from the variables of PostgreSQL", () => {
    expect(partsOf("postgres://", all)).toEqual(["watch", "p w&%+=", "db.example.com", 6432, "berth"])
    expect(partsOf("postgres://other", all)).toEqual(["watch", "p w&%+=", "other", 6432, "berth"])
    expect(partsOf("postgresql://me:mine@other:1/db?sslmode=disable", all)).toEqual(["me", null, "other", 1, "db"])
    expect(partsOf("postgres:///?host=other&port=2&user=me&password=mine&dbname=db", all)).toEqual([
      "me",
      "mine",
      "other",
      2,
      "db"
    ])
    expect(partsOf("postgres://", { PGHOST: "/var/run/postgresql", PGUSER: " " })).toEqual([
      "",
      null,
      "/var/run/postgresql",
      5432,
      ""
    ])
    expect(new URL(Redacted.value(Result.getOrThrow(read("postgres://db", all)))).searchParams.get("sslmode")).toBe(
      "require"
    )
  })

  it("is shown with the server that the variables name, and without who connects", () => {
    const shown = (text: string, variables = {}) => shownAddress(Result.getOrThrow(read(text, variables)))
    expect(shown("postgres:///?schema=watch", all)).toBe("postgres://db.example.com:6432/berth?schema=watch")
    expect(shown("postgres://me:secret@db/watch?password=secret")).toBe("postgres://db/watch?schema=berth")
    expect(shown("postgres://[::1]:5433/watch")).toBe("postgres://[::1]:5433/watch?schema=berth")
  })

  it("is refused with a part that cannot be used, which is named with its variable", () => {
    const problem = (text: string, variables = {}) => Result.getOrThrow(Result.flip(read(text, variables)))
    expect(problem("postgres://db", { PGSSLMODE: "on" })).toBe("has a PGSSLMODE that is not usable")
    expect(problem("postgres://db?sslmode=on")).toBe("has a sslmode that is not usable")
    expect(problem("postgres://db", { PGPORT: "0" })).toBe("has a PGPORT that is not usable")
    expect(problem("postgres://db", { PGCONNECT_TIMEOUT: "5s" })).toBe("has a PGCONNECT_TIMEOUT that is not usable")
    expect(problem("postgres://db/watch?schema=No")).toContain("has to be an address such as postgres://")
    expect(problem("mysql://db")).toContain("has to be an address such as postgres://")
  })
})
