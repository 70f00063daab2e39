/**
 * The paths of the interface, for showing a request that is not sent.
 */
import { BerthApi } from "@berth/core/api/BerthApi"
import { HttpApiClient } from "effect/http-api"

export const paths = () => HttpApiClient.urlBuilder(BerthApi)
