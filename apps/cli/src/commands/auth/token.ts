/**
 * `berth auth token`: prints a credential of the current account for other programs. This is the only command that prints a secret, and it
 * prints to stdout only.
 */
import { Effect, Redacted } from "effect"
import { command } from "../command.ts"
import { switchFlag } from "../../commandLine/Parameter.ts"
import { Output } from "../../output/Output.ts"
import { connection } from "../../settings/client.ts"

export const token = command(
  { apiKey: switchFlag("api-key", "Print the API key instead") },
  Effect.fnUntraced(function* ({ apiKey }) {
    // Apply the same checks as for a call, so that a credential is printed only if a request would carry it.
    const { options } = yield* connection
    const secret = apiKey ? options.credentials.apiKey : options.credentials.accessToken
    yield* Output.use(({ data }) => data(`${Redacted.value(secret).trim()}\n`))
  })
)
