/**
 * The HTTP interface of the control plane, through which tests control the mock. The server implements it, and the typed
 * client for tests is derived from it. The control plane is not part of the interface that the mock imitates: its requests
 * need no account, spend no allowance and are in no journal.
 */
import { type Json, plain } from "@berthkit/core/api/Document"
import { failures } from "@berthkit/core/api/Envelope"
import { Schema } from "effect"
import { HttpApi, HttpApiEndpoint, HttpApiGroup, HttpApiMiddleware, OpenApi } from "effect/http-api"
import { ClockGroup } from "./ClockGroup.ts"
import { describeFields } from "./describeFields.ts"
import { EventsGroup } from "./EventsGroup.ts"
import { FaultsGroup } from "./FaultsGroup.ts"
import { NodesGroup } from "./NodesGroup.ts"
import { RequestsGroup } from "./RequestsGroup.ts"
import { SavedImagesGroup } from "./SavedImagesGroup.ts"
import { WorldsGroup } from "./WorldsGroup.ts"

/** The prefix of every path of the control plane. */
export const controlPrefix = "/_mock"

/**
 * Rejects requests from pages of other sites, and requests without the control token if the server requires one. See
 * `plane.ts`.
 */
export class ControlAccess extends HttpApiMiddleware.Service<ControlAccess>()(
  "@berthkit/server/control/ControlAccess",
  {
    error: [
      failures[401],
      failures[403].annotate({
        identifier: "ControlForbidden",
        description: "The `Host` is not one of the server's names, or a page of another origin sent the request."
      }),
      failures[500]
    ]
  }
) {}

/** Describes the token as optional, because only a server that was started with a control token asks for it. */
const withTokenScheme = (spec: Json): Json => {
  for (const path of Object.values<Json>(spec["paths"])) {
    for (const operation of Object.values(path)) operation.security = [{}, { controlToken: [] }]
  }
  spec["components"].securitySchemes = { controlToken: { type: "http", scheme: "bearer" } }
  return spec
}

const health = HttpApiEndpoint.get("get", "/health", {
  success: Schema.Struct({
    status: Schema.Literal("ok"),
    version: Schema.String,
    worlds: Schema.Int
  }).annotate({ identifier: "Health" })
}).annotateMerge(OpenApi.annotations({ title: "Health", description: "Answers as soon as the server runs." }))

/** Scripts that start the server poll this until the server answers. */
class HealthGroup extends HttpApiGroup.make("health")
  .add(health)
  .annotateMerge(OpenApi.annotations({ title: "Health", description: "The server itself." })) {}

const api = HttpApi.make("berth-control")
  .add(HealthGroup)
  .add(WorldsGroup)
  .add(ClockGroup)
  .add(NodesGroup)
  .add(SavedImagesGroup)
  .add(FaultsGroup)
  .add(RequestsGroup)
  .add(EventsGroup)
  .prefix(controlPrefix)
  .middleware(ControlAccess)

const describe = plain(api)

/** The HTTP interface of the control plane, under `/_mock`. */
export class ControlApi extends api.annotateMerge(
  OpenApi.annotations({
    title: "Control plane of the mock",
    version: "1",
    description:
      "Worlds, clocks, nodes, faults and journals, under the control of tests. Durations: `10 seconds` or `10s`.",
    servers: [{ url: "/", description: "The server that this description comes from." }],
    transform: (spec) => withTokenScheme(describeFields(describe(spec)))
  })
) {}
