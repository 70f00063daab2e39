/** What an event means, in a few words for people: in the messages to chats and in the timeline of the page. */

/** An event of any type, also of one that only a newer daemon has. */
interface ToldEvent {
  readonly type: string
  readonly data: any
}

/** How it is meant. */
export type EventTone = "good" | "warm" | "bad" | "off"

const exactRupees = new Intl.NumberFormat("en", { style: "currency", currency: "INR", maximumFractionDigits: 2 })

const inRupees = (value: unknown): string => (typeof value === "number" ? exactRupees.format(value) : "unknown")

/** What a plan costs in a month: with images of several prices from the lowest to the highest. */
const monthlyOf = (plan: ToldEvent["data"]): string => {
  const { maxPricePerMonthInr: max, minPricePerMonthInr: min, pricePerMonthInr: exact } = plan ?? {}
  if (typeof exact === "number" || typeof min !== "number") return inRupees(exact)
  return typeof max === "number" ? `${inRupees(min)} to ${inRupees(max)}` : `at least ${inRupees(min)}`
}

/** A status, in the service's own spelling where it is not a known one. */
const statusWord = (status: any): string => (typeof status === "string" ? status : String(status?.unknown ?? "unknown"))

const counted = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? "" : "s"}`

/** What a new price comes to for the nodes that have the plan. */
const costOf = ({ differencePerMonthInr: difference, nodes }: ToldEvent["data"]): string =>
  nodes === 0
    ? "no node has it"
    : typeof difference === "number"
      ? `${counted(nodes, "node")}, ${inRupees(Math.abs(difference))} ${difference < 0 ? "less" : "more"} a month`
      : counted(nodes, "node")

/** The account or sink that a trouble is about. */
const subjectOf = (about: ToldEvent["data"]): string => (about?.name == null ? "" : `${about.kind} ${about.name}: `)

/**
 * By type: how good or bad it is, and what happened. Of a node it goes on behind the name of the node.
 */
const sentences: Readonly<Record<string, (event: ToldEvent) => [EventTone, string]>> = {
  "berth.node.created": () => ["good", "was created"],
  "berth.node.discovered": ({ data }) => ["off", `exists and is ${statusWord(data.after?.status)}`],
  "berth.node.status_changed": ({ data }) => ["off", `is ${statusWord(data.to)} (was ${statusWord(data.from)})`],
  "berth.node.changed": ({ data }) => [
    "off",
    `was changed${data.fields === undefined ? "" : `: ${data.fields.join(", ")}`}`
  ],
  "berth.node.deleted": () => ["off", "was deleted"],
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
    `${data.month} is going to cost ${inRupees(data.forecastInr)}, which is more than its budget of ` +
      `${inRupees(data.budgetInr)}; ${inRupees(data.monthToDateInr)} is spent`
  ],
  "berth.cost.budget_crossed": ({ data }) => [
    data.thresholdPercent < 100 ? "warm" : "bad",
    `${inRupees(data.monthToDateInr)} of ${data.month} is spent: ${data.thresholdPercent} % of its budget of ` +
      `${inRupees(data.budgetInr)} is reached`
  ],
  "berth.cost.idle": ({ data }) => [
    "warm",
    `${data.reason === "off" ? "is off and still billed" : "is older than its lease"}` +
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

/** How an event is meant (`good`, `warm`, `bad` or `off`) and its sentence. A type from a newer daemon is its own sentence. */
export const sentenceOf = (event: ToldEvent): { readonly tone: EventTone; readonly text: string } => {
  const [tone, text] = sentences[event.type]?.(event) ?? ["off", event.type]
  return { tone, text }
}
