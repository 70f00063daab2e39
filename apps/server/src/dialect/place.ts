/** Finds the place (project and location) that a request is about. Every operation has both in its query. */
import { HttpServerResponse } from "effect/http"
import type { Reply } from "../http/Exchange.ts"
import { locations, type Place } from "../world/Today.ts"

const refused = (message: string): { readonly reply: Reply } => ({
  reply: HttpServerResponse.jsonUnsafe({ status_code: 400, message }, { status: 400 })
})

/** Whether a string is a project. Every positive whole number counts, because no request of the service creates projects. */
const isProject = (text: string | null): text is string => text !== null && /^[1-9]\d{0,14}$/.test(text)

export const placeOf = (query: URLSearchParams): { readonly reply: Reply } | { readonly place: Place } => {
  const projectId = query.get("project_id")
  if (!isProject(projectId)) return refused("Project not found")
  const location = locations.find((name) => name === query.get("location"))
  return location === undefined ? refused("Location not found") : { place: { projectId: Number(projectId), location } }
}
