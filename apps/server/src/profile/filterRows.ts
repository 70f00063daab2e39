/**
 * The filters of the image list over rows that were observed (interface.md §4 note 4, A18).
 */
import type { Behaviour } from "./Profile.ts"
import { isObject, type JsonObject, part } from "./values.ts"

type Rules = Behaviour["images"]

const same = (wanted: string, actual: unknown, { caseMatters = false }: Rules): boolean => {
  const text = String(actual ?? "")
  return caseMatters ? text === wanted : text.toLowerCase() === wanted.toLowerCase()
}

const sameNumber = (wanted: string, actual: unknown): boolean =>
  Number.parseFloat(String(actual ?? "")) === Number.parseFloat(wanted)

const filters: Readonly<Record<string, (row: JsonObject, wanted: string, rules: Rules) => boolean>> = {
  cpu: (row, wanted) => sameNumber(wanted, part(row, "specs")["cpu"]),
  ram: (row, wanted) => sameNumber(wanted, part(row, "specs")["ram"]),
  series: (row, wanted, rules) => same(wanted, part(row, "specs")["series"], rules),
  os: (row, wanted, rules) => same(wanted, part(row, "os")["name"], rules),
  version: (row, wanted, rules) => same(wanted, part(row, "os")["version"], rules)
}

/** The rows that a query lets through; undefined where it is refused. */
export const filterRows = (
  catalogue: ReadonlyArray<unknown>,
  query: URLSearchParams,
  rules: Rules
): ReadonlyArray<JsonObject> | undefined => {
  const type = query.get("image_type") ?? ""
  const isKnown = /^(public|private|)$/i.test(type)
  if (!isKnown && (rules.unknownType ?? "refused") === "refused") return undefined
  if (!isKnown && rules.unknownType === "empty") return []
  // The rows are those of public images.
  if (/^private$/i.test(type)) return []
  const rows = catalogue.filter(isObject)
  if (rules.narrows === false) return rows
  const found = rows.filter((row) =>
    Object.entries(filters).every(([name, isSame]) => {
      const wanted = query.get(name) ?? ""
      return wanted === "" || isSame(row, wanted, rules)
    })
  )
  return found.length === 0 && rules.noMatch === "rows" ? rows : found
}
