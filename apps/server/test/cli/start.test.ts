import { createServer, type AddressInfo } from "node:net"
import { isSoak } from "@berthkit/testing/chance"
import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { callAs } from "../http/service.ts"
import { run, runInto, serve } from "./berthServer.ts"

describe.concurrent("a start that works", () => {
  it.live("prints one line on stdout, with the default account, and nothing anywhere else", () =>
    Effect.gen(function* () {
      const server = yield* serve(["--port", "0"])
      expect(server.ready).toEqual({
        url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/),
        apiKey: "berth-key",
        accessToken: "berth-token",
        pid: expect.any(Number)
      })
      expect((yield* callAs(server.account, "GET", "/nodes/")).status).toBe(200)
      const ended = yield* server.stop("SIGTERM")
      expect(ended).toEqual({ code: 0, stdout: `${JSON.stringify(server.ready)}\n`, stderr: "" })
    })
  )

  it.live("follows its flags", () =>
    Effect.gen(function* () {
      const { account } = yield* serve(
        "--port 0 --seed 7 --scenario fleet:250 --clock frozen --rate-limit 5/10s --rate-limit-algorithm token-bucket".split(
          " "
        )
      )
      const reply = yield* callAs(account, "GET", "/nodes/")
      expect(reply.headers.get("ratelimit-limit")).toBe("5")
      // After two seconds, the bucket of five has regained one token.
      expect(reply.headers.get("ratelimit-reset")).toBe(String(Date.UTC(2026, 0, 1, 0, 0, 2) / 1000))
      expect(reply.headers.get("date")).toBe("Thu, 01 Jan 2026 00:00:00 GMT")
      const { data } = reply.json
      expect([data.length, data[0]!.name]).toEqual([20, "fleet-1"])
    })
  )

  it.live("arms the faults of --fault for every account", () =>
    Effect.gen(function* () {
      const args = "--port 0 --account k1:t1 --account k2:t2 --fault status:status=418:times=1 --fault date-skew:by=1h"
      const { account } = yield* serve([...args.split(" "), "--clock", "frozen"])
      for (const [apiKey, accessToken] of [
        ["k1", "t1"],
        ["k2", "t2"]
      ] as const) {
        const statuses = [418, 200]
        for (const status of statuses) {
          const reply = yield* callAs(account, "GET", "/nodes/", { key: apiKey, token: accessToken })
          expect([reply.status, reply.headers.get("date")]).toEqual([status, "Thu, 01 Jan 2026 01:00:00 GMT"])
        }
      }
    })
  )

  it.live("takes several accounts, and prints the first", () =>
    Effect.gen(function* () {
      const { account, ready } = yield* serve(["--port", "0", "--account", "k1:t1", "--account", "k2:t:2"])
      expect([ready.apiKey, ready.accessToken]).toEqual(["k1", "t1"])
      expect((yield* callAs(account, "GET", "/nodes/")).status).toBe(200)
      expect((yield* callAs(account, "GET", "/nodes/", { key: "k2", token: "t:2" })).status).toBe(200)
      expect((yield* callAs(account, "GET", "/nodes/", { key: "k2" })).status).toBe(403)
    })
  )

  it.live("ends the worlds of its clients when they are idle, and never those of its accounts", () =>
    Effect.gen(function* () {
      const { ready } = yield* serve("--port 0 --account k1:t1 --account k2:t2 --world-ttl 200ms".split(" "))
      const control = (path: string, method = "GET") =>
        Effect.promise(async () => (await fetch(`${ready.url}/_mock${path}`, { method })).json() as Promise<any>)
      const { id } = yield* control("/worlds", "POST")
      const ids = Effect.map(control("/worlds"), (worlds): ReadonlyArray<string> =>
        worlds.map((world: { id: string }) => world.id)
      )
      expect(yield* Effect.repeat(ids, { while: (left: ReadonlyArray<string>) => left.includes(id) })).toEqual([
        "default",
        "w1"
      ])
      expect((yield* control(`/${id}/requests`)).ended.reason).toBe("idle")
    })
  )
})

