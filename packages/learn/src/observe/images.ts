/**
 * Images and plans: filters, names of fields, the size of the catalogue (assumptions A18, A19 in
 * docs/interface/assumptions.md).
 */
import { isObject, type JsonObject, part } from "@berthkit/profile/values"
import { claim, each, type Evidenced, first, is, observation, once, type Shown } from "./Claim.ts"
import { type Exchange, isRefusal, isSuccess, json, listIn, listKey, placeOf, query } from "./Exchange.ts"
import { isUnfiltered } from "./records.ts"

const lists = once((evidence) =>
  evidence.filter((exchange) => exchange.operation === "images.list" && exchange.method === "GET")
)

/** The longest list without a filter. */
export const wholeList = once(
  (evidence) =>
    lists(evidence)
      .filter((exchange) => isUnfiltered(exchange) && listIn(exchange) !== undefined)
      .toSorted((a, b) => listIn(b)!.length - listIn(a)!.length)[0]
)

const filterNames = ["cpu", "ram", "series", "os", "version", "image_type"]

/** Whether a request for the list has no filter other than this one. */
const hasOnly = ({ query }: Exchange, name: string): boolean =>
  query.every(([given, value]) => given === name || value === "" || !filterNames.includes(given))

/** The longest list without a filter from the same account and place, because each has its own catalogue. */
const wholeListBeside = (exchange: Exchange, evidence: Evidenced): Exchange | undefined => {
  const place = placeOf(withoutFilters(exchange))
  return lists(evidence)
    .filter((each) => isUnfiltered(each) && listIn(each) !== undefined && placeOf(withoutFilters(each)) === place)
    .toSorted((a, b) => listIn(b)!.length - listIn(a)!.length)[0]
}

const withoutFilters = (exchange: Exchange): Exchange => ({
  ...exchange,
  query: exchange.query.filter(([name]) => !filterNames.includes(name))
})

/** The evidence that consists of the longest list without a filter, or of nothing. */
const whole = (evidence: Evidenced): Evidenced => [wholeList(evidence)].filter((exchange) => exchange !== undefined)

const rowsOf = (exchange: Exchange): ReadonlyArray<JsonObject> => (listIn(exchange) ?? []).filter(isObject)

const systemOf = (row: JsonObject): string => String(part(row, "os")["name"] ?? "")

/**
 * The operating systems in the longest list without a filter from the same account and place; undefined if there is no such
 * list.
 */
const systemsBeside = (exchange: Exchange, evidence: Evidenced): ReadonlySet<string> | undefined => {
  const list = wholeListBeside(exchange, evidence)
  return list && new Set(rowsOf(list).map(systemOf))
}

const inLowerCase = (names: ReadonlySet<string>): ReadonlySet<string> =>
  new Set(Array.from(names, (name) => name.toLowerCase()))

/** The answer to a list request: the status of a refusal, or the result of `rows` for the number of rows. */
const answer = <const A>(exchange: Exchange, what: string, rows: (length: number) => A): Shown<number | A> => {
  if (isRefusal(exchange)) return [exchange.status, `${what} is ${exchange.status}`]
  const length = listIn(exchange)?.length
  return length === undefined ? undefined : [rows(length), `${what} returns ${length} rows`]
}

const saved = once((evidence) =>
  evidence.filter(
    (exchange) => exchange.operation === "images.saved" && isSuccess(exchange) && json(exchange) !== undefined
  )
)

/** Whether this is a month of 730 hours. There is a tolerance because prices are rounded to two decimals. */
const isMonth = (hours: number): boolean => Math.abs(hours - 730) <= 7.3

