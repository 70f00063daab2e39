/**
 * The parts of the interface that requests need: endpoints, the parameter of the API key, page sizes. The contract (`BerthApi.ts`) and the
 * client's requests (`client/transport/Transport.ts`) are both derived from this module, so requests do not load the contract's schemas.
 */

/** The beginning of every path of the interface; the version is part of it (interface.md §9). */
export const prefix = "/myaccount/api/v1"

/** The method of each endpoint, and its path below `prefix` (interface.md §4). */
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

/** Query parameters for the project and location, on every request of a client that has them. */
export const placeParameters = { project: "project_id", location: "location" } as const

/** The default and maximum page size of the service (A7). */
export const pageSize = { default: 20, maximum: 100 } as const
