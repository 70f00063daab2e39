/** A service whose replies show a wrong record, name or status. It records what its replies said. Its own state is correct. */
import { nodeRecord, ok, type Reply, type Request } from "@berthkit/core/testing"

type Row = ReturnType<typeof nodeRecord>

/** How it falsifies the reply to a request for one node. */
export type OneLie =
  | "honest"
  | "another node"
  | "another name"
  | "no id"
  | "no name"
  | "another day"
  | "nothing"
  | "gone"
  | "another status"

/** How it falsifies a list. */
export type ListLie =
  | "honest"
  | "null"
  | "an object"
  | "empty with errors"
  | "swapped names"
  | "twins"
  | "a bad record"
  | "nameless"
  | "junk"

/** How it falsifies the reply to a change. */
export type ChangeLie = "honest" | "another node" | "another id" | "empty"

export interface Lies {
  readonly get: OneLie
  readonly list: ListLie
  readonly change: ChangeLie
  /** The node that false replies name instead. */
  readonly other: number
}

/** What its replies said, and the changes that it received. */
export interface Transcript {
  /** For each node, the name in the last reply to a request for it; undefined if the reply stated none. */
  readonly stated: Map<number, string | undefined>
  /** Ids by the names that the last list gave them. */
  readonly listed: Map<number, Set<string>>
  /** Changes: method, and the node that they name. */
  readonly changes: Array<{ readonly method: string; readonly id: number; readonly statedAs: string | undefined }>
  readonly creates: Array<{ readonly id: number; readonly name: string }>
}

export class LyingService {
  readonly transcript: Transcript = { stated: new Map(), listed: new Map(), changes: [], creates: [] }
  readonly #nodes: Map<number, Row>
  readonly #lies: Lies

  constructor(names: ReadonlyArray<string>, lies: Lies) {
    this.#nodes = new Map(names.map((name, i) => [i + 1, nodeRecord({ id: i + 1, name })]))
    this.#lies = lies
  }

  readonly answer = (request: Request): Reply => {
    const { method, path } = request
    if (path.startsWith("/images")) return ok([])
    if (path === "/update_committed_node_status/") return this.#set(request.body as { readonly vcn_id: number })
    if (path === "/nodes/") {
      return method === "POST" ? this.#create(request.body as { readonly name: string }) : this.#list(request.query)
    }
    const id = Number(/^\/nodes\/(\d+)\/$/.exec(path)?.[1])
    return method === "DELETE" ? this.#delete(id) : this.#get(id)
  }

  #other(id: number): Row {
    const ids = Array.from(this.#nodes.keys()).filter((each) => each !== id)
    return this.#nodes.get(ids[this.#lies.other % Math.max(1, ids.length)] ?? id)!
  }

  #get(id: number): Reply {
    const node = this.#nodes.get(id)
    this.transcript.stated.set(id, undefined)
    if (node === undefined || this.#lies.get === "gone") {
      return { status: 404, body: JSON.stringify({ message: "Not found", code: 404, data: {}, errors: {} }) }
    }
    const said = this.#said(node)
    if (said !== undefined && said["id"] === id && typeof said["name"] === "string") {
      this.transcript.stated.set(id, said["name"])
    }
    return ok(said ?? {})
  }

  #said(node: Row): Record<string, unknown> | undefined {
    switch (this.#lies.get) {
      case "another node":
        return this.#other(node.id)
      case "another name":
        return { ...node, name: this.#other(node.id).name }
      case "no id":
        return { ...node, id: null }
      case "no name":
        return { ...node, name: null }
      case "another day":
        return { ...node, created_at: "2026-02-30T00:00:00Z" }
      case "another status":
        return { ...node, status: null }
      case "nothing":
        return undefined
      default:
        return node
    }
  }

  #list(query: Request["query"]): Reply {
    const rows = this.#rows()
    if (!Array.isArray(rows)) return rows as Reply
    this.transcript.listed.clear()
    for (const row of rows) {
      const { id, name } = (row ?? {}) as { readonly id?: unknown; readonly name?: unknown }
      if (typeof id !== "number") continue
      const names = this.transcript.listed.get(id) ?? new Set()
      this.transcript.listed.set(id, typeof name === "string" ? names.add(name) : names)
    }
    const [page, size] = [Number(query["page_no"] ?? 1), Number(query["per_page"] ?? 20)]
    return ok(rows.slice((page - 1) * size, page * size))
  }

  #rows(): ReadonlyArray<unknown> | Reply {
    const rows = Array.from(this.#nodes.values())
    const at = this.#lies.other % rows.length
    const row = rows[at]!
    switch (this.#lies.list) {
      case "null":
        return ok(null)
      case "an object":
        return ok({})
      case "empty with errors":
        return { status: 200, body: JSON.stringify({ code: 200, data: [], errors: { detail: ["no database"] } }) }
      case "swapped names":
        return rows.map((each, i) => ({ ...each, name: rows[(i + 1) % rows.length]!.name }))
      case "twins":
        return rows.toSpliced(at + 1, 0, { ...row, name: this.#other(row.id).name })
      case "a bad record":
        return rows.toSpliced(at, 1, { ...row, created_at: "yesterday" })
      case "nameless":
        return rows.toSpliced(at, 1, { ...row, name: null } as unknown as Row)
      case "junk":
        return [...rows, null, "node", {}]
      case "honest":
        return rows
    }
  }

  #changed(method: string, id: number, honest: unknown): Reply {
    this.transcript.changes.push({ method, id, statedAs: this.transcript.stated.get(id) })
    const other = this.#other(id)
    switch (this.#lies.change) {
      case "another node":
        return ok(other)
      case "another id":
        return ok(method === "DELETE" ? { id: other.id } : { vcn_id: other.id })
      case "empty":
        return ok({})
      case "honest":
        return ok(honest)
    }
  }

  #delete(id: number): Reply {
    if (!this.#nodes.has(id)) return { status: 404, body: JSON.stringify({ code: 404 }) }
    return this.#changed("DELETE", id, {})
  }

  #set(body: { readonly vcn_id: number }): Reply {
    return this.#changed("POST", body.vcn_id, body)
  }

  #create({ name }: { readonly name: string }): Reply {
    const id = Math.max(...this.#nodes.keys()) + 1
    const node = nodeRecord({ id, name, created_at: "2026-06-01T00:00:00.000000Z" })
    this.#nodes.set(id, node)
    this.transcript.creates.push({ id, name })
    return { ...ok({ ...node, status: "Create" }), status: 202 }
  }
}
