/**
 * The client of a command that makes an inventory: with the nodes as they were read for the last one.
 */
import { accountCacheFolder } from "@berthkit/core/client/AccountFiles"
import { Effect, Layer } from "effect"
import { InventoryCache } from "../inventory/InventoryCache.ts"
import { clientOf, connection, ending } from "./client.ts"

export const inventoryClient = Layer.merge(
  Layer.unwrap(
    Effect.map(connection, (found) =>
      Layer.merge(
        clientOf(found),
        Layer.unwrap(Effect.map(Effect.orDie(accountCacheFolder(found.options)), InventoryCache.layer))
      )
    )
  ),
  ending
)
