/**
 * Another service, which shares no code with the mock or with `harbour.ts` and differs from the assumptions in other points. Here records
 * are rows of a table, and replies are assembled from strings.
 */
import * as http from "node:http"
import type { AddressInfo } from "node:net"

/** Each point, with the claims that it contradicts. */
export const meadowChoices: Readonly<Record<string, ReadonlyArray<string>>> = {
  codeIsText: ["code is the number 200, whatever the status"],
  errorsAreNull: ["errors is an empty object"],
  htmlFailures: ["A failure has the same envelope with data {}"],
  wrongCode: ["code of a failure is its status"],
  textErrors: ["errors of a failure is an object of lists of texts"],
  pathIs410: ["An unknown path is 404"],
  anyPage: ["A page that is not a number is 400"],
  longPages: ["per_page above 100 is refused"],
  endIs404: ["A page past the end is empty"],
  noAlias: ["page is an alias of page_no"],
  noTags: ["A node by id has the fields of the table"],
  textIds: ["The id of a node is a whole number"],
  tightDisk: ["disk is a text such as 100 GB in lists, a whole number by id"],
  someBackups: ["Every record of a list has the same fields", "A listed node has the fields of the example"],
  oneLocked: ["No node is locked"],
  upperCase: ["status is created, running, power-off or terminate"],
  millis: ["created_at has microseconds and Z"],
  ramIsNumber: ["specs.ram is a text"],
  underImages: ["The list of saved images is under data"],
  savedPlan: ["A saved image names its plan size"],
  fewPlans: ["There are at least 4 series, 12 plans and 8 systems"],
  shortMonth: ["A month costs 730 hours"],
  halfYear: ["Committed options last 30, 90 and 365 days"],
  noMatchIs404: ["Without a match the list is empty"],
  hundred: ["The limit is 1200"],
  sliding: ["The window is fixed"],
  twiceIsFine: ["A parameter given twice is 400"],
  emptyIs400: ["An empty parameter counts as absent"]
}

const prefix = "/myaccount/api/v1"
const minute = 60_000

