/** Credentials with characters that every encoding writes differently. */
import { Redacted } from "effect"

export const apiKey = "key/with+odd=chars&more"
export const accessToken = "token.with-odd~chars"

export const oddCredentials = { apiKey: Redacted.make(apiKey), accessToken: Redacted.make(accessToken) }
