/**
 * The client of a command that leases nodes or ends leases: with the account's leases, and with the creates that they are about.
 */
import { IntentStore } from "@berthkit/core/client/creation/IntentStore"
import { Layer } from "effect"
import { leaseFileFault, LeaseStore } from "../leases/LeaseStore.ts"
import { clientOf, intents, overConnection, type Unkept, unrecorded } from "./client.ts"

const unkept = ({ code, detail, path }: Unkept) =>
  Layer.effect(IntentStore, leaseFileFault({ code: code ?? undefined, message: detail, path: path ?? undefined }))

/** With `mustKeep` it fails where neither can be recorded. */
export const leasingClient = (mustKeep: boolean) =>
  overConnection((found) =>
    Layer.provideMerge(clientOf(found), intents(found, mustKeep ? unkept : unrecorded)).pipe(
      Layer.merge(LeaseStore.layer(found.files.intents))
    )
  )
