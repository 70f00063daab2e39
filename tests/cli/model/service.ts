/**
 * The service, which is the truth of the model: its nodes and who ordered each, prices, purchases, and the faults ("weather") that the next
 * command meets. It sees only the requests of berth.
 */
import { VirtualTime } from "./VirtualTime.ts"

export const plans = {
  tiny: "A-1VCPU-1RAM-10DISK",
  small: "C-2VCPU-8RAM-50DISK",
  flat: "F-2VCPU-4RAM-20DISK",
  huge: "M-64VCPU-512RAM-4000DISK"
} as const
export type PlanName = keyof typeof plans
export const images = { ubuntu: "Ubuntu-24.04", debian: "Debian-13" } as const
export type ImageName = keyof typeof images

/** The places: projects in locations, each with its own nodes. Requests without a project are about the first place. */
export const places = {
  first: { project: undefined, location: undefined },
  second: { project: "42", location: "Delhi" }
} as const
export type Place = keyof typeof places

/** The currency of the amounts below. The service names a currency only if it is not rupees. */
export type Currency = "INR" | "USD"

/** Rupees per hour. The plan `flat` is billed only by the month. */
const firstPrices: Readonly<Record<PlanName, number>> = { tiny: 1.5, small: 12, flat: 0, huge: 480 }
/** Rupees per month of 730 hours, for plans that are not billed by the hour. */
const firstFlatPrices: Readonly<Record<PlanName, number>> = { tiny: 0, small: 0, flat: 2920, huge: 0 }
/** The minimum charge in rupees. */
const firstMinimums: Readonly<Record<PlanName, number>> = { tiny: 36, small: 288, flat: 100, huge: 0 }
const hoursPerMonth = 730
const hoursOfLongestMonth = 744

/** What may go wrong with a changing request. */
export type Trouble =
  /** The request is not processed, and the reply says why. */
  | "429"
  | "412"
  | "400"
  | "500"
  /** The request is processed, but no reply comes. */
  | "lost"
  /** The request is not processed, and no reply comes. */
  | "swallowed"
  /** No reply comes, and the request is processed two minutes later. */
  | "late"

/** How a service changes the spelling of names. */
type Spelling = "lower" | "dashes" | "cut"

/** The faults that the requests of one command meet. */
export interface Weather {
  readonly create?: Trouble
  /** `ignored`: the reply says that the node is deleted, and it stays. */
  readonly remove?: Trouble | "ignored"
  readonly commit?: Trouble
  /** How many of the command's changes have trouble, counted from the first. Default: all. */
  readonly times?: number
  /** For how many seconds lists do not show a new node. */
  readonly hiddenForSeconds?: number
  readonly spelling?: Spelling
  /** Whether new nodes never run. */
  readonly neverRuns?: boolean
  /**
   * The first new node stops, or somebody deletes it, some seconds after it starts to run. Each further node takes longer to start, and so
   * do the replies to purchases, so that the command has something to wait for.
   */
  readonly firstNode?: "off" | "gone"
  /** Whether reads by id answer 404 although the node exists: always, or only the first time (`once`). */
  readonly falseMissing?: boolean | "once"
  /** Whether lists show the state before the last change. */
  readonly staleLists?: boolean
  /** Whether lists leave out their last node. */
  readonly shortLists?: boolean
  /** Whether replies do not state the time. */
  readonly noDate?: boolean
  /** Whether lists do not state when nodes were created, as today. */
  readonly undatedLists?: boolean
}

/** Who made a node. */
export type Maker = "berth" | "somebody else"

export interface NodeTruth {
  readonly id: number
  /** Who deleted the node; null if nobody has. */
  removedBy: Maker | null
  name: string
  readonly place: Place
  readonly plan: string
  readonly image: string
  readonly createdMillis: number
  readonly runsAtMillis: number
  /** Whether somebody has turned it off. */
  isOff: boolean
  readonly maker: Maker
  /** The requested name. */
  readonly askedName: string
  /** The number of the command that ordered the node; 0 for somebody else. */
  readonly command: number
  /** When the weather turned the node off or deleted it. */
  fellAtMillis: number
  /** When its delete began. */
  leavesAtMillis: number
}

