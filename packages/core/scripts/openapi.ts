// Writes the OpenAPI description of the interface to `openapi.json`. A test holds the file against the definition.
import { writeFileSync } from "node:fs"
import { OpenApi } from "effect/http-api"
import { BerthApi } from "../src/api/BerthApi.ts"

const file = new URL("../openapi.json", import.meta.url)
writeFileSync(file, `${JSON.stringify(OpenApi.fromApi(BerthApi), null, 2)}\n`)
