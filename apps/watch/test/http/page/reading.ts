/** Reads parts of the dashboard for tests. */
import { sees } from "@berthkit/testing/browser"
import type { Page } from "playwright-core"

/** A row begins with the name of its node. */
export const rowOf = (page: Page, name: string) => page.getByRole("row", { name: new RegExp(`^${name} `) })

export const isLive = (page: Page) => sees(page.getByText("live", { exact: true }).waitFor())

/** The present time in the form that events have. */
export const instant = (): string => new Date().toISOString()