/** A request that changes something. */
export interface ChangeTruth {
  readonly kind: "create" | "delete" | "commit"
  readonly command: number
  readonly atMillis: number
  readonly body: Readonly<Record<string, unknown>>
  readonly id: number | null
  readonly place: Place
  /** The output of the command before it sent the request. */
  readonly shown: string
  /** The price when the service received the request. */
  readonly pricePerHour: number
  /** The cost per hour at that time, for every way of billing. */
  readonly costPerHour: number
  readonly minimum: number
  /** The currency of these amounts. */
  readonly currency: Currency
  readonly commitmentPrice: number | null
  readonly node: Readonly<NodeTruth> | null
  /** A node that already had the name of the create; null if there was none. */
  readonly sameNamed: number | null
  /** Nodes of others that already had the name of the create. */
  readonly foreignOfThatName: ReadonlyArray<number>
  /** The nodes that existed at that time and were not being deleted, and those among them that ran. */
  readonly living: ReadonlySet<number>
  readonly running: ReadonlySet<number>
  isProcessed: boolean
  /** Whether its reply reached the command. */
  isAnswered: boolean
  /** Whether the reply, if any, does not show whether the request was processed. */
  isOpen: boolean
  /** The node that a create made. */
  made: NodeTruth | null
}

export interface WireRequest {
  readonly method: string
  readonly path: string
  readonly query: URLSearchParams
  readonly body: Readonly<Record<string, unknown>>
  readonly command: number
  readonly shown: string
}

export interface WireReply {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/** Delivers a reply, or breaks the connection; returns whether anybody still waits for it. */
type Respond = (reply: WireReply | "broken") => boolean

const latencyMillis = 40
const startMillis = 4000
const goneMillis = 3000
/** How long after its create the first node stops or disappears, and how much longer the others take to start. */
const fallsMillis = 8000
const longerMillis = 10_000
const slowPurchaseMillis = 6000
/** `berth` may use a read for this long, so it need not know about nodes that stopped more recently. */
export const freshMillis = 2200
const lateMillis = 120_000
const dayHours = 24

const spelled = (name: string, spelling: Spelling | undefined): string => {
  switch (spelling) {
    case "lower":
      return name.toLowerCase()
    case "dashes":
      return name.replaceAll("_", "-")
    case "cut":
      return name.slice(0, 12)
    case undefined:
      return name
  }
}

export class Service {
  readonly time: VirtualTime
  readonly nodes = new Map<number, NodeTruth>()
  readonly changes: Array<ChangeTruth> = []
  readonly prices: Record<PlanName, number> = { ...firstPrices }
  readonly flatPrices: Record<PlanName, number> = { ...firstFlatPrices }
  readonly minimums: Record<PlanName, number> = { ...firstMinimums }
  commitmentFactor = 1
  currency: Currency = "INR"
  weather: Weather = {}
  /** The places that each command has asked for. */
  readonly asked = new Map<number, Set<Place>>()
  #nextId = 1000
  #left = 0
  #made = 0
  #isMissed = false
  #stale: ReadonlyArray<NodeTruth> = []

  constructor(time: VirtualTime) {
    this.time = time
  }

  /** The weather of the next command. */
  begin(weather: Weather): void {
    this.weather = weather
    this.#left = weather.times ?? Number.POSITIVE_INFINITY
    this.#made = 0
    this.#isMissed = false
    this.#stale = this.listed()
  }

  isThere({ leavesAtMillis }: NodeTruth): boolean {
    return this.time.nowMillis < leavesAtMillis + goneMillis
  }

  /** Whether a node exists and is not being deleted. */
  isLiving = ({ leavesAtMillis }: NodeTruth): boolean => this.time.nowMillis < leavesAtMillis

  isRunning = (node: NodeTruth): boolean =>
    this.isLiving(node) && !node.isOff && node.runsAtMillis <= this.time.nowMillis

  living(): ReadonlyArray<NodeTruth> {
    return Array.from(this.nodes.values()).filter(this.isLiving)
  }

  livingIn(place: Place): ReadonlyArray<NodeTruth> {
    return this.living().filter((node) => node.place === place)
  }

  /** The existing nodes, as a correct list shows them. */
  listed(): ReadonlyArray<NodeTruth> {
    return Array.from(this.nodes.values()).filter((node) => this.isThere(node))
  }

  #nameOf(plan: string): PlanName | undefined {
    return Object.entries(plans).find((entry) => entry[1] === plan)?.[0] as PlanName | undefined
  }

