/**
 * The page about the interface, printed from its OpenAPI description: plain HTML without a script, which works with find in
 * page, on a phone, on paper and in a screen reader.
 */
import { html, type Html } from "./html.ts"
import { nameOf, type OpenApiDocument, type Operation, type Parameter, type Reply } from "./OpenApiDocument.ts"
import { fieldList, schemaLink, schemaSection } from "./schemaHtml.ts"
import { sources, sourceTag, statement } from "./statement.ts"

interface Endpoint extends Operation {
  readonly method: string
  readonly path: string
}

const endpointsOf = ({ paths }: OpenApiDocument): ReadonlyArray<Endpoint> =>
  Object.entries(paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, operation]) => ({ ...operation, path, method: method.toUpperCase() }))
  )

const toneOf = (status: string): string => (status < "400" ? "good" : status < "500" ? "warm" : "bad")

const statusTag = (status: string): Html => html`<span class="tag ${toneOf(status)}">${status}</span>`

const failureId = (status: string): string => `failure-${status}`

const example = (value: unknown): Html | undefined =>
  value === undefined ? undefined : html`<pre>${JSON.stringify(value, null, 2)}</pre>`

/** For a shell in which the variables of the command line are set. */
const curl = ({ method, parameters, path, requestBody }: Endpoint): string => {
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => {
    const given = parameters.find((parameter) => parameter.name === name)?.example
    return given === undefined ? "1" : String(given)
  })
  const body = requestBody?.content["application/json"]?.example
  const lines = [
    `curl ${method === "GET" ? "" : `-X ${method} `}"$BERTH_BASE_URL${filled}?apikey=$BERTH_API_KEY"`,
    `-H "Authorization: Bearer $BERTH_ACCESS_TOKEN"`
  ]
  if (body !== undefined) {
    lines.push(`-H 'Content-Type: application/json'`, `-d '${JSON.stringify(body).replaceAll("'", `'\\''`)}'`)
  }
  return lines.join(" \\\n  ")
}

const parameterList = (parameters: ReadonlyArray<Parameter>) =>
  parameters.length === 0
    ? undefined
    : html`<h4>Parameters</h4>
        ${fieldList(
          parameters.map(({ description, name, required, schema }) => {
            return { name, schema, description, isRequired: required === true }
          })
        )}`

const requestBody = ({ requestBody: body }: Endpoint) => {
  const json = body?.content["application/json"]
  if (json === undefined) return undefined
  const name = json.schema.$ref === undefined ? undefined : nameOf(json.schema.$ref)
  return html`<h4>Body${name === undefined ? "" : [": ", schemaLink(name)]}</h4>
    ${example(json.example)}`
}

/** A reply of this operation alone; failures, which are the same everywhere, are links. */
const successReply = (status: string, { content, description }: Reply): Html => {
  const json = content?.["application/json"]
  return html`<div class="reply">
    <p>
      ${statusTag(status)} ${statement(description)}
      ${json?.schema.$ref === undefined ? "" : html`<span class="type">${schemaLink(nameOf(json.schema.$ref))}</span>`}
    </p>
    ${
      json?.example === undefined
        ? undefined
        : html`<details>
            <summary>Example</summary>
            ${example(json.example)}
          </details>`
    }
  </div>`
}

const operationArticle = (endpoint: Endpoint): Html => {
  const replies = Object.entries(endpoint.responses)
  const own = replies.flatMap(([status, reply]) => ("$ref" in reply ? [] : [successReply(status, reply)]))
  const failures = replies.flatMap(([status, reply]) =>
    "$ref" in reply ? [html`<a href="#${failureId(status)}">${status}</a> `] : []
  )
  return html`<article id="${endpoint.operationId}" aria-labelledby="${endpoint.operationId}-title">
    <h3 id="${endpoint.operationId}-title">${endpoint.summary}</h3>
    <p class="route"><span class="tag method">${endpoint.method}</span> <code>${endpoint.path}</code></p>
    <p>${statement(endpoint.description)}</p>
    ${parameterList(endpoint.parameters)} ${requestBody(endpoint)}
    <h4>Replies</h4>
    ${own}
    <p class="failures">Failures: ${failures}</p>
    <details>
      <summary>With curl</summary>
      <pre>${curl(endpoint)}</pre>
    </details>
  </article>`
}

const failureSection = (status: string, { content, description }: Reply): Html =>
  html`<div class="reply" id="${failureId(status)}">
    <p>${statusTag(status)} ${statement(description)}</p>
    <details>
      <summary>Example</summary>
      ${example(content?.["application/json"]?.example)}
    </details>
  </div>`

const contents = (document: OpenApiDocument, endpoints: ReadonlyArray<Endpoint>): Html =>
  html`<nav class="contents" aria-label="Contents">
    <ul>
      ${document.tags.map(
        ({ name }) =>
          html`<li>
            <a href="#${name}">${name}</a>
            <ul>
              ${endpoints
                .filter(({ tags }) => tags.includes(name))
                .map(
                  ({ method, operationId, summary }) =>
                    html`<li>
                      <a href="#${operationId}">${summary} <small>${method}</small></a>
                    </li>`
                )}
            </ul>
          </li>`
      )}
      <li><a href="#failures">Failures</a></li>
      <li><a href="#headers">Headers of replies</a></li>
      <li><a href="#schemas">Schemas</a></li>
    </ul>
  </nav>`

/** Failures have a schema each that differs in its status alone. */
const isFailure = (name: string): boolean => /^Failure\d/.test(name)

export const docsPage = (document: OpenApiDocument): Html => {
  const { components, info, tags } = document
  const endpoints = endpointsOf(document)
  const failures = Object.entries(components.responses)
    .map(([name, reply]) => [name.replace(/\D/g, ""), reply] as const)
    .sort(([a], [b]) => a.localeCompare(b))
  const schemas = Object.entries(components.schemas)
    .filter(([name]) => !isFailure(name))
    .sort(([a], [b]) => a.localeCompare(b))
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <link rel="icon" href="data:," />
        <title>${info.title}</title>
        <!--style-->
      </head>
      <body>
        <header>
          <p class="brand">Berth <span>interface</span></p>
          <nav aria-label="Pages"><a href="/_mock/">Worlds</a> <a href="/openapi.json">OpenAPI</a></nav>
        </header>
        <div class="layout">
          ${contents(document, endpoints)}
          <main>
            <h1>${info.title}</h1>
            <p>${statement(info.description)}</p>
            <dl class="sources">
              ${(["documented", "observed", "chosen"] as const).map(
                (source) =>
                  html`<div>
                    <dt>${sourceTag(source)}</dt>
                    <dd>${sources[source]}</dd>
                  </div>`
              )}
            </dl>
            <p>
              Each request shows both credentials: the API key as <code>?apikey=…</code> and the access token as
              <code>Authorization: Bearer&nbsp;…</code>. Each reply is
              <code>{"message", "code", "data", "errors"}</code>.
            </p>
            ${tags.map(
              ({ description, name }) =>
                html`<section aria-labelledby="${name}">
                  <h2 id="${name}">${name} <small>${description}</small></h2>
                  ${endpoints.filter((endpoint) => endpoint.tags.includes(name)).map(operationArticle)}
                </section>`
            )}
            <section aria-labelledby="failures">
              <h2 id="failures">Failures <small>The same everywhere.</small></h2>
              <article>${failures.map(([status, reply]) => failureSection(status, reply))}</article>
            </section>
            <section aria-labelledby="headers">
              <h2 id="headers">Headers of replies</h2>
              <article>
                ${fieldList(
                  Object.entries(components.headers).map(([name, { description, schema }]) => {
                    return { name, schema, description, isRequired: true }
                  })
                )}
              </article>
            </section>
            <section aria-labelledby="schemas">
              <h2 id="schemas">Schemas</h2>
              ${schemas.map(([name, schema]) => schemaSection(name, schema))}
            </section>
          </main>
        </div>
      </body>
    </html>`
}
