/**
 * A service that the test alters while `berth` runs: its prices, how it spells names, and which replies to purchases are lost. It records
 * all requests in order.
 */
import { failure, lost, nodeRecord, ok, type Reply, type Request } from "@berthkit/core/testing"
import { Effect } from "effect"
import { serve } from "./ScriptedServer.ts"

export const plan = "C-2VCPU-8RAM-50DISK"
export const image = "Ubuntu-24.04"
/** The length of its only committed option. */
export const days = 30

/** A node; a service may leave out when it was created. */
type Row = Omit<ReturnType<typeof nodeRecord>, "created_at"> & { readonly created_at?: string | undefined }

export interface Altered {
  readonly nodes: Array<Row>
  /** Requests, as method and path. */
  readonly requests: Array<string>
  pricePerHour: string
  optionPrice: string
  /** The currency of all prices; undefined for rupees, which the records do not name. */
  currency: string | undefined
  statusOfNew: string
  spell: (name: string) => string
  /** How it spells plans and images. */
  spellKinds: (text: string) => string
  isPurchaseLost: boolean
  /** Whether creates make no node and get no reply. */
  areCreatesSwallowed: boolean
  /** Whether replies state the time. */
  isDated: boolean
  /** The rows that lists show instead of the nodes; undefined if they show the nodes. */
  listed: ReadonlyArray<Row> | undefined
  /** Whether pages after the first are 404, so that nothing shows that the list is whole. */
  isEndMissing: boolean
  /** A request (method and path) that is carried out and gets no reply; undefined if there is none. */
  silent: string | undefined
  /** How many of the next deletes fail and delete nothing. */
  failing: number
  /** Called once a delete has failed. */
  onFailed: () => void
  /** Called before a request is answered, with its method and path. */
  onRequest: (request: string) => void
  /** Called once a create has made its node. */
  onMade: () => void
  /** Called once a node is deleted. */
  onDeleted: () => void
}

const offerOf = ({ currency, optionPrice, pricePerHour }: Altered) => ({
  name: image,
  plan,
  image,
  currency,
  os: { name: "Ubuntu", version: "24.04", image: "11" },
  zone: { slug_name: "ncr" },
  specs: {
    ram: "8.00",
    cpu: 2,
    disk_space: 50,
    price_per_hour: pricePerHour,
    price_per_month: String(Number(pricePerHour) * 730),
    series: "C",
    minimum_billing_amount: "0",
    committed_sku: [
      {
        committed_sku_id: 7,
        committed_days: days,
        committed_sku_price: optionPrice,
        committed_sku_name: "",
        committed_node_message: "",
        committed_upto_date: ""
      }
    ]
  }
})

const answer = (service: Altered, { body, method, path, query }: Request): Reply => {
  const { nodes } = service
  if (path === "/images/") return ok([offerOf(service)])
  if (path.startsWith("/images/")) return ok([])
  if (path === "/update_committed_node_status/") return service.isPurchaseLost ? lost : ok({})
  if (method === "POST" && service.areCreatesSwallowed) return lost
  if (method === "POST") {
    const { name } = body as { readonly name: string }
    const node = nodeRecord({
      id: 1000 + nodes.length,
      name: service.spell(name),
      plan: service.spellKinds(plan),
      image: service.spellKinds(image),
      status: service.statusOfNew,
      created_at: new Date().toISOString()
    })
    nodes.push(node)
    service.onMade()
    return { ...ok(node), status: 202 }
  }
  if (path === "/nodes/") {
    const [page, size] = [Number(query["page_no"] ?? 1), Number(query["per_page"])]
    if (service.isEndMissing && page > 1) return failure(404, "Invalid page.")
    return ok((service.listed ?? nodes).slice((page - 1) * size, page * size))
  }
  const at = nodes.findIndex(({ id }) => path === `/nodes/${id}/`)
  if (at < 0) return failure(404, "Not found")
  if (method !== "DELETE") return ok(nodes[at])
  if (service.failing > 0) {
    service.failing--
    service.onFailed()
    return failure(503, "Service Unavailable")
  }
  nodes.splice(at, 1)
  service.onDeleted()
  return ok({})
}

/** The service, and the settings of `berth` that name an account of it. */
export const alteredService = Effect.gen(function* () {
  const service: Altered = {
    nodes: [],
    requests: [],
    pricePerHour: "1.50",
    optionPrice: "1000",
    currency: undefined,
    statusOfNew: "running",
    spell: (name) => name,
    spellKinds: (text) => text,
    isPurchaseLost: false,
    areCreatesSwallowed: false,
    isDated: true,
    listed: undefined,
    isEndMissing: false,
    silent: undefined,
    failing: 0,
    onFailed: () => {},
    onRequest: () => {},
    onMade: () => {},
    onDeleted: () => {}
  }
  const url = yield* serve(
    (request) => {
      const asked = `${request.method} ${request.path}`
      service.requests.push(asked)
      service.onRequest(asked)
      const reply = answer(service, request)
      return service.silent === asked ? Effect.never : reply
    },
    () => service.isDated
  )
  return {
    service,
    account: {
      BERTH_API_KEY: "the-key-of-a-test",
      BERTH_ACCESS_TOKEN: "the-token-of-a-test",
      BERTH_BASE_URL: url
    }
  }
})
