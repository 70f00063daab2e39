/**
 * Asks the person behind an agent. Where the agent's program has a dialog for that it is shown there, in the way of the protocol that it
 * speaks; otherwise a person approves in a terminal. Nothing that a model says is an answer: arguments of tools are not looked at.
 */
import { Clock, Effect, Option, Predicate, Result, Schema } from "effect"
import { McpSchema } from "effect/ai"
import { consentLines, type Kept } from "../../proposal/ProposalStore.ts"

/** What came of it; `terminal` where the program has no dialog, could not show it, or gives a reply that is none. */
export type Consent = "approved" | "declined" | "cancelled" | "terminal" | McpSchema.InputRequired

/** Most questions that wait for an answer at a time. */
const maxAsked = 1000

/** The key of the question among the inputs that a reply asks for. */
const inputKey = "approval"

const consentOf = (action: unknown): Consent =>
  action === "accept" ? "approved" : action === "decline" ? "declined" : "cancelled"

const decodeForm = Schema.decodeUnknownEffect(McpSchema.ElicitRequestFormParams)

/** Asks about proposals in one run of the server. */
export const makeConsent = () => {
  /** Which proposal each question was about, by a text that only who was asked knows. */
  const asked = new Map<string, string>()

  /** In the revision without sessions the reply asks, and the same call comes again with the answer. */
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

  /** In a session the dialog is a request of ours. It ends with the proposal. */
  const askInSession = Effect.fnUntraced(function* (
    { getClient }: McpSchema.McpServerClient["Service"],
    kept: Kept,
    form: object
  ) {
    const params = yield* Effect.orDie(decodeForm(form))
    const leftMillis = Math.max(1, kept.expiresMillis - (yield* Clock.currentTimeMillis))
    const reply = yield* Effect.scoped(Effect.flatMap(getClient, (client) => client.elicit(params))).pipe(
      Effect.timeoutOption(leftMillis),
      // The toolkit dies of a reply that does not fit.
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
      // Accepting is the answer: nothing is left to fill in, by a person or by anybody else.
      requestedSchema: { type: "object", properties: {} }
    }
    const session = yield* Effect.serviceOption(McpSchema.McpServerClient)
    return Option.isSome(session) ? yield* askInSession(session.value, kept, form) : yield* askInReply(kept, form)
  })
}
