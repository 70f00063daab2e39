import { assert, it } from "@effect/vitest"
import { readFileSync } from "node:fs"
import { Effect } from "effect"
import { TestServer } from "@berthkit/server/testing"

const page = readFileSync(new URL("../../docs/control-plane.md", import.meta.url), "utf8")

interface Example {
  readonly method: string
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  /** Status and body, with `…` for any text. */
  readonly reply: string
}

const examples = Array.from(page.matchAll(/^```http\n(.*?)^```$/gms), ([, block]) => block!).flatMap((block) =>
  block.split(/^(?=[A-Z]+ \/)/m).map((text): Example => {
    const [request = "", reply = ""] = text.split(/^→ /m)
    const [line = "", ...further] = request.trimEnd().split("\n")
    const [method = "", path = "", ...body] = line.split(" ")
    const isHeader = (part: string) => /^[\w-]+: /.test(part)
    return {
      method,
      path,
      headers: Object.fromEntries(further.filter(isHeader).map((part) => part.split(": "))),
      body: [...body, ...further.filter((part) => !isHeader(part))].join(" "),
      reply: joined(reply)
    }
  })
)

/** Joins lines that the page breaks for the reader. */
function joined(text: string): string {
  return text
    .split("\n")
    .map((line) => line.trim())
    .join("")
}

const expectedOf = (reply: string) => new RegExp(`^${reply.split("…").map(RegExp.escape).join(".*")}$`, "s")

/** The body of a reply. A stream does not end, so this reads only as many events as the page shows. */
const textOf = async (response: Response, shown: string): Promise<string> => {
  if (response.headers.get("content-type") !== "text/event-stream") return response.text()
  const count = shown.split("data: ").length - 1
  let text = ""
  for await (const chunk of response.body!.pipeThrough(new TextDecoderStream())) {
    text += chunk
    const events = text.split("\n\n").filter((event) => event.includes("data: "))
    if (events.length >= count && text.endsWith("\n\n")) return events.slice(0, count).map(joined).join("")
  }
  return text
}

interface Server {
  readonly baseUrl: string
  readonly credentials: { readonly apiKey: string; readonly accessToken: string }
}

/** The output of an example: the status and the body of the reply. */
const print = async ({ baseUrl, credentials }: Server, example: Example, signal: AbortSignal): Promise<string> => {
  const { body, headers, method, path, reply } = example
  const url = new URL(path, baseUrl)
  const isToService = path.startsWith("/myaccount/")
  if (isToService) url.searchParams.set("apikey", credentials.apiKey)
  const response = await fetch(url, {
    method,
    headers: {
      ...headers,
      ...(body === "" ? {} : { "content-type": "application/json" }),
      ...(isToService ? { authorization: `Bearer ${credentials.accessToken}` } : {})
    },
    ...(body === "" ? {} : { body }),
    signal
  })
  return `${response.status} ${await textOf(response, reply)}`.trimEnd()
}

it.effect("the examples of docs/control-plane.md print what the page shows", () =>
  Effect.gen(function* () {
    const { baseUrl } = yield* TestServer
    assert.isAbove(examples.length, 20)
    let credentials = { apiKey: "", accessToken: "" }
    for (const example of examples) {
      const { body, method, path, reply } = example
      const printed = yield* Effect.promise((signal) => print({ baseUrl, credentials }, example, signal))
      // Compare the strings only to show both in the failure.
      if (!expectedOf(reply).test(printed)) assert.strictEqual(printed, reply, `${method} ${path} ${body}`)
      if (printed.startsWith('201 {"id":"w1"')) credentials = JSON.parse(printed.slice("201 ".length))
    }
  }).pipe(Effect.provide(TestServer.layer({ seed: 1 })))
)
