/**
 * `berth auth token`: a credential of the account in use, for other programs. The one command that prints a secret, and to stdout alone.
 */
import { Effect, Redacted } from "effect"
import { command } from "../command.ts"
import { switchFlag } from "../../commandLine/Parameter.ts"
import { Output } from "../../output/Output.ts"
import { connection } from "../../settings/client.ts"

export const token = command(
  { apiKey: switchFlag("api-key", "Print the API key instead") },
  Effect.fnUntraced(function* ({ apiKey }) {
    // As for a call: credentials that no request would be sent with are not printed.
    const { options } = yield* connection
    const secret = apiKey ? options.credentials.apiKey : options.credentials.accessToken
    yield* Output.use(({ data }) => data(`${Redacted.value(secret).trim()}\n`))
  })
)
