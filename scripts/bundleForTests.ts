// What vitest runs once before all tests: bundles every app whose sources have changed.
import { apps, bundle } from "./bundle.ts"

export const setup = async (): Promise<void> => {
  for (const app of apps) await bundle(app)
}
