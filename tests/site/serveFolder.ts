/** Serves the files of a folder on a free port, like a host of static pages. */
import { existsSync, readFileSync, statSync } from "node:fs"
import { createServer } from "node:http"
import { extname, join } from "node:path"
import { Effect } from "effect"

const types: Readonly<Record<string, string>> = {
  ".css": "text/css",
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript",
  ".json": "application/json",
  ".png": "image/png",
  ".svg": "image/svg+xml",
  ".wasm": "application/wasm",
  ".woff2": "font/woff2"
}

/** The file of a path below `base`; undefined if there is none. */
const fileOf = (folder: string, base: string, path: string): string | undefined => {
  if (!path.startsWith(`${base}/`)) return undefined
  const file = join(folder, path.slice(base.length))
  const found = existsSync(file) && statSync(file).isDirectory() ? join(file, "index.html") : file
  return existsSync(found) ? found : undefined
}

/** Serves the folder below the path `base` until the scope closes. Returns the address. */
export const serveFolder = (folder: string, base = "") =>
  Effect.acquireRelease(
    Effect.callback<{ readonly url: string; readonly close: () => void }>((resume) => {
      const server = createServer((request, response) => {
        const file = fileOf(folder, base, decodeURIComponent(new URL(request.url ?? "/", "http://localhost").pathname))
        response.writeHead(file === undefined ? 404 : 200, {
          "content-type": types[extname(file ?? ".html")] ?? "application/octet-stream"
        })
        response.end(file === undefined ? "There is no such page." : readFileSync(file))
      }).listen(0, "127.0.0.1", () => {
        const { port } = server.address() as { readonly port: number }
        resume(
          Effect.succeed({
            url: `http://127.0.0.1:${port}${base}`,
            close: () => {
              server.close()
              server.closeAllConnections()
            }
          })
        )
      })
    }),
    ({ close }) => Effect.sync(close)
  ).pipe(Effect.map(({ url }) => url))
