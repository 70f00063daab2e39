/** The fleet file of a row, in a given folder, with nodes named after `own`. */
import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import type { Row } from "./rows.ts"

const text = (own: string) => `fleet: ${own}
nodes:
  web: { count: 2, plan: C-2VCPU-8RAM-50DISK, image: Ubuntu-22.04 }
  spare: { count: 0, plan: C-2VCPU-8RAM-50DISK, image: Ubuntu-22.04 }
`

/** The arguments that name the fleet file; none for a row that is not about a fleet. */
export const fleetArgs = ({ fleet }: Row, folder: string, own: string): ReadonlyArray<string> => {
  if (fleet !== true) return []
  mkdirSync(folder, { recursive: true })
  const file = join(folder, `${own}.yaml`)
  writeFileSync(file, text(own))
  return ["-f", file]
}
