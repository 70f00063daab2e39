/**
 * A connection to a mock that changes one thing about the service, while nodes come and go before each request. Also the list of such
 * changes: of fields, words, envelopes, failures, pages, images and prices, limits and times.
 */
import { HttpService } from "@berthkit/testing/HttpService"

interface Reply {
  status: number
  headers: Record<string, string>
  body: any
}

interface Asked {
  /** Below the prefix. */
  readonly path: string
  readonly query: URLSearchParams
}

export interface Change {
  /** Changes the request in the way in which the service misunderstands it. */
  readonly takes?: (asked: Asked) => void
  readonly gives?: (reply: Reply, asked: Asked) => void
}

const prefix = "/myaccount/api/v1"

/** Headers that hold only for one connection, or that describe bytes that are written anew. */
const unsent = /^(connection|keep-alive|transfer-encoding|content-length|content-encoding)$/

/** A connection to the mock at `origin`; `between` runs before each request. */
export const changed = (origin: string, change: Change, between: () => Promise<void>) =>
  HttpService.start(async (request, response) => {
    await between()
    const url = new URL(request.url ?? "/", origin)
    const asked = { path: url.pathname.slice(prefix.length), query: url.searchParams }
    const original = { path: asked.path, query: new URLSearchParams(asked.query) }
    change.takes?.(asked)
    const { authorization = "" } = request.headers
    const found = await fetch(url, { headers: { authorization } })
    const reply: Reply = {
      status: found.status,
      headers: Object.fromEntries(Array.from(found.headers).filter(([name]) => !unsent.test(name))),
      body: await found.json()
    }
    change.gives?.(reply, original)
    response
      .writeHead(reply.status, reply.headers)
      .end(typeof reply.body === "string" ? reply.body : JSON.stringify(reply.body))
  })

type Alter = (record: any, at: number) => unknown

const isNodes = ({ path }: Asked): boolean => /^\/nodes\/?$/.test(path)
const isOk = ({ status }: Reply): boolean => status === 200
const size = ({ query }: Asked): number => Number(query.get("per_page") ?? Number.NaN)

const listed = (alter: Alter): Change => ({
  gives: (reply, asked) => void (isOk(reply) && isNodes(asked) && reply.body.data.forEach(alter))
})
const single = (alter: Alter): Change => ({
  gives: (reply, { path }) => void (isOk(reply) && /^\/nodes\/\d+\/$/.test(path) && alter(reply.body.data, 0))
})
const node = (alter: Alter): Change => ({
  gives: (...told) => {
    listed(alter).gives?.(...told)
    single(alter).gives?.(...told)
  }
})
const rows = (alter: Alter): Change => ({
  gives: (reply, { path }) => void (isOk(reply) && path === "/images/" && reply.body.data.forEach(alter))
})
const success = (alter: (reply: Reply, asked: Asked) => unknown): Change => ({
  gives: (reply, asked) => void (isOk(reply) && alter(reply, asked))
})
const failure = (alter: (reply: Reply) => unknown): Change => ({
  gives: (reply) => void (!isOk(reply) && alter(reply))
})
const refuses = (status: number, isAsked: (asked: Asked) => boolean): Change => ({
  gives: (reply, asked) => {
    if (!isAsked(asked)) return
    reply.status = status
    reply.body = { message: "no", code: status, data: {}, errors: { detail: ["no"] } }
  }
})
const takes = (take: (asked: Asked) => unknown): Change => ({ takes: (asked) => void take(asked) })

const withoutZ = (text: string): string => text.replace(/\.\d+Z$/, "")
const limitOf = (limit: number, by = 1200 - limit): Change => ({
  gives: ({ headers }) => {
    headers["ratelimit-limit"] = String(limit)
    headers["ratelimit-remaining"] = String(Number(headers["ratelimit-remaining"]) - by)
  }
})
const resetOf = (reset: (seconds: number, spent: number, now: number) => number): Change => ({
  gives: ({ headers }) => {
    const [now, spent] = [Date.parse(headers["date"]!) / 1000, 1200 - Number(headers["ratelimit-remaining"])]
    headers["ratelimit-reset"] = String(Math.ceil(reset(Number(headers["ratelimit-reset"]), spent, now)))
  }
})
const withoutHeaders = ({ headers }: Reply) => {
  for (const name of Object.keys(headers)) if (name.startsWith("ratelimit-")) delete headers[name]
}

