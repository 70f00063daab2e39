import { quoted } from "@berthkit/terminal/quoted"
import { describe, expect, it } from "@effect/vitest"
import { Redacted, Result } from "effect"
import { accountName, sinkName, type Surroundings } from "../../src/config/Config.ts"
import { readConfig } from "../../src/config/readConfig.ts"
import { compileTemplate } from "../../src/deliver/template/compileTemplate.ts"
import type { Header, MailOptions, WebhookOptions } from "../../src/deliver/SinkOptions.ts"

const variables: Readonly<Record<string, string>> = {
  KEY: "key-0123456789",
  TOKEN: "token-0123456789",
  BLANK: " ",
  WORDS: "two words of sixteen letters",
  SHORT: "fifteen-letters",
  SECRET: `whsec_${Buffer.alloc(24, 7).toString("base64")}`,
  CHAT: "https://hooks.example.com/services/T0/B0/secret"
}

const read = (text: string, more: Partial<Surroundings> = {}) =>
  readConfig(text, {
    ...more,
    path: "/etc/berth/watch.yml",
    variable: (name) => variables[name],
    file: (path) => {
      if (path !== "/etc/berth/token") throw new Error("ENOENT")
      return "token-from-file\n"
    }
  })

const account = `
  - name: default
    baseUrl: https://api.example.com
    apiKey: { env: KEY }
    accessToken: { env: TOKEN }
`.slice(1)

const config = (more: string) => `accounts:\n${account}${more}`

/** All problems in the form in which they are shown. */
const problems = (text: string) =>
  Result.match(read(text), {
    onSuccess: () => [],
    onFailure: (found) => found.map(({ column, line, message }) => `${line}:${column} ${message}`)
  })