  priceOf(plan: string): number {
    const name = this.#nameOf(plan)
    return name === undefined ? Number.NaN : this.prices[name]
  }

  minimumOf(plan: string): number {
    const name = this.#nameOf(plan)
    return name === undefined ? Number.NaN : this.minimums[name]
  }

  #monthOf(name: PlanName): number {
    return this.prices[name] * hoursPerMonth + this.flatPrices[name]
  }

  /** The cost of a node per hour over a month, with the minimum charge if it is new. */
  costOf(plan: string, isNew: boolean): number {
    const name = this.#nameOf(plan)
    if (name === undefined) return Number.NaN
    const perHour = this.prices[name]
    const others = [this.#monthOf(name), ...(isNew ? [this.minimums[name]] : [])]
    return Math.max(
      perHour,
      ...others.map((amount) => (amount <= perHour * hoursOfLongestMonth ? 0 : amount / hoursPerMonth))
    )
  }

  /** The price of a whole committed period. */
  optionPrice(plan: PlanName, days: number): number {
    return Math.round((this.#monthOf(plan) / hoursPerMonth) * days * dayHours * 0.5 * this.commitmentFactor * 100) / 100
  }

  skuOf(plan: PlanName, days: number): number {
    return Object.keys(plans).indexOf(plan) * 1000 + days
  }

  #optionPriceOf(skuId: unknown): number | null {
    const plan = Object.keys(plans)[Math.floor(Number(skuId) / 1000)] as PlanName | undefined
    const days = Number(skuId) % 1000
    return plan === undefined || days === 0 ? null : this.optionPrice(plan, days)
  }

  make(name: string, plan: string, image: string, maker: Maker, place: Place, command = 0): NodeTruth {
    const { firstNode, neverRuns, spelling } = maker === "berth" ? this.weather : {}
    const now = this.time.nowMillis
    const before = firstNode === undefined ? 0 : this.#made++
    const node: NodeTruth = {
      id: this.#nextId++,
      name: spelled(name, spelling),
      askedName: name,
      place,
      plan,
      image,
      maker,
      command,
      removedBy: null,
      createdMillis: now,
      runsAtMillis: neverRuns === true ? Number.POSITIVE_INFINITY : now + startMillis + before * longerMillis,
      isOff: false,
      fellAtMillis: Number.POSITIVE_INFINITY,
      leavesAtMillis: Number.POSITIVE_INFINITY
    }
    this.nodes.set(node.id, node)
    if (firstNode !== undefined && before === 0) this.time.after(fallsMillis, () => this.#fall(node, firstNode))
    return node
  }

  #fall(node: NodeTruth, how: "off" | "gone"): void {
    if (!this.isRunning(node)) return
    node.fellAtMillis = this.time.nowMillis
    if (how === "off") node.isOff = true
    else this.remove(node, "somebody else")
  }

  #fellLately({ fellAtMillis }: NodeTruth): boolean {
    const { nowMillis } = this.time
    return fellAtMillis <= nowMillis && nowMillis - fellAtMillis < freshMillis
  }

  /** Whether a node runs, or stopped so recently that no command can know. */
  #seemsToRun = (node: NodeTruth): boolean => this.isRunning(node) || this.#fellLately(node)

  remove(node: NodeTruth, by: Maker): void {
    if (!this.isLiving(node)) return
    node.leavesAtMillis = this.time.nowMillis
    node.removedBy = by
  }

  /** Receives a request; the reply, if any, comes later. A request that is lost on its way is only recorded. */
  receive(request: WireRequest, answered: Respond, isLost = false): void {
    const { method } = request
    const place = placeOf(request)
    const asked = this.asked.get(request.command) ?? new Set()
    this.asked.set(request.command, asked.add(place))
    const respond: Respond = (reply) => answered(reply === "broken" ? reply : this.#dated(reply))
    if (method === "GET") {
      if (isLost) return
      this.time.after(latencyMillis, () => respond(this.#read(request, place)))
      return
    }
    const kind = method === "DELETE" ? "delete" : request.path === "/nodes/" ? "create" : "commit"
    const id =
      kind === "create"
        ? null
        : kind === "delete"
          ? Number(/\d+/.exec(request.path)?.[0])
          : Number(request.body["vcn_id"])
    const node = id === null ? null : (this.nodes.get(id) ?? null)
    const change: ChangeTruth = {
      kind,
      command: request.command,
      atMillis: this.time.nowMillis,
      body: request.body,
      id,
      place,
      shown: request.shown,
      pricePerHour: this.priceOf(String(request.body["plan"])),
      costPerHour: this.costOf(String(request.body["plan"]), true),
      minimum: this.minimumOf(String(request.body["plan"])),
      currency: this.currency,
      commitmentPrice: this.#optionPriceOf(request.body["committed_plan"] ?? request.body["cn_id"] ?? 0),
      node: node && { ...node },
      sameNamed: this.livingIn(place).find(({ name }) => name === request.body["name"])?.id ?? null,
      foreignOfThatName: this.livingIn(place)
        .filter(({ maker, name }) => maker === "somebody else" && name === request.body["name"])
        .map((each) => each.id),
      living: new Set(this.living().map((each) => each.id)),
      running: new Set(
        Array.from(this.nodes.values())
          .filter(this.#seemsToRun)
          .map((each) => each.id)
      ),
      isProcessed: false,
      isAnswered: false,
      isOpen: isLost,
      made: null
    }
    this.changes.push(change)
    if (isLost) return
    this.#change(change, this.#troubleOf(kind), respond)
  }

  #dated(reply: WireReply): WireReply {
    if (this.weather.noDate === true) return reply
    return { ...reply, headers: { ...reply.headers, date: new Date(this.time.nowMillis).toUTCString() } }
  }

  #troubleOf(kind: ChangeTruth["kind"]): Trouble | "ignored" | undefined {
    const { commit, create, remove } = this.weather
    const trouble = { create, delete: remove, commit }[kind]
    if (trouble === undefined || this.#left <= 0) return undefined
    this.#left--
    return trouble
  }

  #change(change: ChangeTruth, trouble: Trouble | "ignored" | undefined, respond: Respond): void {
    const isSlow = change.kind === "commit" && this.weather.firstNode !== undefined
    const answer = (reply: WireReply) =>
      this.time.after(isSlow ? slowPurchaseMillis : latencyMillis, () => {
        change.isAnswered = respond(reply)
      })
    change.isOpen = trouble === "lost" || trouble === "swallowed" || trouble === "late"
    switch (trouble) {
      case undefined:
        return void answer(this.#process(change))
      case "429":
        return void answer(failure(429, "Too many requests"))
      case "412":
        return void answer(failure(412, "Precondition Failed", { plan: ["Not available now."] }))
      case "400":
        return void answer(failure(400, "Bad Request", { plan: ["Node limit reached."] }))
      case "500":
        return void answer(failure(500, "Internal Server Error"))
      case "ignored":
        return void answer({ ...success({}), status: 204, body: "" })
      case "lost":
        this.#process(change)
        return void this.time.after(latencyMillis, () => respond("broken"))
      case "swallowed":
        return void this.time.after(latencyMillis, () => respond("broken"))
      case "late":
        this.time.after(lateMillis, () => this.#process(change))
        return void this.time.after(latencyMillis, () => respond("broken"))
    }
  }

  #process(change: ChangeTruth): WireReply {
    const { body, command, id, kind, place } = change
    if (kind === "create") {
      change.isProcessed = true
      const node = this.make(String(body["name"]), String(body["plan"]), String(body["image"]), "berth", place, command)
      change.made = node
      return { ...success({ ...this.#record(node), status: "Create" }), status: 202 }
    }
    const node = id === null ? undefined : this.nodes.get(id)
    if (node?.place !== place || !this.isThere(node)) return failure(404, "Not found")
    change.isProcessed = true
    if (kind === "commit") return success({ ...body })
    this.remove(node, "berth")
    return { ...success({}), status: 204, body: "" }
  }

  #read({ path, query }: WireRequest, place: Place): WireReply {
    if (path === "/images/") return success(this.#catalogue())
    if (path.startsWith("/images/")) return success([])
    if (path === "/nodes/") return this.#list(query, place)
    const id = Number(/\d+/.exec(path)?.[0])
    const node = this.nodes.get(id)
    if (node?.place !== place || !this.isThere(node) || this.#isMissing()) return failure(404, "Not found")
    return success(this.#record(node))
  }

  #isMissing(): boolean {
    const { falseMissing = false } = this.weather
    const isMissing = falseMissing === "once" ? !this.#isMissed : falseMissing
    this.#isMissed = true
    return isMissing
  }

  #list(query: URLSearchParams, place: Place): WireReply {
    const { hiddenForSeconds = 0, shortLists, staleLists } = this.weather
    const now = this.time.nowMillis
    const all = (staleLists === true ? this.#stale : this.listed()).filter((node) => node.place === place)
    const visible = all.filter(({ createdMillis }) => now - createdMillis >= hiddenForSeconds * 1000)
    const kept = shortLists === true ? visible.slice(0, -1) : visible
    const [page, size] = [Number(query.get("page_no") ?? 1), Math.min(100, Number(query.get("per_page") ?? 20))]
    return success(kept.slice((page - 1) * size, page * size).map((node) => this.#listed(node)))
  }

  #statusOf(node: NodeTruth): string {
    if (!this.isLiving(node)) return "terminate"
    return this.isRunning(node) ? "running" : node.isOff ? "power-off" : "created"
  }

  #listed(node: NodeTruth) {
    const { created_at, ...rest } = this.#record(node)
    return this.weather.undatedLists === true ? rest : { ...rest, created_at }
  }

  #record(node: NodeTruth) {
    const [, vcpus = "1", ram = "1", disk = "10"] = /(\d+)VCPU-(\d+)RAM-(\d+)DISK/.exec(node.plan) ?? []
    return {
      id: node.id,
      name: node.name,
      created_at: new Date(node.createdMillis).toISOString().replace("Z", "000Z"),
      public_ip_address: `203.0.113.${node.id % 250}`,
      private_ip_address: `10.0.0.${node.id % 250}`,
      backup: false,
      disk: `${disk} GB`,
      status: this.#statusOf(node),
      vcpus,
      memory: `${ram}.00 GB`,
      plan: node.plan,
      region: "ncr",
      ...(places[node.place].location !== undefined && { location: places[node.place].location })
    }
  }

  #catalogue() {
    return Object.entries(plans).flatMap(([name, plan]) =>
      Object.values(images).map((image, at) => {
        const [, cpu = 1, ram = 1, disk = 10] = (/(\d+)VCPU-(\d+)RAM-(\d+)DISK/.exec(plan) ?? []).map(Number)
        const price = this.prices[name as PlanName]
        return {
          name: image.replace("-", " "),
          plan,
          image,
          ...(this.currency !== "INR" && { currency: this.currency }),
          os: { name: image.split("-")[0], version: image.split("-")[1], image: String(9900 + at) },
          zone: { slug_name: "ncr" },
          specs: {
            ram: `${ram}.00`,
            cpu,
            disk_space: disk,
            price_per_month: this.#monthOf(name as PlanName).toFixed(2),
            price_per_hour: price.toFixed(2),
            series: plan[0],
            minimum_billing_amount: this.minimums[name as PlanName].toFixed(2),
            committed_sku: [30, 365].map((days) => {
              const total = this.optionPrice(name as PlanName, days).toFixed(2)
              return {
                committed_sku_id: this.skuOf(name as PlanName, days),
                committed_sku_name: `${days} Days Committed`,
                committed_node_message: `Reserved for ${days} days at Rs. ${total} in total.`,
                committed_sku_price: total,
                committed_upto_date: "31-December-2027 00:00",
                committed_days: days
              }
            })
          }
        }
      })
    )
  }
}

/** The place that a request names. */
const placeOf = ({ query }: WireRequest): Place => {
  const { location, project } = places.second
  return query.get("project_id") === project && query.get("location") === location ? "second" : "first"
}

const enveloped = (status: number, envelope: object): WireReply => ({
  status,
  headers: {
    "content-type": "application/json",
    "ratelimit-limit": "100000",
    "ratelimit-remaining": "99000",
    "ratelimit-reset": "1893456000"
  },
  body: JSON.stringify(envelope)
})

const success = (data: unknown): WireReply => enveloped(200, { message: "Success", code: 200, data, errors: {} })

const failure = (
  status: number,
  message: string,
  errors: Readonly<Record<string, ReadonlyArray<string>>> = {}
): WireReply => enveloped(status, { message, code: status, data: {}, errors })
