/**
 * How a command line that cannot be run is reported: one or two lines on stderr, nothing on stdout, exit 2.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { run } from "./berth.ts"
import { invoke } from "./invoke.ts"

const faults: ReadonlyArray<readonly [args: string, sentence: string]> = [
  ["nod", "berth has no command nod; did you mean node?"],
  ["hlep", "berth has no command hlep; did you mean help?"],
  ["node", "berth node needs a command."],
  ["node lsit", "berth node has no command lsit; did you mean list?"],
  ["wait 1", "berth has no command wait; did you mean node wait?"],
  ["list", "berth has no command list; did you mean node list?"],
  ["node stop web", "berth node has no command stop."],
  ["profile add work", "berth profile has no command add; did you mean auth login?"],
  ["ls", "berth has no command ls; did you mean node list?"],
  ["vm list", "berth has no command vm; did you mean node?"],
  ["node rm", "berth node delete needs NODE."],
  ["node lst", "berth node has no command lst; did you mean list?"],
  ["frobnicate", "berth has no command frobnicate."],
  ["node list --limt 3", "berth node list has no flag --limt; did you mean --limit?"],
  ["node list -o jsno", "--output cannot be jsno; did you mean json?"],
  ["node list --status runing", "--status cannot be runing; did you mean running?"],
  [
    "node list --status running,of",
    "--status cannot be running,of: of is none of creating, created, running, power-off, terminate."
  ],
  ["node list --limit 0", "--limit cannot be 0: expected a whole number from 1."],
  ["node list --limit x", "--limit cannot be x: expected a whole number from 1."],
  ["node list --limit", "--limit needs a value."],
  ["node list --per-page 101", "--per-page cannot be 101: expected a whole number from 1 to 100."],
  ["node list more", "berth node list takes no further argument: more."],
  ["node get", "berth node get needs NODE."],
  ["node create", "berth node create needs NAME."],
  ["node create n", "berth node create needs --plan."],
  ["node create n --plan p", "berth node create needs --image."],
  ["node create n --name m --plan p --image i", "NAME and --name are two different names."],
  [
    "node create n --plan p --image i --max-cost much",
    "--max-cost cannot be much: expected rupees per hour, such as 12.5."
  ],
  ["node create n --start-script no-such.sh", "--start-script cannot be no-such.sh: there is no such file."],
  ["node create n --start-script /", "--start-script cannot be /: it is not a file."],
  ["node create n --plan p --image i --count 0", "--count cannot be 0: expected a whole number from 1 to 1000."],
  ["node delete n --yes --timeout 3s", "--timeout needs --wait."],
  ["node create --name n --plan p --image i --timeout 3s", "--timeout needs --wait."],
  [
    "node create --name n --plan p --image i --key ../x",
    "--idempotency-key cannot be ../x: expected 1 to 128 letters, digits, dots, dashes or underscores, the first a letter or digit."
  ],
  ["node wait 1 --for runing", "--for cannot be runing; did you mean running?"],
  ["node wait 1 --timeout 5", "--timeout cannot be 5: expected a duration, such as 90s, 5m or 1h30m."],
  ["node delete 1", "Cannot ask whether to delete: this is not a terminal."],
  ["commitment set 1 auto_renew", "Cannot ask whether to set the commitment: this is not a terminal."],
  ["commitment set 1 auto_terminate --sku 3 --yes", "--sku goes with auto_renew, not with auto_terminate."],
  ["commitment set 1 auto_renw", "SETTING cannot be auto_renw; did you mean auto_renew?"],
  [
    "apply --dry-run --ready-command true",
    "--ready-command needs --replace: it is run for the new node of a replacement."
  ],
  [
    "apply --dry-run --replace all --ready-command ./no-such-check",
    "--ready-command cannot be run: ./no-such-check is not a program that you may run."
  ],
  [
    "apply --dry-run --replace all --ready-command no-such-check||true",
    "--ready-command cannot be run: no-such-check is not on the PATH."
  ],
  [
    "apply --dry-run --replace all --ready-command if",
    "--ready-command cannot be run: the shell finds a syntax error in it."
  ],
  ["diff --file=", "--file needs a value."],
  [
    "cost --watch-url http://127.0.0.1:1",
    "--watch-url needs --since or --month: the current cost does not come from berth-watch."
  ],
  [
    "cost --month --by plan",
    "--by cannot be combined with --since or --month: berth-watch reports the cost of whole accounts, by day."
  ],
  ...["01/12/2026", "2026-02-30", "2026-02-30T10:00Z", "yesterday", "2026", "999999999d"].map(
    (since) =>
      [
        `cost --since ${since}`,
        `--since cannot be ${since}: expected a duration, such as 7d, a day in India, such as 2026-11-01, or an instant that exists, with its offset, such as 2026-11-01T10:20:30Z.`
      ] as const
  ),
  ["commitment set 1", "berth commitment set needs SETTING."],
  ["image list --version", "--version needs a value."],
  ["image list --cpu four", "--cpu cannot be four: expected a whole number from 1."],
  ["node delete 1 --yes --columns nmae", "--columns cannot be nmae; did you mean name?"],
  ["node list --sort cost", "--sort cannot be cost."],
  ["plan list --sort cost", "--sort cannot be cost."],
  ["node list --query [?", '--query is not usable: Syntax error: invalid token (EOF): "".'],
  ["nodes list", "berth has no command nodes; did you mean node?"],
  ["rm 1", "berth has no command rm; did you mean node delete?"],
  ["node destroy 1", "berth node has no command destroy; did you mean delete?"],
  ["node list -l 3", "berth node list has no flag -l; did you mean --limit or --location?"],
  ["node list --plna p", "berth node list has no flag --plna; did you mean --plan?"],
  ["node list -p x", "berth node list has no flag -p; did you mean --plan, --page or --per-page?"],
  ["node list --json", "berth node list has no flag --json; did you mean --output?"],
  ["node list -Z", "berth node list has no flag -Z."],
  ["node list --region ncr", "berth node list has no flag --region."],
  ["node delete 1 -f", "berth node delete has no flag -f; did you mean --yes?"],
  ["node get 1 -y", "berth node get has no flag -y."],
  ["node list -o wide", "--output cannot be wide: expected table, json, ndjson, yaml, csv, id, name."],
  ["node list --format json", "berth node list has no flag --format; did you mean --output?"],
  ["node list --color red", "--color cannot be red: expected auto, always, never."],
  ["--status running node list", "berth has no flag --status."],
  ["node list --columns id -o yaml", "--columns cannot be combined with -o yaml."],
  ["api FETCH /nodes/", "METHOD cannot be FETCH; did you mean PATCH?"],
  ["api POST", "berth api needs PATH."],
  ["api POST /nodes/ --paginate", "--paginate cannot be combined with POST."],
  ["profile use tset", "There is no profile tset."],
  ["auth logout", "No profile is in use."],
  ["schema nod", "There is no command nod that prints data."],
  ["schema api", "berth api prints no records."],
  ["api GET /nodes/ -q page", "--query cannot be page: expected NAME=VALUE."],
  ["api GET /nodes/ -d {}", "GET takes no body."],
  ["api POST /nodes/ -d @missing.json", "The file missing.json cannot be read: there is no such file."],
  [
    "node list --base-url ftp://host",
    "--base-url is not usable: expected http(s)://host[:port] or the same with /myaccount/api/v1."
  ]
]

const env = { BERTH_BASE_URL: "http://127.0.0.1:1", BERTH_API_KEY: "the-key", BERTH_ACCESS_TOKEN: "the-token" }

describe("a usage error", () => {
  it.live.each(faults)("berth %s", ([args, sentence]) =>
    Effect.gen(function* () {
      const { code, stderr, stdout } = yield* invoke(args.split(" "), { env })
      const [error, hint, ...rest] = stderr.split("\n")
      assert.deepStrictEqual(
        { code, stdout, error, rest },
        { code: 2, stdout: "", error: `error: ${sentence}`, rest: [""] }
      )
      assert.match(hint ?? "", /^hint: .+$/)
    })
  )

  it.live("is one line of JSON where JSON was asked for, wherever the flag stands", () =>
    Effect.gen(function* () {
      for (const args of [
        ["-o", "json", "nod"],
        ["node", "list", "--limt", "3", "--output=ndjson"]
      ]) {
        const { code, stderr, stdout } = yield* invoke(args, { env })
        assert.deepStrictEqual({ code, stdout }, { code: 2, stdout: "" })
        assert.strictEqual(JSON.parse(stderr).error.code, "UsageFault")
      }
    })
  )

  it.live("names the variable whose value is an unknown format", () =>
    Effect.gen(function* () {
      const { code, stderr } = yield* invoke(["node", "list"], { env: { ...env, BERTH_OUTPUT: "wide" } })
      assert.strictEqual(code, 2)
      assert.match(stderr, /^error: BERTH_OUTPUT is not usable: expected table, json, .+\.\nhint: Correct BERTH_OUTPUT/)
    })
  )

  it.live("is a sentence if -o json is an argument and not a flag", () =>
    Effect.gen(function* () {
      const { stderr } = yield* invoke(["node", "list", "--", "-o", "json"], { env })
      assert.match(stderr, /^error: /)
    })
  )

  it.live("does not repeat a secret that was given as a flag", () =>
    Effect.gen(function* () {
      for (const args of [
        ["--api-key", "s3cr3t", "node", "list"],
        ["node", "list", "--access-token=s3cr3t"]
      ]) {
        const { code, stderr } = yield* invoke(args, { env })
        assert.strictEqual(code, 2)
        assert.include(stderr, "Set BERTH_API_KEY and BERTH_ACCESS_TOKEN in the environment.")
        assert.notInclude(stderr, "s3cr3t")
      }
    })
  )
})

describe("help and version", () => {
  it.live("are data: on stdout, and exit 0", () =>
    Effect.gen(function* () {
      for (const args of [["--help"], [], ["node", "--help"], ["node", "create", "-h"]]) {
        const { code, stderr, stdout } = yield* run(args)
        assert.deepStrictEqual({ code, stderr }, { code: 0, stderr: "" })
        assert.include(stdout, "USAGE")
      }
    })
  )

  it.live("need no settings, and the version is the same however it is asked for", () =>
    Effect.gen(function* () {
      const { stdout } = yield* run(["--version"])
      assert.match(stdout, /^berth \d+\.\d+\.\d+\n$/)
      assert.strictEqual((yield* run(["-v"])).stdout, stdout)
      // Here the whole program answers, and not the quick answer.
      assert.strictEqual((yield* run(["node", "--version"])).stdout, stdout)
    })
  )
})

it.live("a group of commands without one of them names those that it has", () =>
  Effect.gen(function* () {
    const { stderr } = yield* invoke(["profile"], { env: {} })
    assert.include(stderr, "hint: Its commands are list, show, use, remove. See berth profile --help.")
  })
)
