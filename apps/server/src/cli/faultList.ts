/**
 * The list that `berth-server faults` prints: every fault with its family, what it does and its options, and what all of
 * them have besides.
 */
import { Schema } from "effect"
import { catalogue } from "../injection/catalogue.ts"
import { Scope, triggerFields } from "../injection/FaultKind.ts"

const describe = (fields: Schema.Struct.Fields): ReadonlyArray<string> =>
  Object.entries(fields).map(([name, field]) => {
    const described = Schema.resolveAnnotations(field)?.["description"] ?? ""
    return `      ${name.padEnd(12)} ${described}`
  })

const titles = { http: "HTTP", wire: "Wire", lies: "Lies" } as const

export const faultList = (): string => {
  const lines: Array<string> = []
  for (const [family, title] of Object.entries(titles)) {
    lines.push(title)
    for (const fault of catalogue.filter((one) => one.family === family)) {
      const where = fault.only === undefined ? "" : ` (${fault.only.join(", ")})`
      lines.push(`  ${fault.name.padEnd(26)} ${fault.summary}${where}`, ...describe(fault.options))
    }
    lines.push("")
  }
  return [
    ...lines,
    "Of every fault: when it fires",
    ...describe(triggerFields),
    "",
    "Of every fault: at which requests (in JSON these stand under scope)",
    ...describe(Scope.fields),
    "",
    "  berth-server --fault status:status=500:times=2:operation=nodes.list",
    '  PUT /_mock/worlds/default/faults  [{"fault":"status","status":500,"times":2,"scope":{"operation":"nodes.list"}}]'
  ].join("\n")
}
