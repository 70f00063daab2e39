/**
 * Requests to a mock that runs as a process, beside those of the page under test.
 */
import { Effect } from "effect"
import { expect } from "@effect/vitest"
import { prefix } from "../../http/service.ts"

export const frozen = ["--port", "0", "--clock", "frozen", "--provisioning", "10s", "--termination", "1h"]

interface Credentials {
  readonly apiKey: string
  readonly accessToken: string
}

const ofDefault: Credentials = { apiKey: "berth-key", accessToken: "berth-token" }

/** A request to the service, by the account of the default world unless another is given. */
export const request = (
  url: string,
  method: string,
  path: string,
  body?: unknown,
  { accessToken, apiKey }: Credentials = ofDefault
) =>
  Effect.promise(async () => {
    const reply = await fetch(`${url}${prefix}${path}?apikey=${apiKey}`, {
      method,
      headers: { authorization: `Bearer ${accessToken}`, "content-type": "application/json" },
      ...(body === undefined ? {} : { body: JSON.stringify(body) })
    })
    return { status: reply.status, text: await reply.text() }
  })

/** A request to the control plane, which succeeds. */
export const control = (url: string, method: string, path: string, body?: unknown) =>
  Effect.promise(async () => {
    const reply = await fetch(`${url}/_mock${path}`, {
      method,
      headers: { "content-type": "application/json" },
      ...(body === undefined ? {} : { body: JSON.stringify(body) })
    })
    expect(reply.ok).toBe(true)
    const text = await reply.text()
    return text === "" ? undefined : JSON.parse(text)
  })
