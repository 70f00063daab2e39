/**
 * The list that `berth-server faults` prints: every fault by family, with a summary and its options, then the triggers and
 * scopes that all faults share.
 */
import { Schema } from "effect"
import { families } from "../injection/catalogue.ts"
import { Scope, triggerFields } from "../faults/Fault.ts"

const describe = (fields: Schema.Struct.Fields): ReadonlyArray<string> =>
  Object.entries(fields).map(([name, field]) => {
    const described = Schema.resolveAnnotations(field)?.["description"] ?? ""
    return `      ${name.padEnd(12)} ${described}`
  })

export const faultList = (): string => {
  const lines: Array<string> = []
  for (const [title, faults] of Object.entries(families)) {
    lines.push(title)
    for (const fault of faults) {
      const where = fault.only === undefined ? "" : ` (${fault.only.join(", ")})`
      lines.push(`  ${fault.name.padEnd(26)} ${fault.summary}${where}`, ...describe(fault.options))
    }
    lines.push("")
  }
  return [
    ...lines,
    "For every fault: when it fires",
    ...describe(triggerFields),
    "",
    "For every fault: at which requests (in JSON, under scope)",
    ...describe(Scope.fields),
    "",
    "  berth-server --fault status:status=500:times=2:operation=nodes.list",
    '  PUT /_mock/worlds/default/faults  [{"fault":"status","status":500,"times":2,"scope":{"operation":"nodes.list"}}]'
  ].join("\n")
}