describe.concurrent("a start that fails", () => {
  const refused = [
    [
      "--port 65536",
      "berth-server: --port cannot be 65536: expected a whole number from 0 to 65535. See berth-server --help.\n"
    ],
    ["--port abc", "berth-server: --port cannot be abc: expected a whole number from 0 to 65535."],
    ["--port a\tb", "berth-server: --port cannot be a\\tb: expected"],
    ["--port 1 --port 2", "berth-server: --port can be given only once. See berth-server --help.\n"],
    ["--prt 1", "berth-server has no flag --prt; did you mean --port? See berth-server --help.\n"],
    ["--api-key k", "berth-server has no flag --api-key. See berth-server --help.\n"],
    ["faults all", "berth-server faults takes no further argument: all. See berth-server faults --help.\n"],
    ["--account a:b --account a:c", "--account: each account needs a key and a token of its own"],
    ["--account a:b --account c:b", "--account: each account needs a key and a token of its own"],
    ["--seed 1.5", "--seed cannot be 1.5: expected a whole number."],
    ["--nonsense", "--nonsense"],
    ["extra", "extra"],
    ["--clock x0.5", "--clock cannot be x0.5: expected real, frozen or a factor such as x60."],
    ["--clock fast", "--clock"],
    ["--provisioning 10", "--provisioning cannot be 10: expected a duration such as 10s"],
    ["--termination -1s", "termination"],
    ["--start-at 2026-01-01", "--start-at cannot be 2026-01-01: expected an instant from 2002 to 2999 such as"],
    ["--cors http://a.test/", "--cors cannot be http://a.test/: expected an origin such as http://localhost:5173"],
    ["--rate-limit 1200", "--rate-limit cannot be 1200: expected requests per window, such as 1200/1h."],
    ["--rate-limit 0/1h", "--rate-limit"],
    ["--rate-limit 10/0s", "--rate-limit"],
    ["--rate-limit 100001/1h --rate-limit-algorithm sliding-window", "--rate-limit: a sliding window has a limit of"],
    ["--rate-limit-algorithm leaky", "rate-limit-algorithm"],
    ["--world-ttl 0s", "--world-ttl cannot be 0s: expected a duration such as 30m or 1h, or off."],
    [
      "--world-ttl 1h --state /nowhere/state",
      "--world-ttl: worlds under --state never end by themselves; leave out one of the two"
    ],
    ["--auth none", "--auth cannot be none: expected strict, key-only, off."],
    ["--delete-style x", "delete-style"],
    ["--fault nope", '--fault: There is no fault "nope"; berth-server faults lists them.'],
    ["--fault status:stauts=503:times=0", "--fault: stauts: There is no such field. times: Expected a value"],
    ["--fault latency ".repeat(101).trimEnd(), "--fault: At most 100 faults may be armed."],
    [
      "--fault latency:header=x-a=*".concat("a".repeat(900)).concat(" ").repeat(11).trimEnd(),
      "--fault: header: Expected patterns of headers with at most 8192 characters in all faults together"
    ],
    ["--scenario fleet:x", "--scenario"],
    ["--scenario fleet:99999999", "--scenario"],
    ["--host 0.0.0.0", "--control-token"],
    ...["", "\t", "a\tb", "é"].map(
      (token) =>
        [
          `--host 0.0.0.0 --control-token=${token}`,
          "--control-token cannot be <redacted>: expected a token of visible ASCII characters, which a header can hold."
        ] as const
    ),
    ["--start-at 2026-02-30T00:00:00Z", "--start-at cannot be 2026-02-30T00:00:00Z: expected an instant from 2002 to"],
    ["--allow-host berth.test:80", "without a port"],
    ["--host 192.0.2.1 --control-token t --port 0", "no such address"]
  ] as const
  for (const [args, sentence] of isSoak ? refused : refused.filter((_, index) => index % 3 === 0)) {
    it.live(`${args.slice(0, 100)}: exit 2 and one line about it on stderr`, () =>
      Effect.gen(function* () {
        const { code, stderr, stdout } = yield* run(args.split(" "))
        expect([code, stdout]).toEqual([2, ""])
        expect(stderr).toMatch(/^berth-server:? .+\n$/)
        expect(stderr).toContain(sentence)
      })
    )
  }

  it.live("a taken port: exit 2 and one line about it", () =>
    Effect.gen(function* () {
      const holder = yield* Effect.acquireRelease(
        Effect.promise(
          () =>
            new Promise<ReturnType<typeof createServer>>((resolve) => {
              const server = createServer().listen(0, "127.0.0.1", () => resolve(server))
            })
        ),
        (server) => Effect.sync(() => server.close())
      )
      const { port } = holder.address() as AddressInfo
      const { code, stderr, stdout } = yield* run(["--port", String(port)])
      expect({ code, stderr, stdout }).toEqual({
        code: 2,
        stderr: `berth-server: cannot listen on 127.0.0.1 port ${port}: the port is taken\n`,
        stdout: ""
      })
    })
  )

  it.live("a ready line that cannot be written: exit 2 and one line about it", () =>
    Effect.gen(function* () {
      const { code, stderr } = yield* runInto("/dev/full", ["--port", "0"])
      const sentence = "berth-server: cannot write the ready line to stdout: ENOSPC\n"
      expect({ code, stderr }).toEqual({ code: 2, stderr: sentence })
    })
  )

  it.live("an account that is none: the line does not repeat it", () =>
    Effect.gen(function* () {
      for (const secret of ["s3cret-without-colon", ":s3cret", "s3cret:", "s3 cret:x"]) {
        const { code, stderr, stdout } = yield* run(["--port", "0", "--account", secret])
        expect([code, stdout, stderr]).toEqual([2, "", "berth-server: --account: expected KEY:TOKEN\n"])
      }
    })
  )

  it.live("a wrong command line with a control token: the line does not repeat the token", () =>
    Effect.gen(function* () {
      for (const args of [
        "--control-token s3cret --port x",
        "--control-token s3cret --control-token s3cret",
        "--control-token=-s3cret --nonsense",
        "--control-token -s3cret",
        "--control-tokn s3cret",
        "--control-tokn=s3cret",
        "--token s3cret",
        "--no-control-token=s3cret"
      ]) {
        const { code, stderr, stdout } = yield* run(args.split(" "))
        expect([code, stdout]).toEqual([2, ""])
        expect(stderr).toMatch(/^berth-server:? .+\n$/)
        expect(stderr).not.toContain("s3cret")
      }
    })
  )
})

