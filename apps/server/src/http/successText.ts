/**
 * The envelope of success (interface.md §2.1) around data that is JSON text already.
 */
import { HttpServerResponse } from "effect/http"

const json = { contentType: "application/json" } as const

/** The reply of success around the text of its data. */
export const successText = (data: string): HttpServerResponse.HttpServerResponse =>
  HttpServerResponse.text(`{"message":"Success","code":200,"data":${data},"errors":{}}`, json)