export const images = {
  narrows: claim("A18", "Filters narrow", {
    refutedBy: "os=… with rows of other systems",
    see: each(lists, (exchange) => {
      const wanted = query(exchange, "os") ?? ""
      const rows = rowsOf(exchange)
      if (wanted === "" || rows.length === 0) return undefined
      const others = rows.filter((row) => systemOf(row).toLowerCase() !== wanted.toLowerCase()).length
      return others === 0
        ? [true, `os=${wanted} returns only that system`]
        : [false, `os=${wanted} returns ${others} rows of other systems`]
    })
  }),
  anyCase: claim("A18", "Filters ignore case", {
    refutedBy: "os=… in another case that finds nothing",
    see: first(lists, (exchange, evidence) => {
      const wanted = query(exchange, "os") ?? ""
      const length = listIn(exchange)?.length
      const systems = systemsBeside(exchange, evidence)
      return length === undefined ||
        systems === undefined ||
        !hasOnly(exchange, "os") ||
        systems.has(wanted) ||
        !inLowerCase(systems).has(wanted.toLowerCase())
        ? undefined
        : [length > 0, `os=${wanted} returns ${length} rows`]
    })
  }),
  noMatch: claim("A18", "Without a match the list is empty", {
    refutedBy: "A filter without a match that is refused or has rows",
    see: first(lists, (exchange, evidence) => {
      const wanted = query(exchange, "os") ?? ""
      const systems = systemsBeside(exchange, evidence)
      return wanted === "" ||
        systems === undefined ||
        !hasOnly(exchange, "os") ||
        inLowerCase(systems).has(wanted.toLowerCase())
        ? undefined
        : answer(exchange, "a filter without a match", (length) => (length === 0 ? "empty" : "rows"))
    }),
    holds: is<number | string>("empty")
  }),
  unknownType: claim("A18", "An unknown image_type is 422", {
    refutedBy: "An unknown image_type, which returns another status or is accepted",
    see: first(lists, (exchange) =>
      /^(public|private|)$/i.test(query(exchange, "image_type") ?? "") || !hasOnly(exchange, "image_type")
        ? undefined
        : answer(exchange, "an unknown image_type", (length) => (length === 0 ? "empty" : "all"))
    ),
    holds: is<number | string>(422)
  }),
  ram: claim("A18", "specs.ram is a text", {
    refutedBy: "specs.ram of another type",
    see: first(whole, (exchange) => {
      const values = rowsOf(exchange).map((row) => part(row, "specs")["ram"])
      const value = values.find((each) => each !== undefined && each !== null)
      return value === undefined
        ? undefined
        : [typeof value, `specs.ram is a ${typeof value}: ${JSON.stringify(value).slice(0, 40)}`]
    }),
    holds: is<string>("string")
  }),
  savedKey: claim("A18", "The list of saved images is under data", {
    refutedBy: "A list of saved images under another key",
    see: first(saved, (exchange) => {
      const key = listKey(exchange)
      return key === undefined ? undefined : [key, `the saved images are under ${key}`]
    }),
    holds: is("data")
  }),
  savedPlan: claim("A18", "A saved image names its plan size", {
    refutedBy: "A saved image with plan in place of size",
    see: first(saved, (exchange) => {
      const [row = {}] = rowsOf(exchange)
      const name = ["size", "plan"].find((each) => each in row)
      return name === undefined ? undefined : [name, `a saved image names its plan ${name}`]
    }),
    holds: is<string>("size")
  }),
  catalogueSize: claim("A19", "There are at least 4 series, 12 plans and 8 systems", {
    refutedBy: "An image list without filters that has fewer of them",
    see: first(whole, (exchange) => {
      const rows = rowsOf(exchange)
      const distinct = (read: (row: JsonObject) => unknown) => new Set(rows.map(read)).size
      const series = distinct((row) => part(row, "specs")["series"])
      const plans = distinct((row) => row["plan"] ?? row["size"])
      const systems = distinct((row) => part(row, "os")["name"])
      return [
        series >= 4 && plans >= 12 && systems >= 8,
        `${plans} plans of ${series} series, ${systems} systems, ${rows.length} rows`
      ]
    })
  }),
  monthHours: claim("A19", "A month costs 730 hours", {
    refutedBy: "A plan whose price per month is another multiple",
    see: function* (evidence) {
      for (const exchange of whole(evidence)) {
        for (const row of rowsOf(exchange)) {
          const { price_per_hour: hour, price_per_month: month } = part(row, "specs")
          const hours = Number.parseFloat(String(month)) / Number.parseFloat(String(hour))
          if (Number.isFinite(hours) && hours > 0)
            yield observation(exchange, hours, `a month costs ${hours.toFixed(1)} hours`)
        }
      }
    },
    holds: isMonth
  }),
  committedDays: claim("A19", "Committed options last 30, 90 and 365 days", {
    refutedBy: "A committed option of another length",
    see: first(whole, (exchange) => {
      const days = rowsOf(exchange).flatMap((row) => {
        const { committed_sku: list } = part(row, "specs")
        return (Array.isArray(list) ? list : []).filter(isObject).map((sku) => Number(sku["committed_days"]))
      })
      const distinct = Array.from(new Set(days)).toSorted((a, b) => a - b)
      return distinct.length === 0 ? undefined : [distinct, `committed options of ${distinct.join(", ")} days`]
    }),
    holds: (days: ReadonlyArray<number>) => days.every((each) => [30, 90, 365].includes(each))
  })
}
