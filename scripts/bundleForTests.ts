// Vitest runs this once before all tests: it bundles every app whose sources have changed.
import { apps, bundle } from "./bundle.ts"

export const setup = async (): Promise<void> => {
  for (const app of apps) await bundle(app)
}
