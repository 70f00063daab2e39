/**
 * Asks the person who uses an agent. If the agent's program can show a dialog, the question appears there; otherwise a person approves in a
 * terminal. Nothing that a model says counts as an answer: tool arguments are never read as consent.
 */
import { Clock, Effect, Option, Predicate, Result, Schema } from "effect"
import { McpSchema } from "effect/ai"
import { consentLines, type Kept } from "../../proposal/ProposalStore.ts"

/** The person's answer; `terminal` if the program has no dialog, could not show it, or returned an invalid reply. */
export type Consent = "approved" | "declined" | "cancelled" | "terminal" | McpSchema.InputRequired

/** Maximum number of questions that are open at a time. */
const maxAsked = 1000

/** The key of our question in a reply that asks for input. */
const inputKey = "approval"

const consentOf = (action: unknown): Consent =>
  action === "accept" ? "approved" : action === "decline" ? "declined" : "cancelled"

const decodeForm = Schema.decodeUnknownEffect(McpSchema.ElicitRequestFormParams)

/** Asks about the proposals of one server run. */
export const makeConsent = () => {
  /** Maps a secret that only the asked program knows to the proposal of the question. */
  const asked = new Map<string, string>()

  /** In the protocol revision without sessions, the reply contains the question, and the client repeats the call with the answer. */
  const askInReply = Effect.fnUntraced(function* (kept: Kept, form: object) {
    const { inputResponses, requestState } = yield* McpSchema.McpRequestContext
    const response = inputResponses?.[inputKey]
    if (response !== undefined && requestState !== undefined && asked.get(requestState) === kept.id) {
      asked.delete(requestState)
      return consentOf(response["action"])
    }
    const [oldest] = asked.keys()
    if (asked.size >= maxAsked && oldest !== undefined) asked.delete(oldest)
    const state = yield* Effect.promise(async () => (await import("node:crypto")).randomUUID())
    asked.set(state, kept.id)
    return new McpSchema.InputRequired({
      inputRequests: { [inputKey]: { method: "elicitation/create", params: { ...form } } },
      requestState: state
    })
  })

  /** In a session, the server sends a request for the dialog. The request ends when the proposal expires. */
  const askInSession = Effect.fnUntraced(function* (
    { getClient }: McpSchema.McpServerClient["Service"],
    kept: Kept,
    form: object
  ) {
    const params = yield* Effect.orDie(decodeForm(form))
    const leftMillis = Math.max(1, kept.expiresMillis - (yield* Clock.currentTimeMillis))
    const reply = yield* Effect.scoped(Effect.flatMap(getClient, (client) => client.elicit(params))).pipe(
      Effect.timeoutOption(leftMillis),
      // The toolkit (Effect's MCP server) reports an invalid reply as a defect.
      Effect.catchDefect(Effect.fail),
      Effect.result
    )
    if (Result.isFailure(reply)) return "terminal"
    return Option.match(reply.success, {
      onNone: () => "cancelled" as const,
      onSome: ({ action }) => consentOf(action)
    })
  })

  return Effect.fnUntraced(function* (kept: Kept): Effect.fn.Return<Consent, never, McpSchema.McpRequestContext> {
    const { clientCapabilities } = yield* McpSchema.McpRequestContext
    const { elicitation } = clientCapabilities
    const hasForm = Predicate.isObject(elicitation) && ("form" in elicitation || !("url" in elicitation))
    if (!hasForm) return "terminal"
    const form = {
      mode: "form",
      message: consentLines(kept).join("\n"),
      // The form has no fields that somebody else could fill in: accepting the form is the whole answer.
      requestedSchema: { type: "object", properties: {} }
    }
    const session = yield* Effect.serviceOption(McpSchema.McpServerClient)
    return Option.isSome(session) ? yield* askInSession(session.value, kept, form) : yield* askInReply(kept, form)
  })
}