describe("a config", () => {
  it("of one account has defaults for all other settings", () => {
    const found = Result.getOrThrow(read(config("")))
    expect(found).toMatchObject({
      listen: { host: "127.0.0.1", port: 9464 },
      token: null,
      accounts: [{ name: "default", intervalMillis: null, share: 0.6, graceMillis: 60_000, holdMillis: 600_000 }],
      sinks: [],
      heartbeat: null,
      retention: { eventsMillis: 90 * 86_400_000 }
    })
    expect(Redacted.value(found.store)).toBe("/etc/berth/berth-watch.db")
    expect(Redacted.value(found.accounts[0]!.connection.credentials.apiKey as Redacted.Redacted)).toBe("key-0123456789")
  })

  it("may have anchors, aliases and merge keys, and blocks for them that begin with x-", () => {
    const text = `
x-keys: &keys
  apiKey: { env: SHORT }
  accessToken: &token { env: TOKEN }
x-base: &base { <<: *keys, baseUrl: "https://api.example.com", share: 20% }
accounts:
  - { <<: *base, name: one, apiKey: { env: KEY } }
  - { <<: [{ share: 30% }, *base], name: two, accessToken: *token }
`
    const { accounts } = Result.getOrThrow(read(text))
    expect(accounts).toMatchObject([
      { name: "one", share: 0.2 },
      { name: "two", share: 0.3 }
    ])
    const keys = accounts.map(({ connection }) => Redacted.value(connection.credentials.apiKey as Redacted.Redacted))
    expect(keys).toEqual(["key-0123456789", "fifteen-letters"])
  })

  it("refuses a secret that an alias writes out, at the anchor", () => {
    const text = config("").replace("{ env: KEY }", "*key")
    expect(problems(`x-key: &key written\n${text}`)).toEqual([
      "1:13 accounts[0].apiKey is written out; refer to it: { env: NAME } or { file: PATH }."
    ])
  })

  it("of aliases within aliases is read once, even in a circle", () => {
    const rows = Array.from({ length: 40 }, (_, i) => `x-${i + 1}: &a${i + 1} [*a${i}, *a${i}]\n`)
    expect(problems(`x-0: &a0 [x]\n${rows.join("")}x-c: &c { <<: *c, d: *c }\n${config("")}`)).toEqual([])
  })

  it("has a budget and forgotten alerts for each account", () => {
    const money = (more: string) => Result.getOrThrow(read(config(more))).accounts[0]
    expect(money("")).toMatchObject({ budget: null, forgottenMillis: null })
    expect(money("    budget: { month: 200000, warn: [100%, 50%, 80%] }\n    forgotten: 72h\n")).toMatchObject({
      budget: { monthInr: 200_000, warnPercent: [50, 80, 100] },
      forgottenMillis: 72 * 3_600_000
    })
    expect(money("    budget: { month: 99.50 }\n")).toMatchObject({
      budget: { monthInr: 99.5, warnPercent: [50, 80, 100] }
    })
  })

  it.each([
    ["budget: 200000", "accounts[0].budget has to be a block of keys, and is a value."],
    ["budget: { warn: [50%] }", "accounts[0].budget.month is missing."],
    ["budget: { month: 0 }", "accounts[0].budget.month has to be an amount in rupees above 0"],
    ["budget: { month: many }", "accounts[0].budget.month has to be an amount in rupees above 0"],
    ["budget: { month: 0.001 }", "accounts[0].budget.month has to be an amount in rupees above 0"],
    ["budget: { month: 5, warn: [] }", "accounts[0].budget.warn is empty."],
    ["budget: { month: 5, warn: [0%] }", "accounts[0].budget.warn[0] has to be a whole percentage"],
    ["budget: { month: 5, warn: [50] }", "accounts[0].budget.warn[0] has to be a whole percentage"],
    ["budget: { month: 5, wran: [50%] }", "accounts[0].budget.wran is not a setting; did you mean warn?"],
    ["forgotten: 0s", "accounts[0].forgotten has to be a duration from 1s"]
  ])("refuses %s, with its place", (line, message) => {
    const [found = ""] = problems(config(`    ${line}\n`))
    expect(found).toContain(message)
    expect(found).toMatch(/^[67]:\d+ /)
  })

  it("may have no accounts if the store is on a server, because the store's table may have some", () => {
    const server = "store: postgres://me@db.example.com/watch\n"
    for (const text of [server, `${server}accounts: []\n`, `${server}accounts:\n`]) {
      expect(Result.getOrThrow(read(text)).accounts).toEqual([])
    }
    const selecting = `${server}sinks: [{ name: ops, stdout: {}, accounts: [acme] }]`
    expect(problems(selecting)).toEqual([])
    expect(problems("sinks: []")).toEqual(["1:1 accounts is missing."])
    expect(problems("store: watch.db\naccounts: []")).toEqual(["2:11 accounts is empty."])
  })

  it("is read whole, with paths relative to its folder and durations in every unit", () => {
    const found = Result.getOrThrow(
      read(`
store: ./data/watch.db
listen: 0.0.0.0:80
token: { env: TOKEN }
publicUrl: https://Watch.example.com/tools/watch/
accounts:
  - name: eu
    baseUrl: https://api.example.com
    apiKey: { env: KEY }
    accessToken: { file: token }
    interval: 1m30s
    share: 25%
    grace: 500ms
    hold: 1h
sinks:
  - name: ops
    webhook: { url: "https://ops.example.com/x", secrets: [{ env: SECRET }], allowPrivate: true }
    types: ["berth.node.*"]
    nodes: ["web-*"]
    causes: [unknown]
    accounts: [eu, _daemon]
    start: baseline
    for: 30s
    maxLag: 5000
  - name: chat
    webhook: { url: { env: CHAT }, format: slack, headers: { X-Room: ops, Authorization: { env: SECRET }, X-Api-Key: { file: token } } }
  - name: run
    exec: { command: [/usr/local/bin/notify, --all], timeout: 2s, env: [CHAT] }
  - name: log
    stdout: {}
heartbeat: { url: "https://beat.example.com/1", every: 30s, method: GET, headers: { X-From: watch } }
retention: { events: 2d, maxSize: 500MB }
`)
    )
    expect(Redacted.value(found.store)).toBe("/etc/berth/data/watch.db")
    expect(found).toMatchObject({
      listen: { host: "0.0.0.0", port: 80 },
      publicUrl: { origin: "https://watch.example.com", path: "/tools/watch" },
      accounts: [{ name: "eu", intervalMillis: 90_000, share: 0.25, graceMillis: 500, holdMillis: 3_600_000 }],
      sinks: [
        {
          name: "ops",
          target: { _tag: "Webhook", isPrivateAllowed: true, format: "cloudevents" },
          selection: { types: ["berth.node.*"], nodes: ["web-*"], causes: ["unknown"], accounts: ["eu", "_daemon"] },
          start: "baseline",
          forMillis: 30_000,
          maxLag: 5000
        },
        { name: "chat", target: { format: "slack" }, start: "now", forMillis: 0 },
        {
          name: "run",
          target: {
            _tag: "Exec",
            command: ["/usr/local/bin/notify", "--all"],
            timeoutMillis: 2000,
            variables: ["CHAT"]
          }
        },
        { name: "log", target: { _tag: "Stdout" } }
      ],
      heartbeat: { everyMillis: 30_000, method: "GET" },
      retention: { eventsMillis: 2 * 86_400_000, maxBytes: 500_000_000 }
    })
    const headersOf = ({ headers }: { readonly headers: ReadonlyArray<Header> }) =>
      headers.map(([name, value]) => [name, Redacted.value(value)])
    expect(headersOf(found.sinks[1]!.target as WebhookOptions)).toEqual([
      ["x-room", "ops"],
      ["authorization", variables["SECRET"]],
      ["x-api-key", "token-from-file"]
    ])
    expect(headersOf(found.heartbeat!)).toEqual([["x-from", "watch"]])
    const { accessToken } = found.accounts[0]!.connection.credentials
    expect(Redacted.value(accessToken as Redacted.Redacted)).toBe("token-from-file")
  })

  it("reads the key of a receiver of alerts, and shows it nowhere", () => {
    const sink = `{ name: page, webhook: { url: https://alerts.example.com/x, format: pagerduty, key: { env: SECRET } } }`
    const { sinks } = Result.getOrThrow(read(config(`sinks: [${sink}]`)))
    const { key } = sinks[0]!.target as WebhookOptions
    expect(Redacted.value(key!)).toBe(variables["SECRET"])
    expect(JSON.stringify(sinks)).not.toContain(variables["SECRET"])
  })

  it.each([
    ["", { port: 587, tls: "starttls" }],
    ["tls: implicit", { port: 465, tls: "implicit" }],
    ["tls: none", { port: 25, tls: "none" }],
    ["tls: none, port: 2525", { port: 2525, tls: "none" }]
  ])("reads the settings of mail: %s", (more, expected) => {
    const mail = `host: smtp.example.com, from: Berth <berth@example.com>, to: [ops@example.com, Night <night@example.com>]`
    const { sinks } = Result.getOrThrow(read(config(`sinks: [{ name: a, mail: { ${[mail, more].join(", ")} } }]`)))
    expect(sinks[0]!.target).toEqual({
      _tag: "Mail",
      host: "smtp.example.com",
      ...expected,
      login: null,
      from: { name: "Berth", address: "berth@example.com" },
      to: [
        { name: "", address: "ops@example.com" },
        { name: "Night", address: "night@example.com" }
      ],
      isPrivateAllowed: false,
      subject: null,
      template: null
    })
  })

  it("reads the login of a mail server, and shows it nowhere", () => {
    const mail = `{ host: "[::1]", from: a@example.com, to: b@example.com, user: { env: KEY }, password: { file: token }, allowPrivate: true }`
    const { sinks } = Result.getOrThrow(read(config(`sinks: [{ name: a, mail: ${mail} }]`)))
    const { host, login } = sinks[0]!.target as MailOptions
    expect([host, Redacted.value(login!.user), Redacted.value(login!.password)]).toEqual([
      "::1",
      variables["KEY"],
      "token-from-file"
    ])
    const printed = `${JSON.stringify(sinks)}${String(sinks[0]!.target)}`
    for (const secret of [variables["KEY"]!, "token-from-file"]) expect(printed).not.toContain(secret)
  })

  it.each([
    [
      "webhook: { url: 'https://x.test', template: '{{ data.nme }}', contentType: text/plain }",
      "8:53 sinks[0].webhook.template names data.nme, which no event of this sink has."
    ],
    [
      "webhook:\n      url: https://x.test\n      contentType: text/plain\n      template: |\n        {{ type }}\n          {{ data.nme }}",
      "13:14 sinks[0].webhook.template names data.nme, which no event of this sink has."
    ],
    [
      "webhook: { url: 'https://x.test', template: '{\"a\": {{ type }}}' }",
      "8:50 sinks[0].webhook.template fails for an event of the type berth.watch.baseline: its result is not valid JSON: write values as {{ NAME | json }}."
    ],
    [
      "webhook: { url: 'https://x.test', format: slack, template: '{{ type | json }}' }",
      "8:14 sinks[0].webhook has a template, which slack does not use."
    ],
    [
      "webhook: { url: 'https://x.test', contentType: text/plain }",
      "8:14 sinks[0].webhook has a contentType, which only a template uses."
    ],
    [
      "mail: { host: x.test, from: a@x.test, to: b@x.test, subject: '{{ type | shout }}' }",
      "8:67 sinks[0].mail.subject has an error: undefined filter: shout."
    ],
    [
      "types: [berth.plan.added]\n    mail: { host: x.test, from: a@x.test, to: b@x.test, template: '{{ data.budgetInr }}' }",
      "9:71 sinks[0].mail.template names data.budgetInr, which no event of this sink has."
    ]
  ])("refuses a template with its place: %s", (settings, expected) => {
    const text = config(`sinks:\n  - name: a\n    ${settings}\n`)
    const found = Result.match(read(text, { compileTemplate }), {
      onSuccess: () => [],
      onFailure: (problems) => problems.map(({ column, line, message }) => `${line}:${column} ${message}`)
    })
    expect(found).toEqual([expected])
  })

  it("reads templates", () => {
    const sinks = `sinks:
  - name: a
    webhook: { url: "https://x.test", template: '{"a": {{ type | json }}}' }
  - name: b
    mail: { host: x.test, from: a@x.test, to: b@x.test, subject: "{{ type }}!" }
`
    const [webhook, mail] = Result.getOrThrow(read(config(sinks), { compileTemplate })).sinks.map(
      ({ target }) => target
    )
    const { template } = webhook as WebhookOptions
    expect(template!.contentType).toBe("application/json")
    expect(template!.render('{"type":"x"}')).toEqual(Result.succeed('{"a": "x"}'))
    expect((mail as MailOptions).subject!('{"type":"x"}')).toEqual(Result.succeed("x!"))
    expect((mail as MailOptions).template).toBe(null)
  })

  it("shows no secret, however it is printed", () => {
    const found = Result.getOrThrow(read(config(`sinks: [{ name: chat, webhook: { url: { env: CHAT } } }]`)))
    const printed = `${JSON.stringify(found)}${String(found.sinks[0]!.target)}`
    for (const secret of ["key-0123456789", "token-0123456789", "services/T0"]) expect(printed).not.toContain(secret)
  })

  it.each([
    ["accounts: [", /^1:12 /],
    ["", /^1:1 The file has to be a block of keys, and is nothing\.$/],
    ["accounts: []", /^1:11 accounts is empty\.$/],
    [config("acounts: []"), /^6:1 acounts is not a setting; did you mean accounts\?$/],
    [config("listen: 0.0.0.0:80"), /^6:9 listen is reachable from other machines, so a token is needed\.$/],
    [config("listen: here"), /^6:9 listen has to be HOST:PORT or off\.$/],
    [
      config("sinks: [{ name: a, webhook: { url: https://a.example.com, format: pagerduty } }]"),
      /^6:29 sinks\[0\]\.webhook needs a key for pagerduty: key: \{ env: NAME \}\.$/
    ],
    [
      config("sinks: [{ name: a, webhook: { url: https://a.example.com, format: teams, key: { env: SECRET } } }]"),
      /^6:29 sinks\[0\]\.webhook has a key, which teams does not use\.$/
    ],
    [
      config("sinks: [{ name: a, webhook: { url: https://a.example.com, format: opsgenie, key: abc } }]"),
      /^6:82 sinks\[0\]\.webhook\.key is written out; refer to it/
    ],
    ...(
      [
        [
          "host: smtp.example.com:25",
          /\.host has to be a name or an address without a port, such as smtp\.example\.com\.$/
        ],
        ['host: "a b"', /\.host has to be a name or an address/],
        ["host: localhost", /\.mail is on this machine or in a private network; add allowPrivate: true to allow it\.$/],
        ["host: 10.0.0.5", /\.mail is on this machine or in a private network/],
        ["port: 0", /\.port has to be a whole number from 1 to 65535\.$/],
        ["tls: maybe", /\.tls has to be one of starttls, implicit, none\.$/],
        ["to: []", /\.to is empty\.$/],
        ["to: [ops]", /\.to\[0\] has to be an address such as ops@example\.com or Ops <ops@example\.com>\.$/],
        ['to: "a@example.com, b@example.com"', /\.to has to be an address such as/],
        ['from: "Ops\\r\\nBcc: x <a@example.com>"', /\.from has to be an address such as/],
        ['from: "<a@b>c@example.com"', /\.from has to be an address such as/],
        ["user: me", /\.mail has to have both user and password, or neither\.$/],
        ["user: me, password: abc", /\.password is written out; refer to it: \{ env: NAME \}/],
        ["user: me, password: { env: ABSENT }", /\.password refers to ABSENT, which is not set\.$/]
      ] as const
    ).map(([setting, message]): [string, RegExp] => {
      const all = { host: "smtp.example.com", from: "a@example.com", to: "b@example.com" }
      const others = Object.entries(all).filter(([name]) => !setting.startsWith(name))
      const settings = [setting, ...others.map(([name, value]) => `${name}: ${value}`)].join(", ")
      return [config(`sinks: [{ name: a, mail: { ${settings} } }]`), message]
    }),
    [config("token: abc"), /^6:8 token is written out; refer to it: \{ env: NAME \} or \{ file: PATH \}\.$/],
    [config("token: { env: ABSENT }"), /^6:8 token refers to ABSENT, which is not set\.$/],
    [config("token: { env: BLANK }"), /^6:8 token refers to BLANK, which is not set\.$/],
    [config("token: { env: WORDS }"), /^6:8 token has to be at least 16 printable ASCII characters without spaces\.$/],
    [config("token: { env: SHORT }"), /^6:8 token has to be at least 16 printable ASCII characters without spaces\.$/],
    [config("publicUrl: https://watch.example.com"), /^6:12 publicUrl is reachable from other .* a token is needed\.$/],
    ...[
      "http://watch.example.com",
      "https://watch.example.com/?x",
      "https://watch.example.com/x#y",
      "https://watch.example.com/x//y",
      "https://watch.example.com/api/watch",
      "https://me@watch.example.com",
      "watch"
    ].map((url): [string, RegExp] => [
      config(`token: { env: TOKEN }\npublicUrl: ${url}`),
      /^7:12 publicUrl has to be an https address such as https:\/\/example\.com\/watch, whose path does not begin like one of/
    ]),
    ...(
      [
        ["Authorization: Bearer x", /\.headers\.Authorization is written out; refer to it: \{ env: NAME \}/],
        ["X-Room: 5", /\.headers\.X-Room has to be a text: write it in quotes\.$/],
        ["X-Room: { env: ABSENT }", /\.headers\.X-Room refers to ABSENT, which is not set\.$/],
        ['X-Room: "a\\nb"', /\.headers\.X-Room has characters that a header must not contain\.$/],
        ["X-Room: a, x-room: b", /\.headers has the header x-room twice\.$/],
        ["Webhook-Id: a", /\.headers\.Webhook-Id is a header that berth-watch sets itself\.$/],
        ["Content-Length: a", /\.headers\.Content-Length is a header that berth-watch sets itself\.$/],
        ["X Room: a", /\.headers\.X Room is not a valid header name\.$/]
      ] as const
    ).map(([headers, message]): [string, RegExp] => [
      config(`sinks: [{ name: a, webhook: { url: 'https://x.test', headers: { ${headers} } } }]`),
      message
    ]),
    [config("heartbeat: { url: 'https://x.test', method: get }"), /\.method has to be one of GET, HEAD, POST, PUT\.$/],
    [
      config("sinks: [{ name: a, webhook: { url: 'https://us%er@x' } }]"),
      /^6:36 .*\.url has to be an address that begins/
    ],
    [config("token: { file: nowhere }"), /^6:8 token refers to nowhere, which cannot be read\.$/],
    [config("token: { env: KEY, file: token }"), /^6:8 token has to name one of env, file\.$/],
    [config(account), /^6:5 accounts\[1\] has the same name as another one: default\.$/],
    [config("sinks: [{ name: a }]"), /^6:9 sinks\[0\] has to have one of webhook, mail, exec, stdout\.$/],
    [
      config("sinks: [{ name: a, stdout: {}, accounts: [eu] }]"),
      /^6:43 sinks\[0\] selects the account eu, which is not config/
    ],
    ...["types", "nodes", "causes", "accounts"].map((key): [string, RegExp] => [
      config(`sinks: [{ name: a, stdout: {}, ${key}: [] }]`),
      new RegExp(`sinks\\[0\\]\\.${key} has to name at least one; leave it out for all\\.$`)
    ]),
    [
      config("sinks: [{ name: a, stdout: {}, types: [berth.node.creatd] }]"),
      /^6:40 sinks\[0\]\.types\[0\] matches no type of event; did you mean berth\.node\.created\?$/
    ],
    [
      config("sinks: [{ name: a, stdout: {}, types: [berth.plan.*, node.*] }]"),
      /^6:54 .*types\[1\] matches no type of event\.$/
    ],
    [config("sinks: [{ name: a, stdout: {}, for: 5 }]"), /^6:37 sinks\[0\]\.for has to be a duration from 0ms to 1d/],
    [config("listen: 9464"), /^6:9 listen has to be HOST:PORT or off\.$/],
    [config("sinks: [{ name: 5, stdout: {} }]"), /^6:17 sinks\[0\]\.name has to be a text: write it in quotes\.$/],
    [config("store: true"), /^6:8 store has to be a text: write it in quotes\.$/],
    [
      config("sinks: &x [{ name: a, stdout: *x }]"),
      /^6:11 sinks\[0\]\.stdout has to be a block of keys, and is a list\.$/
    ],
    [config("sinks: [{ name: a, stdout: {}, for: 5x }]"), /^6:37 sinks\[0\]\.for has to be a duration from 0ms to 1d/],
    [config("sinks: [{ name: a, webhook: { url: ftp://x } }]"), /^6:36 .*\.url has to be an address that begins/],
    [
      config("sinks: [{ name: a, webhook: { url: http://x, secrets: [{ env: KEY }] } }]"),
      /secrets\[0\] has to be whsec_/
    ],
    [
      config("sinks: [{ name: a, webhook: { url: http://127.1/x } }]"),
      /webhook is on this machine or in a private network/
    ],
    [
      config("sinks: [{ name: a, webhook: { url: http://localhost. } }]"),
      /webhook is on this machine or in a private network/
    ],
    [config("sinks: [{ name: a, exec: { command: [] } }]"), /^6:37 sinks\[0\]\.exec\.command is empty\.$/],
    [config("    share: 0%"), /^6:12 accounts\[0\]\.share has to be a percentage above 0%, up to 100%\.$/],
    [config("    interval: soon"), /^6:15 accounts\[0\]\.interval has to be auto or a duration/],
    [config("").replace("https://api", "api"), /^3:14 accounts\[0\]\.baseUrl is not usable: /],
    [
      config("").replace("https://api", "http://api"),
      /^3:14 accounts\[0\]\.baseUrl is plain http, .+ add allowHttp: true\.$/
    ],
    [config("").replace("{ env: KEY }", ""), /^4:13 accounts\[0\]\.apiKey is missing\.$/],
    ["a: 1\n---\nb: 2\n", /^2:1 Source contains multiple documents\.$/],
    [config("").replace("{ env: KEY }", "abc"), /^4:13 accounts\[0\]\.apiKey is written out; /],
    [
      config("").replace("default", "_daemon"),
      /^2:11 .*\.name has to be 1 to 64 letters, .* without - or _ at its beginning\.$/
    ],
    [
      config("").replace("default", "-default"),
      /^2:11 .*\.name has to be 1 to 64 letters, .* without - or _ at its beginning\.$/
    ]
  ])("%j is refused with the place of the fault", (text, problem) => {
    expect(problems(text)).toEqual([expect.stringMatching(problem)])
  })

  it.each([
    ["", "1:1"],
    ["store: ./watch.db\n", "6:8"],
    ["store: watch.db\n", "6:8"]
  ])("under systemd needs a store in the folder that systemd made: not %j", (store, place) => {
    const text = config(store)
    const surroundings = {
      path: "/etc/berth/watch.yml",
      variable: (name: string) => (name === "STATE_DIRECTORY" ? "/var/lib/berth" : variables[name]),
      file: () => "token-0123456789"
    }
    const sentence = "store has to be an absolute path where systemd runs the daemon, such as /var/lib/berth/watch.db."
    expect(Result.getOrThrow(Result.flip(readConfig(text, surroundings)))).toMatchObject([{ message: sentence }])
    expect(Result.getOrThrow(Result.flip(readConfig(text, surroundings))).map((p) => `${p.line}:${p.column}`)).toEqual([
      place
    ])
    expect(Result.isSuccess(readConfig(config("store: /var/lib/berth/watch.db\n"), surroundings))).toBe(true)
  })

  it("divides the shares of accounts with one key at one service, whose rate limit belongs to the key", () => {
    const at = (name: string, more: string) => `  - name: ${name}\n${account.split("\n").slice(1).join("\n")}${more}`
    const place = (location: string) => `    project: 7\n    location: ${location}\n`
    const other = at("other", "").replace("api.example.com", "api.example.org")
    const text = `accounts:\n${at("delhi", place("Delhi"))}${at("chennai", `${place("Chennai")}    share: 40%\n`)}${other}`
    const shares = Result.getOrThrow(read(text)).accounts.map(({ name, share }) => [name, share])
    expect(shares).toEqual([
      ["delhi", 0.3],
      ["chennai", 0.2],
      ["other", 0.6]
    ])
  })

  it("reports all of its faults at once", () => {
    const text = config(`    grace: x\nsinks: [{ name: "a b", stdout: {} }, { name: ok }]`)
    expect(problems(text).map((line) => line.split(" ")[1])).toEqual(["accounts[0].grace", "sinks[0].name", "sinks[1]"])
  })
})

describe("names of accounts and sinks", () => {
  it("are words of a shell, and look like no flag", () => {
    const characters = Array.from({ length: 0x180 }, (_, code) => String.fromCharCode(code))
    const names = characters.flatMap((character) => [character, `a${character}`])
    for (const name of names.filter((each) => accountName(each) ?? sinkName(each))) {
      expect([name, quoted(name), name.startsWith("-")]).toEqual([name, name, false])
    }
  })
})
