/**
 * Checks that no output shows a credential: recordings have one in every place where a browser or a proxy writes one, and the service
 * repeats it.
 */
import { Result } from "effect"
import { describe, expect, it } from "vitest"
import { pageOf, reportOf, tableOf } from "../src/report.ts"
import { profileOf } from "../src/profileOf.ts"
import { readEvidence } from "../src/readEvidence.ts"
import { harOf } from "./record.ts"

const service = "https://api.example/myaccount/api/v1"

interface Given {
  readonly url?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly cookies?: ReadonlyArray<{ readonly name: string; readonly value: string }>
  readonly post?: { readonly mimeType: string; readonly text?: string; readonly params?: ReadonlyArray<object> }
  readonly status?: number
  readonly replyHeaders?: Readonly<Record<string, string>>
  readonly reply?: unknown
}

const pairs = (object: Readonly<Record<string, string>>) =>
  Object.entries(object).map(([name, value]) => ({ name, value }))

const list = { message: "Success", code: 200, data: [{ id: 1, name: "a", status: "running" }], errors: {} }

const entry = ({ cookies = [], headers = {}, post, reply = list, replyHeaders = {}, status = 200, url }: Given) => ({
  startedDateTime: "2026-01-01T00:00:00Z",
  time: 5,
  request: {
    method: post === undefined ? "GET" : "POST",
    url: url ?? `${service}/nodes/`,
    headers: pairs(headers),
    cookies,
    ...(post === undefined ? {} : { postData: post })
  },
  response: {
    status,
    headers: pairs({ "content-type": "application/json", ...replyHeaders }),
    content: { text: typeof reply === "string" ? reply : JSON.stringify(reply) }
  }
})

/** How the service repeats a secret: in JSON, in a page and in a record. */
const repeating = (secret: string) => [
  entry({
    url: `${service}/nodes/99/`,
    status: 404,
    reply: { code: 404, message: `no key ${secret}`, errors: [secret] }
  }),
  entry({ url: `${service}/no-such-path/`, status: 404, reply: `<h1>${secret}</h1>` }),
  entry({
    reply: {
      ...list,
      hint: secret,
      data: [
        { id: 1, note: secret },
        { id: 2, note: secret }
      ]
    }
  })
]

const outputsOf = (entries: ReadonlyArray<ReturnType<typeof entry>>): string => {
  const evidence = Result.getOrThrow(readEvidence(harOf(entries)))
  const profile = profileOf(evidence)
  const report = reportOf(evidence, profile)
  return [JSON.stringify(profile), JSON.stringify(report), pageOf(report), tableOf(report)].join("\n")
}

const base64 = (text: string) => Buffer.from(text).toString("base64")

describe("a credential", () => {
  it.each<[where: string, secret: string, parts: (secret: string) => Given]>([
    [
      "that is Base64, in the query",
      "QUJDREVGR0hJSktMTU5P==",
      (secret) => ({ url: `${service}/nodes/?apikey=${encodeURIComponent(secret)}` })
    ],
    ["that is Base64, in a header", "YWJjZGVmZ2hpamtsbW5v=", (secret) => ({ headers: { "X-API-Key": secret } })],
    ["with a sign of cookies in it", "key=of;several=parts", (secret) => ({ headers: { "x-api-key": secret } })],
    [
      "of other letters",
      "ключ-секрет-привет",
      (secret) => ({ url: `${service}/nodes/?apikey=${encodeURIComponent(secret)}` })
    ],
    ["in the address", "pass-canary-88", (secret) => ({ url: service.replace("//", `//me:${secret}@`) })],
    [
      "in a cookie with a dot in its name",
      "sess-canary-11",
      (secret) => ({ headers: { cookie: `connect.sid=${secret}; a=b` } })
    ],
    ["in the list of cookies", "sess-canary-12", (secret) => ({ cookies: [{ name: "JSESSIONID", value: secret }] })],
    [
      "in a cookie that a reply sets",
      "sess-canary-13",
      (secret) => ({ replyHeaders: { "Set-Cookie": `a=b; Path=/\nsid=${secret}; HttpOnly; Max-Age=3600` } })
    ],
    ["in a header of another name", "auth-canary-14", (secret) => ({ headers: { "X-Auth": secret } })],
    ["in a login", "login-canary-15", (secret) => ({ headers: { authorization: `Basic ${base64(`me:${secret}`)}` } })],
    [
      "in the address of another page",
      "ref-canary-16",
      (secret) => ({ headers: { referer: `https://a.example/?api_key=${secret}&b=c` } })
    ],
    [
      "in a form",
      "form-canary-17",
      (secret) => ({ post: { mimeType: "application/x-www-form-urlencoded", text: `a=b&password=${secret}` } })
    ],
    [
      "in the fields of a form",
      "form-canary-18",
      (secret) => ({ post: { mimeType: "multipart/form-data", params: pairs({ client_secret: secret }) } })
    ],
    [
      "in JSON that is sent",
      "json-canary-19",
      (secret) => ({ post: { mimeType: "application/json", text: JSON.stringify({ a: { user_password: secret } }) } })
    ],
    ["in a reply", "reply-canary-20", (secret) => ({ reply: { ...list, auth: { access_token: secret } } })],
    [
      "in a request to another service",
      "other-canary-21",
      (secret) => ({ url: "https://login.example/token", reply: { access_token: secret } })
    ]
  ])("%s is in no output, though the service repeats it", (_, secret, parts) => {
    const shown = outputsOf([entry(parts(secret)), ...repeating(secret)])
    expect(shown).toContain("<redacted>")
    for (const spelled of [secret, encodeURIComponent(secret), base64(secret)]) expect(shown).not.toContain(spelled)
  })

  it("that changes with each request is in no output, nor are the others", () => {
    const secrets = Array.from({ length: 300 }, (_, at) => `rotating-canary-${at}-end`)
    const entries = secrets.map((secret) => entry({ headers: { cookie: `sid=${secret}` } }))
    const shown = outputsOf([...entries, ...repeating(secrets.join(" ")), ...repeating(base64(secrets[299]!))])
    expect(secrets.filter((secret) => shown.includes(secret))).toEqual([])
    expect(shown).not.toContain(base64(secrets[299]!))
  })

  it("is one of too many where they are the work of an attacker", () => {
    const cookie = Array.from({ length: 6_000 }, (_, at) => `c${at}=secret-number-${at}`).join("; ")
    expect(readEvidence(harOf([entry({ headers: { cookie } })]))).toMatchObject({
      failure: "it has more than 5000 credentials; record fewer requests"
    })
  })
})
