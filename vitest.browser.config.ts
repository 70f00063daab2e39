import { defineConfig } from "vitest/config"
import { shared } from "./vitest.shared.ts"

/** The tests that need a Chromium, which not every machine has: they are a run of their own, `pnpm test:browser`. */
export default defineConfig({
  test: {
    ...shared,
    include: ["apps/*/test/**/*.browser.ts", "tests/**/*.browser.ts"],
    globalSetup: ["scripts/bundleForTests.ts", "tests/install/runtimes.ts"]
  }
})
