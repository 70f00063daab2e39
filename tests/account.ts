/**
 * The service under test, and how programs under test reach it: as settings of a process, as options of a client, or as the client itself.
 * `BERTH_TEST_DIALECT=today`, which `pnpm test:today` sets, makes the service use today's dialect.
 */
import * as Berth from "@berthkit/core/client/Berth"
import type { ClientOptions } from "@berthkit/core/client/options/Settings"
import type { TestServerOptions, TestWorld } from "@berthkit/server/testing"
import { Layer, Redacted } from "effect"
import { FetchHttpClient } from "effect/http"

/** An account of the service. */
type Account = Pick<TestWorld, "baseUrl" | "apiKey" | "accessToken">

/** Whether the service under test uses today's dialect by default. A test may still ask for another dialect. */
export const isToday = process.env["BERTH_TEST_DIALECT"] === "today"

/** The project and location of a scenario's nodes, as options of a client. */
export const placeOptions = isToday ? ({ project: 1, location: "Delhi" } as const) : {}

/** The same as flags. */
export const placeFlags = Object.entries(placeOptions).flatMap(([name, value]) => [`--${name}`, String(value)])

/** The plan that a node shows. In today's dialect it is a SKU, which the mock names after the slug. */
export const shownPlan = (slug: string): string =>
  isToday ? slug.replace(/^(\w+)-(\d+)VCPU-(\d+)RAM-\d+DISK/, "$1.$2vCPU.$3GB").replace("-1CLICK", ".1CLICK") : slug

/** The first status of a node. */
export const firstStatus = isToday ? "creating" : "created"

/** The project and location, as lines of an account in a config of the daemon. */
export const placeLines = (indent: string): string =>
  Object.entries(placeOptions)
    .map(([name, value]) => `${indent}${name}: ${value}\n`)
    .join("")

/** The same, as further fields of an account that is written on one line of a config. */
export const placeFields = Object.entries(placeOptions)
  .map(([name, value]) => `, ${name}: ${value}`)
  .join("")

/** The options of a service or a world, in the dialect of this test run. The plans are the same in both dialects. */
export const inDialect = (options: TestServerOptions = {}): TestServerOptions =>
  isToday ? { dialect: "today", catalogue: "documented", ...options } : options

/** The same, as flags of `berth-server`. */
export const dialectFlags = isToday ? ["--dialect", "today", "--catalogue", "documented"] : []

/** The project and location, as the environment of a process. */
export const placeSettings = isToday ? { BERTH_PROJECT: "1", BERTH_LOCATION: "Delhi" } : {}

/** The environment of a process. */
export const settingsOf = ({ accessToken, apiKey, baseUrl }: Account) => ({
  BERTH_BASE_URL: baseUrl,
  BERTH_API_KEY: Redacted.value(apiKey),
  BERTH_ACCESS_TOKEN: Redacted.value(accessToken),
  ...placeSettings
})

/** The options that every client needs. */
export const optionsOf = ({ accessToken, apiKey, baseUrl }: Account) => ({
  baseUrl,
  credentials: { apiKey, accessToken },
  ...placeOptions
})

/** The client over real sockets. */
export const clientOf = (account: Account, options: Partial<Omit<ClientOptions, "baseUrl" | "credentials">> = {}) =>
  Berth.layer({ ...optionsOf(account), ...options }).pipe(Layer.provide(FetchHttpClient.layer))
