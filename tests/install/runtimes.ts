/** Package managers and runtimes that people use with the packages, by name. `runtimes/` has their versions; Linux on x64 only. */
import { readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { install } from "../document/installTools.ts"

const home = fileURLToPath(new URL("runtimes", import.meta.url))
const modules = `${home}/node_modules`

export const nodes = { "22.19.0": `${modules}/node22/bin/node`, "24.21.0": `${modules}/node24/bin/node` } as const

/** The newest version of Node that is too old for Berth. */
export const nodeTooOld = { version: "22.18.0", path: `${modules}/nodeTooOld/bin/node` } as const

const { packageManager } = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8"))

const bun = `${modules}/@oven/bun-linux-x64/bin/bun`
const deno = `${modules}/@deno/linux-x64-glibc/deno`

/** The command with which each runtime other than Node runs a file. */
export const runtimes = { Bun: [bun, "run"], Deno: [deno, "run", "--allow-all"] } as const

/** The command that bundles a file with esbuild, without options. */
export const esbuild = [process.execPath, `${modules}/esbuild/bin/esbuild`] as const

/** The command that checks a `Containerfile`. */
export const containerfileLinter = [
  process.execPath,
  `${modules}/dockerfile-utils/bin/dockerfile-utils`,
  "lint"
] as const

/** The command with which each package manager adds packages to a project. */
export const managers = {
  npm: ["npm", "install", "--no-audit", "--no-fund", "--prefer-offline", "--ignore-scripts", "--loglevel=error"],
  pnpm: ["npx", "--yes", String(packageManager), "add", "--ignore-scripts"],
  Bun: [bun, "add", "--ignore-scripts"],
  Deno: [deno, "add", "--npm"]
} as const
export type Manager = keyof typeof managers

/** Vitest runs this once. It installs the tools that are missing on the machine. */
export const setup = (): Promise<void> => install(home)
