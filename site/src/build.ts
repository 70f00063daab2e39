// Builds the documentation site into `site/astro/dist`. It writes pages from the repository's Markdown, the declarations of the packages,
// the commands and the OpenAPI descriptions, lets Astro turn them into HTML, and checks every link. Once its tools are installed, it needs
// no network.
//
// node site/src/build.ts build node site/src/build.ts --serve build, and serve it at http://127.0.0.1:4321
import { execFileSync } from "node:child_process"
import { cpSync, globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { bundle, apps } from "@berthkit/scripts/bundle"
import { fillPackages } from "@berthkit/scripts/pack"
import { ControlApi } from "@berthkit/server/control/ControlApi"
import { WatchApi } from "@berthkit/watch/http/WatchApi"
import { OpenApi } from "effect/http-api"
import { citations } from "./citations.ts"
import { commandPages } from "./commandPages.ts"
import { helpPages } from "./helpPages.ts"
import { homeOf } from "./home.ts"
import { htmlFaults } from "./htmlFaults.ts"
import { llmsFullText, llmsText } from "./llms.ts"
import { root } from "./navigation.ts"
import { openApiPage } from "./openApiPage.ts"
import { type Page, withFrontmatter } from "./Page.ts"
import { referenceOf } from "./reference.ts"
import { repositoryPages, sizeOf } from "./repositoryPages.ts"
import { type Generated, sidebarOf } from "./sidebar.ts"

/** The installation of Astro. Git ignores everything that the build writes there. */
const astro = join(root, "site/astro")

/** The folder of the built site. */
export const siteFolder = join(astro, "dist")

const write = (path: string, text: string): void => {
  const file = join(astro, path)
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, text)
}

/** Installs Astro from its lockfile, offline if possible: without a network npx would retry the download of pnpm until it gives up. */
export const installTools = (): void => {
  const { packageManager } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"))
  const pnpm = ["--yes", "--prefer-offline", packageManager]
  const args = [...pnpm, "install", "--frozen-lockfile", "--ignore-scripts", "--reporter=append-only"]
  try {
    execFileSync("npx", args, { cwd: astro, encoding: "utf8", stdio: "pipe" })
  } catch (error) {
    const { stderr = "", stdout = "" } = error as { readonly stdout?: string; readonly stderr?: string }
    throw new Error(`the tools of the site cannot be installed: ${stdout}${stderr}`, { cause: error })
  }
}

const descriptions: ReadonlyArray<readonly [slug: string, file: string, describe: () => object]> = [
  ["http/service", "openapi.json", () => JSON.parse(readFileSync(join(root, "packages/core/openapi.json"), "utf8"))],
  ["http/control-plane", "control-plane.openapi.json", () => OpenApi.fromApi(ControlApi)],
  ["http/daemon", "daemon.openapi.json", () => OpenApi.fromApi(WatchApi)]
]

const generate = async (): Promise<Generated> => {
  for (const app of apps) await bundle(app)
  const packed = mkdtempSync(join(tmpdir(), "berth-site-"))
  // Runs while the compiler works.
  const help = helpPages()
  try {
    await fillPackages(packed)
    const cite = citations()
    const references = ["core", "server", "watch"].map((name) => referenceOf(name, join(packed, name), cite))
    const berth = join(root, "apps/cli/bin/berth.mjs")
    const schemas = JSON.parse(execFileSync(process.execPath, [berth, "schema"], { encoding: "utf8" }))
    const helps = JSON.parse(readFileSync(join(root, "apps/cli/dist/commands.json"), "utf8"))
    return {
      commands: commandPages(helps, schemas),
      help: await help,
      descriptions: descriptions.map(([slug, file, describe]) => openApiPage(slug, describe(), file)),
      references
    }
  } finally {
    rmSync(packed, { recursive: true, force: true })
  }
}

/** Writes everything that Astro reads, except its own files. */
const writeSources = async (): Promise<void> => {
  const generated = await generate()
  for (const folder of ["src/content/docs", "src/generated", "public"]) {
    rmSync(join(astro, folder), { recursive: true, force: true })
  }
  const { commands, help, references } = generated
  const pages: ReadonlyArray<Page> = [
    ...repositoryPages(),
    ...commands,
    ...help,
    ...generated.descriptions,
    ...references.flatMap(({ pages }) => pages)
  ]
  const bySlug = new Map(pages.map((page) => [page.slug, page]))
  if (bySlug.size < pages.length) throw new Error("two pages of the site have one address")
  for (const page of pages) {
    write(`src/content/docs/${page.slug}.md`, withFrontmatter(page))
    write(`public/${page.slug}.md`, `# ${page.title}\n\n${page.markdown.trim()}\n`)
  }
  const home = homeOf(
    readFileSync(join(root, "README.md"), "utf8"),
    sizeOf(join(root, "docs/pictures/dashboard-light.png"))
  )
  write("src/generated/sidebar.json", JSON.stringify(sidebarOf(pages, generated)))
  write("src/generated/home.json", JSON.stringify(home))
  write("public/llms.txt", llmsText(home.summary, bySlug, generated))
  write("public/llms-full.txt", llmsFullText(home.summary, bySlug, generated))
  write("public/favicon.svg", readFileSync(join(astro, "src/favicon.svg"), "utf8"))
  for (const [, file, describe] of descriptions) write(`public/${file}`, JSON.stringify(describe(), null, 2))
  cpSync(join(root, "docs/pictures"), join(astro, "public/pictures"), { recursive: true })
}

/** Makes wide tables scroll on their own, with the keyboard too. */
const withScrollingTables = (html: string): string =>
  html
    .replaceAll("<table>", '<div class="table" tabindex="0" role="group" aria-label="Table"><table>')
    .replaceAll("</table>", "</table></div>")

/** Builds the site. Fails with the names of all dead links. */
export const buildSite = async (): Promise<void> => {
  installTools()
  await writeSources()
  // Otherwise Astro would keep pages that refer to removed styles.
  for (const folder of [siteFolder, join(astro, "node_modules/.astro"), join(astro, ".astro")]) {
    rmSync(folder, { recursive: true, force: true })
  }
  execFileSync(process.execPath, ["node_modules/astro/bin/astro.mjs", "build", "--silent"], {
    cwd: astro,
    stdio: "inherit",
    env: { ...process.env, ASTRO_TELEMETRY_DISABLED: "1" }
  })
  for (const file of globSync("**/*.html", { cwd: siteFolder }).map((path) => join(siteFolder, path))) {
    writeFileSync(file, withScrollingTables(readFileSync(file, "utf8")))
  }
  const faults = htmlFaults(siteFolder, (process.env["SITE_BASE"] ?? "").replace(/\/$/, ""))
  if (faults.length > 0) throw new Error(`The site has faults:\n${faults.join("\n")}`)
}

if (import.meta.main) {
  await buildSite()
  if (process.argv.includes("--serve")) {
    const args = ["node_modules/astro/bin/astro.mjs", "preview", "--host", "127.0.0.1", "--port", "4321"]
    execFileSync(process.execPath, args, {
      cwd: astro,
      stdio: "inherit",
      env: { ...process.env, ASTRO_TELEMETRY_DISABLED: "1" }
    })
  } else console.log(siteFolder)
}
