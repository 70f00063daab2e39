/** Says in a few words for people what an event means. Chat messages and the timeline of the page show it. */

/** An event of any type, even of a type that only a newer daemon has. */
interface ToldEvent {
  readonly type: string
  readonly data: any
}

/** How good or bad the event is. */
export type EventTone = "good" | "warm" | "bad" | "off"

const exactRupees = new Intl.NumberFormat("en", { style: "currency", currency: "INR", maximumFractionDigits: 2 })

const inRupees = (value: unknown): string => (typeof value === "number" ? exactRupees.format(value) : "unknown")

/** The monthly price of a plan; a range if its images differ in price. */
const monthlyOf = (plan: ToldEvent["data"]): string => {
  const { maxPricePerMonthInr: max, minPricePerMonthInr: min, pricePerMonthInr: exact } = plan ?? {}
  if (typeof exact === "number" || typeof min !== "number") return inRupees(exact)
  return typeof max === "number" ? `${inRupees(min)} to ${inRupees(max)}` : `at least ${inRupees(min)}`
}

/** A status, in the service's own spelling if it is unknown. */
const statusWord = (status: any): string => (typeof status === "string" ? status : String(status?.unknown ?? "unknown"))

const counted = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? "" : "s"}`

/** How a new price changes the cost of the nodes with the plan. */
const costOf = ({ differencePerMonthInr: difference, nodes }: ToldEvent["data"]): string =>
  nodes === 0
    ? "no node has it"
    : typeof difference === "number"
      ? `${counted(nodes, "node")}, ${inRupees(Math.abs(difference))} ${difference < 0 ? "less" : "more"} a month`
      : counted(nodes, "node")

/** The account or sink of a trouble. */
const subjectOf = (about: ToldEvent["data"]): string => (about?.name == null ? "" : `${about.kind} ${about.name}: `)

/** Who asked for something, as the end of a sentence. */
const byWhom = ({ fleet, host, job, user }: Record<string, unknown>): string =>
  [
    typeof user === "string" ? ` by ${user}` : "",
    typeof host === "string" ? ` on ${host}` : "",
    typeof job === "string" ? ` in the job ${job}` : "",
    typeof fleet === "string" ? ` for the fleet ${fleet}` : ""
  ].join("")

const deletion = ({ cause, causedBy }: ToldEvent["data"]): [EventTone, string] => {
  switch (cause) {
    case "requested":
      return ["off", `was deleted${byWhom(causedBy ?? {})}`]
    case "lease":
      return ["off", `was deleted at the end of its lease${byWhom(causedBy ?? {})}`]
    case "commitment":
      return ["off", "was deleted at the end of its commitment"]
    case "unknown":
      return ["warm", "was deleted, and nobody is known to have asked for it"]
    default:
      return ["off", "was deleted"]
  }
}

/** For each event type: how good or bad the event is, and what happened. For node events, the text follows the node's name. */
const sentences: Readonly<Record<string, (event: ToldEvent) => [EventTone, string]>> = {
  "berth.node.created": () => ["good", "was created"],
  "berth.node.discovered": ({ data }) => ["off", `exists and is ${statusWord(data.after?.status)}`],
  "berth.node.status_changed": ({ data }) => ["off", `is ${statusWord(data.to)} (was ${statusWord(data.from)})`],
  "berth.node.changed": ({ data }) => [
    "off",
    `was changed${data.fields === undefined ? "" : `: ${data.fields.join(", ")}`}`
  ],
  "berth.node.deleted": ({ data }) => deletion(data),
  "berth.node.stuck": ({ data }) => [
    "warm",
    `is stuck${data.status === undefined ? "" : ` in ${statusWord(data.status)}`}`
  ],
  "berth.node.unstuck": () => ["good", "is no longer stuck"],
  "berth.watch.baseline": ({ data }) => ["off", `Watching began with ${counted(data.count ?? 0, "node")}`],
  "berth.watch.degraded": ({ data }) => ["bad", `Degraded: ${data.message}`],
  "berth.watch.recovered": () => ["good", "Recovered"],
  "berth.allowance.low": ({ data }) => [
    "warm",
    `The allowance is low: ${data.remaining} of ${data.limit} requests are left`
  ],
  "berth.image.added": ({ data }) => ["off", `Image ${data.after?.image} was added`],
  "berth.image.removed": ({ data }) => ["off", `Image ${data.before?.image} was removed`],
  "berth.plan.added": ({ data }) => ["off", `Plan ${data.after?.plan} was added at ${monthlyOf(data.after)} a month`],
  "berth.plan.removed": ({ data }) => [
    "warm",
    `Plan ${data.before?.plan} was removed; ${data.nodes === 0 ? "no node has it" : `${counted(data.nodes, "node")} with it`}`
  ],
  "berth.plan.price_changed": ({ data }) => [
    "warm",
    `Plan ${data.after?.plan} costs ${monthlyOf(data.after)} a month instead of ` +
      `${monthlyOf(data.before)}: ${costOf(data)}`
  ],
  "berth.cost.forecast_exceeded": ({ data }) => [
    "warm",
    `The forecast for ${data.month} is ${inRupees(data.forecastInr)}, above its budget of ` +
      `${inRupees(data.budgetInr)}; ${inRupees(data.monthToDateInr)} is spent`
  ],
  "berth.cost.budget_crossed": ({ data }) => [
    data.thresholdPercent < 100 ? "warm" : "bad",
    `${inRupees(data.monthToDateInr)} of ${data.month} is spent: ${data.thresholdPercent} % of its budget of ` +
      `${inRupees(data.budgetInr)} is reached`
  ],
  "berth.cost.idle": ({ data }) => [
    "warm",
    `${data.reason === "off" ? "is off and still billed" : "has outlived its lease"}` +
      (typeof data.pricePerHourInr === "number" ? `, at ${inRupees(data.pricePerHourInr)} an hour` : "")
  ],
  "berth.node.lease_expired": () => ["warm", "is still there after the end of its lease"],
  "berth.sink.disabled": ({ data }) => ["bad", `Sink ${data.sink} is disabled: ${data.message}`],
  "berth.watch.trouble": ({ data }) => [
    data.severity === "critical" ? "bad" : "warm",
    `${subjectOf(data.about)}${data.message} ${data.next}`.replace(/\.$/, "")
  ],
  "berth.watch.trouble_ended": ({ data }) => ["good", `${subjectOf(data.about)}${data.trouble} is over`]
}

/**
 * The tone of an event (`good`, `warm`, `bad` or `off`) and its sentence. For an unknown type, such as one from a newer daemon,
 * the sentence is the type itself.
 */
export const sentenceOf = (event: ToldEvent): { readonly tone: EventTone; readonly text: string } => {
  const [tone, text] = sentences[event.type]?.(event) ?? ["off", event.type]
  return { tone, text }
}
