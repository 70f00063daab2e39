/**
 * The docs page, where people can read and try the interface. It has the same source as the OpenAPI description for
 * programs. Both need no credentials.
 */
import { hash } from "node:crypto"
import { Context, Effect, Layer } from "effect"
import { HttpRouter, HttpServerResponse } from "effect/http"
import { HttpApiScalar, OpenApi } from "effect/http-api"
import { BerthApi } from "@berthkit/core/api/BerthApi"
import type { Json } from "@berthkit/core/api/Document"
import { bytesOf } from "../transport/replyBytes.ts"
import { type Described, describedBy } from "./marks.ts"

export const openApiPath = "/openapi.json"
export const docsPath = "/docs"
/** Browsers always request this icon. There is none, and the request stays out of the journals that tests read. */
export const iconPath = "/favicon.ico"

/** Puts an example where Scalar, which renders the page, looks for one. */
const withExamples = ({ content }: Json) => {
  for (const body of Object.values<Json>(content ?? {})) {
    if (body["example"] !== undefined) body["examples"] = { example: { value: body["example"] } }
  }
}

const described = Context.getOrElse(BerthApi.annotations, OpenApi.Transform, () => (spec: Json) => spec)

/** The description with samples in TypeScript. (Scalar itself writes samples in curl and Python.) */
const sampled = (by: Described) =>
  BerthApi.annotate(OpenApi.Transform, (plain) => {
    const spec: Json = describedBy(described(plain), by)
    for (const operation of Object.values<Json>(spec["paths"]).flatMap((path) => Object.values<Json>(path))) {
      const { operationId, requestBody = {}, responses } = operation
      const source = samples[operationId as string]
      if (source !== undefined) operation["x-codeSamples"] = [{ lang: "TypeScript", label: "Berth", source }]
      withExamples(requestBody)
      for (const reply of Object.values<Json>(responses)) withExamples(reply)
    }
    for (const reply of Object.values<Json>(spec["components"].responses)) withExamples(reply)
    return spec
  })

/** Darkens or lightens colours of Scalar that are too pale, and keeps wide content within a narrow screen. */
const customCss = `
.light-mode { --scalar-color-2: #555; --scalar-color-3: #666; --scalar-color-green: #006b45; --scalar-color-blue: #005a99;
  --scalar-color-red: #b80000; --scalar-color-orange: #a33800 }
.dark-mode { --scalar-color-2: #b0b0b0; --scalar-color-3: #a0a0a0; --scalar-color-red: #ff7070; --scalar-color-orange: #ff9d6b }
.narrow-references-container { overflow-x: clip }`

/** Settings of Scalar that are missing from Effect's type. */
const quiet: Json = { hideClientButton: true, showDeveloperTools: "never", telemetry: false, agent: { disabled: true } }

const settings: HttpApiScalar.ScalarConfig = {
  theme: "default",
  // The page loads nothing from other servers.
  withDefaultFonts: false,
  customCss,
  defaultOpenAllTags: true,
  // A list of models is not necessary, because each operation shows the models of its bodies and replies.
  hideModels: true,
  authentication: { preferredSecurityScheme: [["apikey", "bearer"]] },
  ...quiet
}

const reference = (by: Described) => HttpApiScalar.layer(sampled(by), { path: docsPath, scalar: settings })

/**
 * The content security policy. It allows the page's own scripts (by hash), the styles that Scalar creates, and requests to
 * this server only.
 */
const policyOf = (html: string): string => {
  const scripts = Array.from(
    html.matchAll(/<script>([^]*?)<\/script>/g),
    ([, text]) => `'sha256-${hash("sha256", text!, "base64")}'`
  )
  return [
    "default-src 'none'",
    `script-src ${scripts.join(" ")}`,
    "style-src 'unsafe-inline'",
    "connect-src 'self'",
    "img-src 'self' data: blob:",
    "font-src 'self' data:",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'"
  ].join("; ")
}

const make = Effect.fnUntraced(function* (by: Described) {
  const response = yield* yield* HttpRouter.toHttpEffect(reference(by))
  const html = new TextDecoder().decode(bytesOf(response)).replace("<html>", '<html lang="en">')
  return HttpServerResponse.text(html, {
    contentType: "text/html; charset=utf-8",
    headers: {
      "cache-control": "no-store",
      "content-security-policy": policyOf(html),
      "referrer-policy": "no-referrer",
      "x-content-type-options": "nosniff"
    }
  })
})

/** Caches the page by profile. Without a profile, all apps of the process share one page. */
const made = new WeakMap<object, HttpServerResponse.HttpServerResponse>()
const noProfile = {}
const today = {}

/** The page at `docsPath`. It is made at the first request, because its script has 3 MB. */
const page = (by: Described) =>
  Effect.gen(function* () {
    const key = by.isToday ? today : (by.profile ?? noProfile)
    const known = made.get(key)
    const response = known ?? (yield* Effect.scoped(make(by)))
    made.set(key, response)
    return response
  })

/** The routes of the page and of its icon. */
export const layerOf = (by: Described) =>
  Layer.mergeAll(
    HttpRouter.add("GET", docsPath, Effect.orDie(page(by))),
    HttpRouter.add("GET", iconPath, Effect.succeed(HttpServerResponse.empty()))
  )

const withClient = (lines: string): string =>
  `import { createClientFromEnv } from "@berthkit/core/promise"

await using client = createClientFromEnv()
${lines}`

/** A TypeScript sample with the promise client for each operation. */
export const samples: Readonly<Record<string, string>> = {
  "nodes.list": withClient(`for await (const node of client.nodes.list()) console.log(node.id, node.name)`),
  "nodes.get": withClient(`const node = await client.nodes.get(97899)`),
  "nodes.create": withClient(`const { node } = await client.nodes.create(
  { name: "web-1", plan: "C-2VCPU-8RAM-50DISK", image: "Ubuntu-22.04" },
  { key: "order-7" }
)`),
  "nodes.delete": withClient(`await client.nodes.delete(97899)`),
  "images.list": withClient(`const images = await client.images.list({ os: "Ubuntu" })`),
  "images.saved": withClient(`const images = await client.images.saved()`),
  "commitments.set": withClient(`await client.nodes.setCommitment(97899, "auto_renew", { skuId: 1 })`)
}
