/**
 * What a request needs of the interface: the endpoints, the parameter for the API key, the page size. Stated here and nowhere
 * else: the contract (`BerthApi.ts`) is made from it, and so are the client's requests (`client/transport/Transport.ts`), which do
 * not need the contract's schemas this way.
 */

/** The beginning of every path of the interface; the version is part of it (interface.md §9). */
export const prefix = "/myaccount/api/v1"

/** Each endpoint's method, and its path below `prefix` (interface.md §4). */
export const routes = {
  nodes: {
    create: { method: "POST", path: "/nodes/" },
    get: { method: "GET", path: "/nodes/:node_id/" },
    list: { method: "GET", path: "/nodes/" },
    delete: { method: "DELETE", path: "/nodes/:node_id/" }
  },
  images: {
    list: { method: "GET", path: "/images/" },
    saved: { method: "GET", path: "/images/saved-images/" }
  },
  commitments: {
    set: { method: "POST", path: "/update_committed_node_status/" }
  }
} as const

/** Query parameter that carries the account's API key on every request. */
export const apiKeyParameter = "apikey"

/** Query parameters that name the project and the location, on every request of a client that has them. */
export const placeParameters = { project: "project_id", location: "location" } as const

/** The service's default page size, and its largest one (A7). */
export const pageSize = { default: 20, maximum: 100 } as const
