/**
 * Images and plans: filters, names of fields, the size of the catalogue (A18, A19).
 */
import { isObject, type JsonObject } from "../../profile/values.ts"
import { type Exchange, isRefusal, isSuccess, json, listIn, listKey, query } from "./Exchange.ts"
import { type Evidenced, first, observation, type Observer, worst } from "./Observation.ts"
import { isUnfiltered } from "./records.ts"

const listed = (evidence: Evidenced): Evidenced =>
  evidence.filter((exchange) => exchange.operation === "images.list" && exchange.method === "GET")

/** The longest list without a filter. */
export const wholeList = (evidence: Evidenced): Exchange | undefined =>
  listed(evidence)
    .filter((exchange) => isUnfiltered(exchange) && listIn(exchange) !== undefined)
    .toSorted((a, b) => (listIn(b)?.length ?? 0) - (listIn(a)?.length ?? 0))[0]

const rowsOf = (exchange: Exchange): ReadonlyArray<JsonObject> => (listIn(exchange) ?? []).filter(isObject)

const part = (row: JsonObject, name: string): JsonObject => (isObject(row[name]) ? row[name] : {})

/** How many series, plans and systems there are. */
export const catalogueSize: Observer<{ readonly series: number; readonly plans: number; readonly systems: number }> = (
  evidence
) => {
  const exchange = wholeList(evidence)
  if (exchange === undefined) return undefined
  const rows = rowsOf(exchange)
  const distinct = (read: (row: JsonObject) => unknown) => new Set(rows.map(read)).size
  const value = {
    series: distinct((row) => part(row, "specs")["series"]),
    plans: distinct((row) => row["plan"] ?? row["size"]),
    systems: distinct((row) => part(row, "os")["name"])
  }
  return observation(
    exchange,
    value,
    `${value.plans} plans of ${value.series} series, ${value.systems} systems, ${rows.length} rows`
  )
}

/** Hours in a month, of each price. */
export const monthHours: Observer<number> = (evidence) => {
  const exchange = wholeList(evidence)
  if (exchange === undefined) return undefined
  const found = rowsOf(exchange).flatMap((row) => {
    const { price_per_hour: hour, price_per_month: month } = part(row, "specs")
    const hours = Number.parseFloat(String(month)) / Number.parseFloat(String(hour))
    return Number.isFinite(hours) && hours > 0
      ? [observation(exchange, hours, `a month costs ${hours.toFixed(1)} hours`)]
      : []
  })
  return worst(found, isMonth)
}

/** Prices have two decimals. */
export const isMonth = (hours: number): boolean => Math.abs(hours - 730) <= 7.3

/** The lengths of committed options, in days. */
export const committedDays: Observer<ReadonlyArray<number>> = (evidence) => {
  const exchange = wholeList(evidence)
  if (exchange === undefined) return undefined
  const days = rowsOf(exchange).flatMap((row) => {
    const { committed_sku: list } = part(row, "specs")
    return (Array.isArray(list) ? list : []).filter(isObject).map((sku) => Number(sku["committed_days"]))
  })
  const distinct = Array.from(new Set(days)).toSorted((a, b) => a - b)
  return distinct.length === 0
    ? undefined
    : observation(exchange, distinct as ReadonlyArray<number>, `committed options of ${distinct.join(", ")} days`)
}

/** How a field of `specs` is written. */
export const spec =
  (name: string): Observer<string> =>
  (evidence) => {
    const exchange = wholeList(evidence)
    const value =
      exchange &&
      rowsOf(exchange)
        .map((row) => part(row, "specs")[name])
        .find((each) => each !== undefined && each !== null)
    return exchange === undefined || value === undefined
      ? undefined
      : observation(exchange, typeof value, `specs.${name} is a ${typeof value}: ${JSON.stringify(value).slice(0, 40)}`)
  }

const systemOf = (row: JsonObject): string => String(part(row, "os")["name"] ?? "")

/** Whether `os` narrows the list to that system. */
export const narrows: Observer<boolean> = (evidence) =>
  worst(
    listed(evidence).flatMap((exchange) => {
      const wanted = query(exchange, "os") ?? ""
      const rows = listIn(exchange) === undefined ? undefined : rowsOf(exchange)
      if (wanted === "" || rows === undefined || rows.length === 0) return []
      const others = rows.filter((row) => systemOf(row).toLowerCase() !== wanted.toLowerCase()).length
      return [
        observation(
          exchange,
          others === 0,
          others === 0 ? `os=${wanted} gives that system alone` : `os=${wanted} gives ${others} rows of other systems`
        )
      ]
    }),
    (value) => value
  )

/** Whether a filter in another case finds the same. */
export const anyCase: Observer<boolean> = (evidence) => {
  const whole = wholeList(evidence)
  const systems = new Set(whole === undefined ? [] : rowsOf(whole).map(systemOf))
  const lower = new Set(Array.from(systems, (name) => name.toLowerCase()))
  return first(listed(evidence), (exchange) => {
    const wanted = query(exchange, "os") ?? ""
    const length = listIn(exchange)?.length
    if (length === undefined || systems.has(wanted) || !lower.has(wanted.toLowerCase())) return undefined
    return observation(exchange, length > 0, `os=${wanted} gives ${length} rows`)
  })
}

/** A filter that nothing matches. */
export const noMatch: Observer<number | "empty" | "rows"> = (evidence) => {
  const whole = wholeList(evidence)
  const lower = new Set(whole === undefined ? [] : rowsOf(whole).map((row) => systemOf(row).toLowerCase()))
  if (whole === undefined) return undefined
  return first(listed(evidence), (exchange) => {
    const wanted = query(exchange, "os") ?? ""
    if (wanted === "" || lower.has(wanted.toLowerCase())) return undefined
    if (isRefusal(exchange))
      return observation(exchange, exchange.status, `a filter without a match is ${exchange.status}`)
    const length = listIn(exchange)?.length
    if (length === undefined) return undefined
    return observation(
      exchange,
      length === 0 ? ("empty" as const) : ("rows" as const),
      `a filter without a match gives ${length} rows`
    )
  })
}

/** An image type that there is not. */
export const unknownType: Observer<number | "empty" | "all"> = (evidence) =>
  first(listed(evidence), (exchange) => {
    const type = query(exchange, "image_type") ?? ""
    if (/^(public|private|)$/i.test(type)) return undefined
    if (isRefusal(exchange))
      return observation(exchange, exchange.status, `an unknown image_type is ${exchange.status}`)
    const length = listIn(exchange)?.length
    if (length === undefined) return undefined
    return observation(
      exchange,
      length === 0 ? ("empty" as const) : ("all" as const),
      `an unknown image_type gives ${length} rows`
    )
  })

const saved = (evidence: Evidenced): Evidenced =>
  evidence.filter(
    (exchange) => exchange.operation === "images.saved" && isSuccess(exchange) && json(exchange) !== undefined
  )

/** The key that the list of saved images is under. */
export const savedKey: Observer<string> = (evidence) =>
  first(saved(evidence), (exchange) => {
    const key = listKey(exchange)
    return key === undefined ? undefined : observation(exchange, key, `the saved images are under ${key}`)
  })

/** How a saved image names its plan. */
export const savedPlan: Observer<string> = (evidence) =>
  first(saved(evidence), (exchange) => {
    const [row] = rowsOf(exchange)
    const name = ["size", "plan"].find((each) => row !== undefined && each in row)
    return name === undefined ? undefined : observation(exchange, name, `a saved image names its plan ${name}`)
  })
