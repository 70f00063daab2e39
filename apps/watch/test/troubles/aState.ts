/** The state of a daemon without troubles, which tests of troubles change. */
import type { SinkState } from "../../src/deliver/Sinks.ts"
import type { AccountProgress } from "../../src/telemetry/Progress.ts"
import type { DaemonState } from "../../src/troubles/DaemonState.ts"

export const nowMillis = 1_800_000_000_000

export const anAccount = (rest: Partial<AccountProgress> = {}): AccountProgress => ({
  state: "watching",
  begunMillis: null,
  isAdded: false,
  outage: null,
  doubt: null,
  lastSweep: { endedMillis: nowMillis - 1000, durationMillis: 100, requests: 1 },
  unreadable: null,
  nextSweepMillis: nowMillis + 9000,
  stretchedMillis: null,
  intervalMillis: 10_000,
  requestsPerHour: 720,
  latencyMillis: 10_000,
  allowance: { limit: 1200, remaining: 900, resetMillis: null, isLow: false },
  owner: null,
  ...rest
})

export const aSink = (rest: Partial<SinkState> = {}): SinkState => ({
  name: "ops",
  state: "up",
  message: null,
  unread: 0,
  pending: 0,
  silenced: 0,
  dead: 0,
  failingSinceMillis: null,
  changedAtMillis: 1,
  maxLag: 1_000_000,
  ...rest
})

export const aState = (rest: Partial<DaemonState> = {}): DaemonState => ({
  nowMillis,
  begunMillis: nowMillis - 3_600_000,
  accounts: new Map([["acme", anAccount()]]),
  sinks: [aSink()],
  store: null,
  clock: null,
  kept: { events: 10, maxEvents: 1000, bytes: 10, maxBytes: 1000 },
  heartbeat: null,
  ...rest
})
