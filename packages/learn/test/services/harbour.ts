/**
 * A service that shares no code with the mock and differs from the assumptions in more than 20 points, each of which can be switched off.
 * It has its own clock, which only a test moves.
 */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"

/** Each point, with the claims that it contradicts, as `claims.ts` words them. */
export const harbourChoices: Readonly<Record<string, ReadonlyArray<string>>> = {
  furtherKey: ["A success has message, code, data and errors"],
  otherMessage: ["message is Success"],
  bareFailures: ["A failure has the same envelope with data {}"],
  unknownNodeIs400: ["An unknown node is 404"],
  malformedIs422: ["A page that is not a number is 400"],
  tenByDefault: ["A page without per_page has 20 nodes"],
  cappedAtFifty: ["per_page may be up to 100", "per_page above 100 is refused"],
  pageZeroIsFirst: ["A page or size below 1 is 422"],
  lastPageForever: ["A page past the end is empty"],
  descending: ["A list is sorted by ascending id"],
  totals: ["A list has no totals"],
  label: ["A listed node has the fields of the example", "A created node has the fields of the list and is_locked"],
  vcpusAreNumbers: ["vcpus is a text in lists, a whole number by id"],
  memoryInMegabytes: ["memory is a text such as 16.00 GB"],
  noAddressYet: ["No field of a node is null", "Addresses are texts in lists, objects by id"],
  capitals: ["status is created, running, power-off or terminate"],
  localTime: ["created_at has microseconds and Z"],
  anyImageType: ["An unknown image_type is 422"],
  exactCase: ["Filters ignore case"],
  bareRefusals: ["Failures have the three headers"],
  resetFromNow: ["The reset is in seconds since the epoch"],
  bucket: ["The window is fixed"],
  sixHundred: ["The limit is 1200"],
  strictSlash: ["A path works without its last slash"],
  deleteIs200: ["A delete is 204 without a body"],
  noLocation: ["A create is 202 with Location"]
}

/** How many nodes it has at the start; one of them is not provisioned yet. */
const fleet = 120
const limitBy = { true: 600, false: 1200 } as const
const windowSeconds = 600

interface Machine {
  readonly id: number
  readonly name: string
  readonly born: number
  readonly ready: number
  end: number
}

const plans = ["A", "B", "C", "1CLICK"].flatMap((series, at) =>
  [2, 4, 8].map((cores) => ({
    series,
    cores,
    ram: cores * 4,
    disk: cores * 25,
    hour: cores * (2 + at),
    slug: `${series.slice(-1)}-${cores}VCPU-${cores * 4}RAM-${cores * 25}DISK`
  }))
)

const systems = ["Ubuntu", "Debian", "Rocky Linux", "AlmaLinux", "Fedora", "openSUSE Leap", "FreeBSD", "Windows Server"]