export const startMeadow = async (choices: ReadonlySet<string> = new Set(Object.keys(meadowChoices))) => {
  const on = (name: string) => choices.has(name)
  let clock = Date.UTC(2026, 5, 1, 6)
  const cap = on("hundred") ? 400 : 1200
  const grants: Array<number> = []
  let end = 0

  const count = on("fewPlans") ? 3 : 14
  const series = on("fewPlans") ? ["A", "B", "C"] : ["A", "B", "C", "1CLICK"]
  const catalogue: Array<Record<string, any>> = []
  for (const os of ["Arch", "Bodhi", "Calculate", "Devuan", "Elive", "Finnix", "Gentoo", "Haiku", "Illumos"]) {
    for (let at = 0; at < count; at++) {
      const cores = at + 1
      catalogue.push({
        name: `${os} 5`,
        plan: `${series[at % series.length]!.slice(-1)}-${cores}VCPU-${2 * cores}RAM-${30 * cores}DISK`,
        image: `${os}-5`,
        os: { name: os, version: null, image: `${9_000 + os.charCodeAt(0)}` },
        zone: { slug_name: "ncr" },
        specs: {
          ram: on("ramIsNumber") ? 2 * cores : `${2 * cores}.00`,
          cpu: cores,
          disk_space: 30 * cores,
          price_per_month: `${cores * 3 * (on("shortMonth") ? 600 : 730)}.00`,
          price_per_hour: `${cores * 3}.00`,
          series: series[at % series.length],
          minimum_billing_amount: "10.00",
          committed_sku: [
            {
              committed_sku_id: 40 + at,
              committed_sku_name: "x",
              committed_node_message: "y",
              committed_sku_price: "9.00",
              committed_upto_date: "01-July-2026 10:00",
              committed_days: on("halfYear") ? 180 : 90
            }
          ]
        }
      })
    }
  }

  const table = Array.from({ length: 150 }, (_, at) => at + 31)
  const id = (row: number) => (on("textIds") ? `${row}` : row)
  const status = on("upperCase") ? "RUNNING" : "running"
  const stamp = (row: number) => new Date(clock - row * minute).toISOString().replace("Z", on("millis") ? "Z" : "000Z")
  const short = (row: number) => {
    const plan = catalogue[row % count]!
    const record: Record<string, unknown> = {
      id: id(row),
      name: `cow-${row}`,
      created_at: `2026-01-01T00:00:00.${on("millis") ? "250" : "250000"}Z`,
      public_ip_address: `198.51.100.${row}`,
      private_ip_address: `10.9.9.${row}`,
      backup: true,
      disk: `${plan["specs"].disk_space}${on("tightDisk") ? "GB" : " GB"}`,
      status,
      vcpus: `${plan["specs"].cpu}`,
      memory: `${2 * plan["specs"].cpu}.00 GB`,
      plan: plan["plan"],
      region: "ncr"
    }
    if (on("someBackups") && row % 3 === 0) delete record["backup"]
    return record
  }
  const long = (row: number) => {
    const net = (ip: string, type: string) => ({ ip_address: ip, netmask: "255.0.0.0", gateway: "10.0.0.254", type })
    const specs = catalogue[row % count]!["specs"]
    const record: Record<string, unknown> = {
      id: id(row),
      name: `cow-${row}`,
      vcpus: specs.cpu,
      disk: specs.disk_space,
      locked: on("oneLocked") && row % 2 === 0,
      created_at: stamp(row),
      status,
      backups: true,
      public_ip_address: net(`198.51.100.${row}`, "public"),
      private_ip_address: net(`10.9.9.${row}`, "private"),
      tags: []
    }
    if (on("noTags")) delete record["tags"]
    return record
  }

  const rate = (): Record<string, string> => {
    const length = minute
    if (on("sliding")) {
      while (grants.length > 0 && grants[0]! <= clock - length) grants.shift()
      grants.push(clock)
      return {
        "ratelimit-limit": `${cap}`,
        "ratelimit-remaining": `${cap - grants.length}`,
        "ratelimit-reset": `${Math.ceil((grants[0]! + length) / 1000)}`
      }
    }
    if (clock >= end) {
      end = clock + length
      grants.length = 0
    }
    grants.push(clock)
    return {
      "ratelimit-limit": `${cap}`,
      "ratelimit-remaining": `${cap - grants.length}`,
      "ratelimit-reset": `${Math.ceil(end / 1000)}`
    }
  }

  const server = http.createServer((request, response) => {
    const { pathname, searchParams: q } = new URL(request.url ?? "/", "http://meadow")
    const reply = (code: number, type: string, text: string) => {
      response.writeHead(code, { ...rate(), date: new Date(clock).toUTCString(), "content-type": type })
      response.end(text)
    }
    const yes = (data: unknown, key = "data") =>
      reply(
        200,
        "application/json; charset=utf-8",
        `{"message":"Success","code":${on("codeIsText") ? '"200"' : 200},"${key}":${JSON.stringify(data)},"errors":${on("errorsAreNull") ? "null" : "{}"}}`
      )
    const no = (code: number, why: string) =>
      reply(
        code,
        "application/json; charset=utf-8",
        JSON.stringify({
          message: why,
          code: on("wrongCode") ? 1 : code,
          data: {},
          errors: on("textErrors") ? why : { detail: [why] }
        })
      )
    const path = pathname.startsWith(prefix) ? pathname.slice(prefix.length).replace(/\/?$/, "/") : ""
    const one = /^\/nodes\/(\d+)\/$/.exec(path)
    if (one !== null)
      return table.includes(Number(one[1])) ? yes(long(Number(one[1]))) : no(404, `node ${one[1]} not found`)
    if (path === "/nodes/") {
      if (on("emptyIs400") && [...q.values()].includes("")) return no(400, "an empty value")
      if (!on("twiceIsFine") && q.getAll("page_no").length > 1) return no(400, "twice")
      const number = (name: string) => {
        const text = q.get(name)
        return text === null || text === "" ? undefined : Number(text)
      }
      let [page, size] = [
        number("page_no") ?? (on("noAlias") ? undefined : number("page")) ?? 1,
        number("per_page") ?? 20
      ]
      if (Number.isNaN(page) || Number.isNaN(size)) {
        if (!on("anyPage")) return no(400, "no number")
        page = 1
        size = 20
      }
      if (page < 1 || size < 1) return no(422, "too small")
      if (size > 100 && !on("longPages")) return no(422, "too large")
      const rows = table.slice((page - 1) * size, page * size)
      if (rows.length === 0 && on("endIs404")) return no(404, "no such page")
      return yes(rows.map(short))
    }
    if (path === "/images/") {
      const type = q.get("image_type") ?? "public"
      if (!["public", "private"].includes(type)) return no(422, "no such type")
      const os = q.get("os")?.toLowerCase()
      const rows = catalogue.filter((row) => os === undefined || row["os"].name.toLowerCase() === os)
      return rows.length === 0 && on("noMatchIs404") ? no(404, "no such image") : yes(rows)
    }
    if (path === "/images/saved-images/") {
      const rows = catalogue
        .slice(0, 1)
        .map(({ plan, ...row }) => (on("savedPlan") ? { ...row, plan } : { ...row, size: plan }))
      return yes(rows, on("underImages") ? "images" : "data")
    }
    const gone = on("pathIs410") ? 410 : 404
    return on("htmlFailures") ? reply(gone, "text/html", "<h1>Gone</h1>") : no(gone, "no such path")
  })
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    now: () => clock,
    advance: (millis: number) => void (clock += millis),
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections()
      await new Promise((done) => server.close(done))
    }
  }
}