describe("other output", () => {
  it.live("help and version come on stdout when they are asked for, and end with 0", () =>
    Effect.gen(function* () {
      const help = yield* run(["--help"])
      expect([help.code, help.stderr]).toEqual([0, ""])
      for (const flag of ["--port", "--clock", "--rate-limit", "--account", "--scenario"]) {
        expect(help.stdout).toContain(flag)
      }
      expect((yield* run(["learn", "--help"])).stdout.replaceAll(/\s+/g, " ")).toContain(
        "exit code 11 if the service has changed"
      )
      expect((yield* run(["--version"])).stdout).toMatch(/\d+\.\d+\.\d+/)
    })
  )

  it.live("neither key nor token appears on stderr, in any encoding, at any log level", () =>
    Effect.gen(function* () {
      const [key, token] = ["k3y/with+signs=", "t0ken/with+signs="]
      const server = yield* serve(["--port", "0", "--account", `${key}:${token}`, "--log-level", "all"])
      for (const path of ["/nodes/", "/nodes/1/", "/nope/", "/images/"]) yield* callAs(server.account, "GET", path)
      for (const method of ["POST", "PUT", "OPTIONS"]) {
        yield* callAs(server.account, method, "/nodes/", { raw: "{" })
      }
      const { code, stderr } = yield* server.stop("SIGTERM")
      expect(code).toBe(0)
      for (const secret of [key, token]) {
        for (const spelling of [
          secret,
          encodeURIComponent(secret),
          encodeURI(secret),
          btoa(secret),
          btoa(`${key}:${token}`)
        ]) {
          expect(stderr).not.toContain(spelling)
        }
      }
    })
  )
})
