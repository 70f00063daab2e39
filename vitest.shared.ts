import { join } from "node:path"

const minute = 60_000

/** What all runs of tests have in common. */
export const shared = {
  setupFiles: join(import.meta.dirname, "packages/testing/src/fixChance.ts"),
  // Limits on time catch only what hangs: a machine that is busy with other things takes its time.
  testTimeout: 5 * minute,
  hookTimeout: 5 * minute,
  expect: { poll: { timeout: 2 * minute } },
  passWithNoTests: false
}
