// Writes the alert rules and the table of `docs/reference/troubles.md` from the table of troubles. A test compares them.
import { writeFileSync } from "node:fs"
import { alertsFile, docsFile, printedAlerts, printedDocs } from "./printedTroubles.ts"

writeFileSync(alertsFile, printedAlerts())
writeFileSync(docsFile, printedDocs())
