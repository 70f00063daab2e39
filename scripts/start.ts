// Starts an app's binary, and bundles it first if its sources have changed: `node scripts/start.ts cli ARGS…`. The binary
// runs in this process, so that signals, streams and the exit code are its own. A server ends when the program that has
// started it ends.
import { readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { apps, bundle } from "./bundle.ts"
import { endWithLaunchers } from "./launchers.ts"

const [node, , name, ...args] = process.argv
const app = apps.find((app) => app === name)
if (node === undefined || app === undefined) throw new Error(`no app is named ${name}; the apps are ${apps.join(", ")}`)
await bundle(app)
if (app === "server") endWithLaunchers()

const home = new URL(`../apps/${app}/`, import.meta.url)
const manifest: { readonly bin: Record<string, string> } = JSON.parse(
  readFileSync(new URL("package.json", home), "utf8")
)
const binary = new URL(Object.values(manifest.bin)[0]!, home)
process.argv = [node, fileURLToPath(binary), ...args]
await import(binary.href)
