/** Helpers for tests of the page: a server with frozen clocks, and its control plane. */
import { Effect, Redacted } from "effect"
import { expect } from "@effect/vitest"
import type { Account } from "../../http/service.ts"
import { controlAt } from "../plane.ts"

/** A server whose clocks stand still. */
export const frozen = ["--port", "0", "--clock", "frozen", "--provisioning", "10s", "--termination", "1h"]

/** Sends a request to the control plane, which must succeed; returns the body of its reply. */
export const mustControl = (account: Account, method: string, path: string, body?: unknown) =>
  Effect.map(controlAt(account, method, path, body), ({ json, status }) => {
    expect(status).toBeLessThan(300)
    return json
  })

/** The account of a world that `mustControl` has made. */
export const accountOf = ({ baseUrl }: Account, made: { readonly apiKey: string; readonly accessToken: string }) => ({
  baseUrl,
  apiKey: Redacted.make(made.apiKey),
  accessToken: Redacted.make(made.accessToken)
})
