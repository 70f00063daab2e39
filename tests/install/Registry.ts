/**
 * A registry with packages that are published nowhere. Every package manager can install from it by name and version, but not every one
 * from a tarball. It has only these packages; everything else that a project needs comes from the machine's registry. `npm publish` adds to
 * it.
 */
import { createHash } from "node:crypto"
import { once } from "node:events"
import { readFile } from "node:fs/promises"
import { createServer, type IncomingMessage, type RequestListener, type Server } from "node:http"
import type { AddressInfo } from "node:net"
import { basename, dirname, join } from "node:path"
import { text } from "node:stream/consumers"

interface Published {
  readonly manifest: { readonly name: string; readonly version: string }
  readonly file: string
  readonly bytes: Buffer
}

/** The folder with the tarball's content is next to the tarball. */
const read = async (tarball: string): Promise<Published> => {
  const folder = /^berthkit-(.+?)-\d/.exec(basename(tarball))![1]!
  const manifest = JSON.parse(await readFile(join(dirname(tarball), folder, "package.json"), "utf8"))
  return { manifest, file: basename(tarball), bytes: await readFile(tarball) }
}

/** What `npm publish` sends: one version of a package, and its tarball. */
interface Publication {
  readonly versions: Readonly<Record<string, Published["manifest"]>>
  readonly _attachments: Readonly<Record<string, { readonly data: string }>>
}

const published = ({ _attachments, versions }: Publication): Published => {
  const [manifest] = Object.values(versions)
  const [attachment] = Object.values(_attachments)
  if (manifest === undefined || attachment === undefined) throw new Error("A publication has a version and a tarball.")
  const file = `${manifest.name.replace("@", "").replace("/", "-")}-${manifest.version}.tgz`
  return { manifest, file, bytes: Buffer.from(attachment.data, "base64") }
}

const describe = (base: string, { bytes, file, manifest }: Published) => {
  const { name, version } = manifest
  const integrity = `sha512-${createHash("sha512").update(bytes).digest("base64")}`
  const dist = { tarball: `${base}/${name}/-/${file}`, integrity }
  return { name, "dist-tags": { latest: version }, versions: { [version]: { ...manifest, dist } } }
}

export class Registry {
  readonly url: string
  readonly #server: Server

  private constructor(server: Server) {
    this.#server = server
    this.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  }

  /** Starts a registry with these tarballs. */
  static async of(tarballs: ReadonlyArray<string>): Promise<Registry> {
    const packages = await Promise.all(tarballs.map(read))
    const add = async (request: IncomingMessage): Promise<number> => {
      const added = published(JSON.parse(await text(request)))
      const { name, version } = added.manifest
      // A published version never changes.
      if (packages.some(({ manifest }) => manifest.name === name && manifest.version === version)) return 403
      packages.push(added)
      return 201
    }
    const answer: RequestListener = (request, response) => {
      if (request.method === "PUT") {
        return void add(request).then(
          (status) => response.writeHead(status).end("{}"),
          () => response.writeHead(400).end("{}")
        )
      }
      const path = decodeURIComponent(request.url!).slice(1)
      const tarball = packages.find(({ file, manifest }) => path === `${manifest.name}/-/${file}`)
      if (tarball !== undefined) return void response.end(tarball.bytes)
      const named = packages.find(({ manifest }) => path === manifest.name)
      if (named === undefined) return void response.writeHead(404).end("{}")
      response.setHeader("content-type", "application/json")
      response.end(JSON.stringify(describe(`http://${request.headers.host}`, named)))
    }
    const server = createServer(answer).listen(0, "127.0.0.1")
    await once(server, "listening")
    return new Registry(server)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.close()
    this.#server.closeAllConnections()
    await once(this.#server, "close")
  }
}
