/**
 * A small service for tests of a single point. It shares no code with the mock, and behaves as assumed, except for requests that `answer`
 * handles.
 */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"

const prefix = "/myaccount/api/v1"

export interface Asked {
  /** The path below the prefix, unchanged. */
  readonly path: string
  readonly query: URLSearchParams
  readonly request: IncomingMessage
}

export interface Answer {
  readonly status: number
  readonly body: unknown
  readonly headers?: Readonly<Record<string, string>>
}

export interface QuayOptions {
  readonly nodes?: number
  /** The maximum length of a page, also if the request asks for up to 100. */
  readonly most?: number
  /** Its own answer; undefined for the usual one. */
  readonly answer?: (asked: Asked) => Answer | undefined
  /** Changes the query in the way in which the service misunderstands it. */
  readonly takes?: (query: URLSearchParams) => unknown
  /** The remaining requests and the reset in seconds since the epoch, after a number of requests. */
  readonly rateLimit?: (spent: number, now: number) => { readonly left: number; readonly reset: number }
  /** Changes a record of a node, or the body of a success, before it is sent. */
  readonly record?: (record: Record<string, unknown>, id: number) => Record<string, unknown>
  readonly body?: (body: Record<string, unknown>) => Record<string, unknown>
}

export const startQuay = async ({
  answer,
  body,
  most = 100,
  nodes = 130,
  rateLimit,
  record,
  takes
}: QuayOptions = {}) => {
  let now = Date.parse("2026-05-01T08:00:00Z")
  const end = now + 3_600_000
  let spent = 0
  const ids = Array.from({ length: nodes }, (_, at) => 700 + 3 * at)
  const systems = ["Arch", "Bodhi", "Calculate", "Devuan", "Elive", "Finnix", "Gentoo", "Haiku"]
  const rows = systems.flatMap((os, at) =>
    ["A", "B", "C", "1CLICK"].flatMap((series, dear) =>
      [1, 2, 4].map((cores) => ({
        name: `${os} 1`,
        plan: `${series.slice(-1)}-${cores}VCPU-${4 * cores}RAM-${20 * cores}DISK`,
        image: `${os}-1`,
        os: { name: os, version: "1", image: `${at + 60}` },
        zone: { slug_name: "ncr" },
        specs: {
          ram: `${4 * cores}.00`,
          cpu: cores,
          disk_space: 20 * cores,
          price_per_month: `${730 * cores * (2 + dear)}.00`,
          price_per_hour: `${cores * (2 + dear)}.00`,
          series,
          minimum_billing_amount: "10.00"
        }
      }))
    )
  )
  const common = (id: number) => ({
    id,
    name: `q-${id}`,
    created_at: "2026-01-01T00:00:00.250000Z",
    status: "running"
  })
  const kept = (value: Record<string, unknown>, id: number) => record?.(value, id) ?? value
  const listed = (id: number) =>
    kept(
      {
        ...common(id),
        public_ip_address: `198.51.100.${id % 250}`,
        private_ip_address: `10.3.0.${id % 250}`,
        backup: false,
        disk: "20 GB",
        vcpus: "1",
        memory: "4.00 GB",
        plan: rows[0]!.plan,
        region: "ncr"
      },
      id
    )
  const net = (ip: string, type: string) => ({ ip_address: ip, netmask: "255.0.0.0", gateway: "10.0.0.1", type })
  const single = (id: number) =>
    kept(
      {
        ...common(id),
        vcpus: 1,
        disk: 20,
        locked: false,
        backups: false,
        public_ip_address: net(`198.51.100.${id % 250}`, "public"),
        private_ip_address: net(`10.3.0.${id % 250}`, "private"),
        tags: []
      },
      id
    )

  const ok = (data: unknown): Answer => {
    const whole = { message: "Success", code: 200, data, errors: {} }
    return { status: 200, body: body?.(whole) ?? whole }
  }
  const no = (status: number, text: string): Answer => ({
    status,
    body: { message: text, code: status, data: {}, errors: { detail: [text] } }
  })

  const list = (query: URLSearchParams): Answer => {
    if (query.getAll("page_no").length > 1) return no(400, "page_no is given twice")
    const [page = 1, size = 20] = [
      query.get("page_no") || query.get("page") || undefined,
      query.get("per_page") || undefined
    ].map((text) => (text === undefined ? undefined : Number(text)))
    if (Number.isNaN(page) || Number.isNaN(size)) return no(400, "not a number")
    if (page < 1 || size < 1 || size > 100) return no(422, "out of bounds")
    const given = Math.min(size, most)
    return ok(ids.slice((page - 1) * given, page * given).map(listed))
  }

  const usual = ({ path, query }: Asked): Answer => {
    const plain = path.endsWith("/") ? path : `${path}/`
    const id = Number(/^\/nodes\/(\d+)\/$/.exec(plain)?.[1])
    if (id > 0) return ids.includes(id) ? ok(single(id)) : no(404, `there is no node ${id}`)
    if (plain === "/nodes/") return list(query)
    if (plain === "/images/saved-images/") return ok([])
    if (plain !== "/images/") return no(404, "there is no such path")
    const os = query.get("os")?.toLowerCase()
    if (!/^(public|private|)$/.test(query.get("image_type") ?? "")) return no(422, "no such type")
    return ok(rows.filter((row) => os === undefined || row.os.name.toLowerCase() === os))
  }

  const handle = (request: IncomingMessage, response: ServerResponse) => {
    const { pathname, searchParams } = new URL(request.url ?? "/", "http://quay")
    const asked = { path: pathname.slice(prefix.length), query: searchParams, request }
    takes?.(searchParams)
    const { body: given, headers = {}, status } = answer?.(asked) ?? usual(asked)
    spent += 1
    const { left, reset } = rateLimit?.(spent, now) ?? { left: 1200 - spent, reset: Math.ceil(end / 1000) }
    const isText = typeof given === "string"
    response
      .writeHead(status, {
        "content-type": isText ? "text/html" : "application/json",
        date: new Date(now).toUTCString(),
        "ratelimit-limit": "1200",
        "ratelimit-remaining": String(left),
        "ratelimit-reset": String(reset),
        ...headers
      })
      .end(isText ? given : JSON.stringify(given))
  }

  const server = createServer((request, response) => void request.resume().on("end", () => handle(request, response)))
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    now: () => now,
    advance: (millis: number) => void (now += millis),
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    }
  }
}