export const startHarbour = async (choices: ReadonlySet<string> = new Set(Object.keys(harbourChoices))) => {
  const differs = (name: keyof typeof harbourChoices | string) => choices.has(name)
  let now = Date.parse("2026-03-01T10:00:00Z")
  let missing = 0
  let refilledAt = now
  let fixedEnd = 0
  let fixedSpent = 0
  let nextId = 5_000
  /** How long each created node takes until it runs, in the order of the creates. */
  let provisioning: ReadonlyArray<number> = [90_000]
  let made = 0
  const machines = new Map<number, Machine>()
  const add = (name: string, born: number, ready: number) => {
    const machine = { id: nextId++, name, born, ready, end: Number.POSITIVE_INFINITY }
    machines.set(machine.id, machine)
    return machine
  }
  for (let at = 0; at < fleet; at++) add(`ship-${at}`, now - 9_000_000 + at * 60_000, at === 7 ? now + 1e12 : 0)

  const stateOf = ({ end, ready }: Machine) => (now >= end - 4_000 ? "terminate" : now >= ready ? "running" : "created")
  const word = (state: string) => (differs("capitals") ? state[0]!.toUpperCase() + state.slice(1) : state)
  const time = (millis: number) =>
    differs("localTime")
      ? `${new Date(millis + 19_800_000).toISOString().slice(0, 19)}+05:30`
      : new Date(millis).toISOString().replace("Z", "123Z")
  const listed = (machine: Machine, status = word(stateOf(machine))) => {
    const plan = plans[machine.id % plans.length]!
    const isBare = differs("noAddressYet") && stateOf(machine) === "created"
    return {
      id: machine.id,
      name: machine.name,
      ...(differs("label") ? { label: machine.name } : {}),
      created_at: time(machine.born),
      public_ip_address: isBare ? null : `203.0.113.${machine.id % 250}`,
      private_ip_address: `10.1.0.${machine.id % 250}`,
      backup: false,
      disk: `${plan.disk} GB`,
      status,
      vcpus: differs("vcpusAreNumbers") ? plan.cores : String(plan.cores),
      memory: differs("memoryInMegabytes") ? plan.ram * 1024 : `${plan.ram}.00 GB`,
      plan: plan.slug,
      region: "ncr"
    }
  }
  const address = (text: string, type: string) => ({
    ip_address: text,
    netmask: "255.255.0.0",
    gateway: "10.0.0.1",
    type
  })
  const single = (machine: Machine) => {
    const plan = plans[machine.id % plans.length]!
    const isBare = differs("noAddressYet") && stateOf(machine) === "created"
    return {
      id: machine.id,
      name: machine.name,
      vcpus: plan.cores,
      disk: plan.disk,
      locked: false,
      created_at: time(machine.born),
      status: word(stateOf(machine)),
      backups: false,
      public_ip_address: isBare ? null : address(`203.0.113.${machine.id % 250}`, "public"),
      private_ip_address: address(`10.1.0.${machine.id % 250}`, "private"),
      tags: []
    }
  }
  const rows = systems.flatMap((os, at) =>
    plans.map((plan) => ({
      name: `${os} 1`,
      plan: plan.slug,
      image: `${os.replace(/ /g, "-")}-1`,
      os: { name: os, version: "1", image: String(700 + at) },
      zone: { slug_name: "ncr" },
      specs: {
        ram: `${plan.ram}.00`,
        cpu: plan.cores,
        disk_space: plan.disk,
        price_per_month: (plan.hour * 730).toFixed(2),
        price_per_hour: plan.hour.toFixed(2),
        series: plan.series,
        minimum_billing_amount: "20.00"
      }
    }))
  )

  const limit = limitBy[String(differs("sixHundred")) as "true"]
  /** Counts a request; returns the number of remaining requests and the seconds until the reset. */
  const spend = () => {
    if (differs("bucket")) {
      missing = Math.max(0, missing - ((now - refilledAt) / 1000) * (limit / windowSeconds)) + 1
      refilledAt = now
      return [Math.floor(limit - missing), Math.ceil((missing * windowSeconds) / limit)] as const
    }
    if (now >= fixedEnd) {
      fixedEnd = now + windowSeconds * 1000
      fixedSpent = 0
    }
    fixedSpent += 1
    return [limit - fixedSpent, Math.ceil((fixedEnd - now) / 1000)] as const
  }

  const handle = (request: IncomingMessage, response: ServerResponse, body: string) => {
    const url = new URL(request.url!, "http://harbour")
    const [left, seconds] = spend()
    const allowance = {
      "ratelimit-limit": String(limit),
      "ratelimit-remaining": String(left),
      "ratelimit-reset": String(differs("resetFromNow") ? seconds : Math.ceil(now / 1000) + seconds)
    }
    const date = new Date(now).toUTCString()
    const send = (status: number, value: unknown, headers: Record<string, string> = {}) => {
      const text = value === undefined ? "" : JSON.stringify(value)
      response.writeHead(status, { date, "content-type": "application/json", ...headers }).end(text)
    }
    const ok = (data: unknown, more: object = {}, status = 200, headers: Record<string, string> = {}) =>
      send(
        status,
        {
          message: differs("otherMessage") ? "OK" : "Success",
          code: 200,
          data,
          errors: {},
          ...(differs("furtherKey") ? { trace: "none" } : {}),
          ...more
        },
        { ...allowance, ...headers }
      )
    const no = (status: number, text: string) =>
      send(
        status,
        differs("bareFailures")
          ? { detail: text }
          : { message: text, code: status, data: {}, errors: { detail: [text] } },
        differs("bareRefusals") ? {} : allowance
      )
    const path = url.pathname.replace("/myaccount/api/v1", "")
    for (const [id, { end }] of machines) if (now >= end) machines.delete(id)
    if (path === "/nodes/" && request.method === "POST") {
      const machine = add(JSON.parse(body).name, now, now + provisioning[made++ % provisioning.length]!)
      const record = { ...listed(machine, "Create"), is_locked: false }
      return ok(record, {}, 202, differs("noLocation") ? {} : { location: `/myaccount/api/v1/nodes/${machine.id}/` })
    }
    const id = /^\/nodes\/(\d+)\/$/.exec(path)?.[1]
    if (id !== undefined) {
      const machine = machines.get(Number(id))
      if (machine === undefined)
        return no(
          differs("unknownNodeIs400") && request.method === "GET" && Number(id) > 100_000 ? 400 : 404,
          `No node ${id}`
        )
      if (request.method === "GET") return ok(single(machine))
      machine.end = Math.min(machine.end, now + 4_000)
      if (differs("deleteIs200")) return ok({})
      return void response.writeHead(204, { date, ...allowance, "content-type": "application/octet-stream" }).end()
    }
    const isList = path === "/nodes/" || (path === "/nodes" && !differs("strictSlash"))
    if (isList) {
      const value = (name: string) => url.searchParams.get(name) || undefined
      if (url.searchParams.getAll("page_no").length > 1) return no(400, "page_no is given twice")
      const given = [value("page_no"), value("page"), value("per_page")]
      if (given.some((text) => text !== undefined && !/^-?\d+$/.test(text)))
        return no(differs("malformedIs422") ? 422 : 400, "not a number")
      let page = Number(given[0] ?? given[1] ?? 1)
      let size = Number(given[2] ?? (differs("tenByDefault") ? 10 : 20))
      if (page < 1 || size < 1) {
        if (!differs("pageZeroIsFirst")) return no(422, "below 1")
        page = Math.max(1, page)
        size = Math.max(1, size)
      }
      if (differs("cappedAtFifty")) size = Math.min(50, size)
      else if (size > 100) return no(422, "more than 100")
      const all = [...machines.values()].sort((a, b) => (differs("descending") ? b.id - a.id : a.id - b.id))
      const pages = Math.ceil(all.length / size)
      if (page > pages && differs("lastPageForever")) page = pages
      const data = all.slice((page - 1) * size, page * size).map((machine) => listed(machine))
      return ok(data, differs("totals") ? { total_count: all.length, total_page_number: pages } : {})
    }
    if (path === "/images/") {
      const type = url.searchParams.get("image_type")
      if (type !== null && type !== "public" && type !== "private")
        return differs("anyImageType") ? ok([]) : no(422, "image_type")
      const os = url.searchParams.get("os")
      const same = (name: string) =>
        os === null || (differs("exactCase") ? name === os : name.toLowerCase() === os.toLowerCase())
      return ok(rows.filter((row) => same(row.os.name)))
    }
    if (path === "/images/saved-images/")
      return ok(rows.slice(0, 2).map(({ plan: size, ...row }) => ({ ...row, size })))
    return no(404, "Nothing here")
  }

  const server = createServer((request, response) => {
    let body = ""
    request.on("data", (chunk) => (body += chunk)).on("end", () => handle(request, response, body))
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    now: () => now,
    advance: (millis: number) => void (now += millis),
    takes: (millis: ReadonlyArray<number>) => void (provisioning = millis),
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    }
  }
}