export const changes: Readonly<Record<string, Change>> = {
  "a listed node has a further field": listed((each) => (each.label = each.name)),
  "a listed node lacks a field": listed((each) => delete each.backup),
  "some listed nodes lack a field": listed((each, at) => at % 4 === 3 && delete each.backup),
  "vcpus is a number in lists": listed((each) => (each.vcpus = Number(each.vcpus))),
  "memory is in megabytes": listed((each) => (each.memory = Number.parseInt(each.memory) * 1024)),
  "a private address is null": listed((each) => (each.private_ip_address = null)),
  "there is a text for no address": listed((each, at) => at % 4 === 3 && (each.public_ip_address = "[]")),
  "an id is a text": node((each) => (each.id = String(each.id))),
  "a time has an offset": listed((each) => (each.created_at = `${withoutZ(each.created_at)}.250000+05:30`)),
  "the plan of a node is null": listed((each) => (each.plan = null)),

  "statuses begin with a capital": node((each) => (each.status = each.status[0].toUpperCase() + each.status.slice(1))),
  "another word for running": node((each) => each.status === "running" && (each.status = "ACTIVE")),
  "some nodes have a status of their own": listed((each, at) => at % 4 === 3 && (each.status = "MIGRATING")),

  "a node by id lacks its tags": single((each) => delete each.tags),
  "a node by id has tags": single((each) => (each.tags = ["web"])),
  "a node by id is locked": single((each) => (each.locked = true)),
  "a node by id has its disk as text": single((each) => (each.disk = `${each.disk} GB`)),
  "a node by id has its address as text": single(
    (each) => (each.public_ip_address = each.public_ip_address.ip_address)
  ),
  "an address has no netmask": single((each) => delete each.public_ip_address.netmask),

  "a success has another message": success(({ body }) => (body.message = "OK")),
  "a code is a text": success(({ body }) => (body.code = "200")),
  "errors are null": success(({ body }) => (body.errors = null)),
  "a success has a further key": success(({ body }) => (body.trace = "none")),
  "a list has a total": success(({ body }, asked) => isNodes(asked) && (body.total_count = 300)),
  "replies have another media type": success(({ headers }) => (headers["content-type"] = "application/hal+json")),

  "a failure has another form": failure((reply) => (reply.body = { detail: reply.body.message })),
  "a failure is a page": failure((reply) => {
    reply.body = "<h1>No</h1>"
    reply.headers["content-type"] = "text/html"
  }),
  "a failure has another sentence": failure(({ body }) => (body.message = "Something went wrong")),
  "an unknown node is 400": refuses(400, ({ path }) => path === "/nodes/999999999/"),
  "an unknown path is 410": refuses(410, ({ path }) => path.includes("no-such-path")),

  "a page has 10 nodes": takes(
    ({ path, query }) => /^\/nodes\/?$/.test(path) && !query.get("per_page") && query.set("per_page", "10")
  ),
  "a page has 50 nodes at most": takes((asked) => size(asked) > 50 && asked.query.set("per_page", "50")),
  "a page of 101 is given": takes((asked) => size(asked) > 100 && asked.query.set("per_page", "100")),
  "page 0 is the first": takes(({ query }) => query.get("page_no") === "0" && query.set("page_no", "1")),
  "a page that is no number is 422": refuses(422, ({ query }) => query.get("page_no") === "abc"),
  "a page behind the end is 404": refuses(404, ({ query }) => query.get("page_no") === "1000000"),
  "ids descend": success(({ body }, asked) => isNodes(asked) && body.data.reverse()),
  "page is no alias": takes(({ query }) => query.delete("page")),
  "a parameter may be given twice": takes(
    ({ query }) => query.has("page_no") && query.set("page_no", query.get("page_no")!)
  ),
  "a path needs its last slash": refuses(404, ({ path }) => path === "/nodes"),

  "an unknown type of image is taken": takes(({ query }) => query.delete("image_type")),
  "filters heed case": success(
    ({ body }, { query }) =>
      query.has("os") && (body.data = body.data.filter((row: any) => row.os.name === query.get("os")))
  ),
  "filters are ignored": takes(({ query }) => query.delete("os")),
  "one price is another": rows((row, at) => at === 17 && (row.specs.price_per_hour = "99.00")),
  "a month has 600 hours": rows(
    (row) => (row.specs.price_per_month = (600 * Number(row.specs.price_per_hour)).toFixed(2))
  ),
  "the minimum of a bill is another": rows((row) => (row.specs.minimum_billing_amount = "77.00")),
  "a plan is gone": success(({ body }, { path }) => path === "/images/" && body.data.shift()),
  "a commitment has 180 days": rows(({ specs }) =>
    specs.committed_sku?.forEach((each: any) => (each.committed_days = 180))
  ),
  "saved images are under images": success(({ body }, { path }) => {
    if (!path.includes("saved-images")) return
    body.images = body.data
    delete body.data
  }),

  "the limit is 600": limitOf(600),
  "the reset is in seconds from now": resetOf((reset, _, now) => reset - now),
  "a window is ten minutes long": resetOf((reset) => reset - 3000),
  "the allowance is a bucket": resetOf((_, spent, now) => now + 3 * spent),
  "a failure does not say what is left": failure(withoutHeaders),
  "a success does not say what is left": success(withoutHeaders),
  "the clock of the service is a minute ahead": {
    gives: ({ headers }) => {
      headers["date"] = new Date(Date.parse(headers["date"]!) + 60_000).toUTCString()
      headers["ratelimit-reset"] = String(Number(headers["ratelimit-reset"]) + 60)
    }
  }
}
