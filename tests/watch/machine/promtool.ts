/** Prometheus's own tool for its rules. If the machine does not have it, Debian's package is unpacked next to the tests. */
import { execFileSync } from "node:child_process"
import { existsSync, globSync, mkdirSync } from "node:fs"
import { join } from "node:path"
import { aptGet } from "@berthkit/testing/debian"

const folder = join(import.meta.dirname, "../../node_modules/.cache/prometheus")

const isThere = (command: string): boolean => {
  try {
    execFileSync(command, ["--version"], { stdio: "ignore" })
    return true
  } catch {
    return false
  }
}

const download = () => {
  mkdirSync(folder, { recursive: true })
  const get = () => aptGet(["download", "prometheus"], folder)
  try {
    get()
  } catch {
    // A fresh machine has no package lists yet.
    aptGet(["update"])
    get()
  }
  const [archive] = globSync("prometheus_*.deb", { cwd: folder })
  execFileSync("dpkg-deb", ["-x", join(folder, archive!), folder])
}

/** The path of promtool. */
export const promtool = (): string => {
  if (isThere("promtool")) return "promtool"
  const path = join(folder, "usr/bin/promtool")
  if (!existsSync(path)) download()
  return path
}
