/**
 * The state of the dashboard in signals. It reads everything once, follows the events from there, and polls what has no events.
 */
import { batch, computed, signal } from "@preact/signals"
import { Refused } from "@berthkit/web/components/client"
import { Knowledge, maxKeptEvents } from "./Knowledge.ts"
import { type NodeRow, type Prices, pricesOf, shownNodes, type View } from "./nodes.ts"
import { staleAccounts, summaryOf, troublesOf } from "./troubles.ts"
import { type AccountCost, daemon, eventsIn, follow, readNodes, type Status, type WatchEvent } from "./watchApi.ts"
import type { AsOf } from "./wording.ts"

/** Read the status this often, because no events report the state of accounts and sinks. */
const statusEveryMillis = 5000

/** Read the costs this rarely, because they grow slowly. */
const costsEveryMillis = 60_000

/** Refresh ages and histories this often. */
const refreshTimesMillis = 20_000

/** Timeout for reading accounts and sinks. */
const maxStatusMillis = 8000

/** Pause before the page tries again to start. */
const beginAgainMillis = 1500

/** A shorter interruption, such as a restart of the daemon, is not shown. */
const noticeMillis = 3000

/** After each paint, wait this many times its duration, so that a slow browser stays usable while much happens. */
const pausePerPaint = 3

/** A script cannot see the cookie; this entry says that there is one. */
const sessionKey = "berth-watch-session"

// ---- what is known

export type Phase = "connecting" | "login" | "board"

export const phase = signal<Phase>("connecting")
export const hasSession = signal(false)
/** The state of the daemon. Nothing is shown before it was read. */
export const status = signal<Status>({
  version: "",
  startedAt: "",
  now: "",
  cursor: "",
  troubles: [],
  accounts: [],
  processes: [],
  sinks: [],
  silences: []
})
export const prices = signal<Prices>(new Map())
export const costs = signal<ReadonlyArray<AccountCost>>([])

/** Events change this in place, and the page renders it only when the counter changes, because thousands of events may come in a second. */
let known = new Knowledge()
const shownVersion = signal(0)

export const allNodes = computed(() => (shownVersion.value, Array.from(known.nodes.values())))
export const events = computed(() => (shownVersion.value, known.events.slice()))
/** The time of the first event; nothing is known about earlier times. */
export const eventsSince = computed(() => (shownVersion.value, known.eventsSince))
export const pastOf = (node: NodeRow) => known.pastOf(node)

/** Whether all nodes are loaded. */
export const hasAll = signal(false)
/** When the page finished reading everything: later changes are news. */
export const readMillis = signal(Number.POSITIVE_INFINITY)
/** Whether the events are loaded. Until then, an empty list of events means nothing. */
export const areEventsRead = computed(() => readMillis.value < Number.POSITIVE_INFINITY)

// ---- time

/** How far the daemon's clock is ahead of the browser's. */
let aheadMillis = 0

export const now = (): number => Date.now() + aheadMillis

/** The time that the page shows: updated every half second, and every 20 seconds for slow values. */
export const second = signal(now())
export const moment = signal(now())

/** A moment of today; it changes when the day does. */
export const today = computed(() => new Date(moment.value).setHours(12, 0, 0, 0))

// ---- what its reader chose

export const view = signal<View>({
  account: "",
  status: "",
  filter: "",
  sort: { by: "name", isDescending: false }
})
export const spanMillis = signal(86_400_000)

export const choose = (chosen: Partial<View>): void => {
  view.value = { ...view.peek(), ...chosen }
}

export const account = computed(() => view.value.account)
export const isSeveral = computed(() => status.value.accounts.length > 1)
/** Whether nodes and events of several accounts are shown together. */
export const areMixed = computed(() => isSeveral.value && account.value === "")
export const nodesOfAccount = computed(() =>
  account.value === "" ? allNodes.value : allNodes.value.filter((node) => node.account === account.value)
)
export const shown = computed(() => shownNodes(allNodes.value, prices.value, view.value))

// ---- whether it is up to date

const link = signal<{
  readonly isFollowing: boolean
  /** Why the daemon does not answer; undefined while it does. */
  readonly silence: string | undefined
  /** The daemon's refusal, such as that its store cannot be reached; undefined if it does not answer. */
  readonly refusal: string | undefined
  /** Since when the data may be outdated. */
  readonly lostMillis: number | undefined
}>({ isFollowing: false, silence: undefined, refusal: undefined, lostMillis: undefined })

/** Why nothing could be read yet. */
const beginFailure = signal<string | undefined>(undefined)

/** A stream stays open even if the daemon hangs, so the page counts as live only while the daemon also answers. */
const noteLink = (news: Partial<typeof link.value>): void => {
  const next = { ...link.peek(), ...news }
  const isLive = next.isFollowing && next.silence === undefined
  link.value = { ...next, lostMillis: isLive ? undefined : (next.lostMillis ?? now()) }
}

export const connection = computed((): { readonly state?: "live" | "lost"; readonly text: string } => {
  const { isFollowing, lostMillis, refusal, silence } = link.value
  if (phase.value === "login") return { text: "not logged in" }
  if (phase.value === "connecting") {
    return beginFailure.value === undefined ? { text: "connecting" } : { state: "lost", text: beginFailure.value }
  }
  if (isFollowing && silence === undefined) return { state: "live", text: "live" }
  if (lostMillis === undefined) return { text: "connecting" }
  const lost = refusal === undefined ? "connection lost, trying again" : "no news, trying again"
  return { state: "lost", text: isFollowing ? silence! : lost }
})

/** Since when nothing has come in; undefined until that is worth a line. */
export const lostMillis = computed(() => {
  const since = link.value.lostMillis
  return since !== undefined && since < second.value - noticeMillis ? since : undefined
})

const staleText = computed(() => JSON.stringify([...staleAccounts(status.value, lostMillis.value)]))

/**
 * Changes only if an account becomes stale or current, not with each read of the status, because every row reads this
 * signal.
 */
export const stale = computed((): ReadonlyMap<string, AsOf> => new Map(JSON.parse(staleText.value)))

export const troubles = computed(() => {
  const loss =
    lostMillis.value === undefined ? undefined : { sinceMillis: lostMillis.value, refusal: link.value.refusal }
  return troublesOf(status.value, account.value, moment.value, loss)
})

export const summary = computed(() => summaryOf(troubles.value, account.value, status.value))

// ---- showing what was learned

let isShowDue = false
let mayShowAtMillis = 0

const show = (): void => {
  isShowDue = false
  const beginMillis = performance.now()
  shownVersion.value += 1
  // Preact paints before the next task.
  setTimeout(() => {
    const endMillis = performance.now()
    mayShowAtMillis = endMillis + pausePerPaint * (endMillis - beginMillis)
  })
}

/** Renders once, for all changes until then. */
const showSoon = (): void => {
  if (isShowDue) return
  isShowDue = true
  setTimeout(() => requestAnimationFrame(show), mayShowAtMillis - performance.now())
}

// ---- reading

/** No event contains prices until one of them changes. */
const readPrices = async (): Promise<void> => {
  prices.value = pricesOf(await daemon.ask("GET /api/plans"))
}

const readStatus = async (): Promise<void> => {
  const read = await daemon.ask("GET /api/status", { maxMillis: maxStatusMillis })
  if (phase.value === "board" && prices.value.size === 0) await readPrices()
  batch(() => {
    aheadMillis = Date.parse(read.now) - Date.now()
    second.value = now()
    status.value = read
    // The account may have left the config.
    if (!read.accounts.some((each) => each.account === account.peek())) choose({ account: "" })
  })
}

/** An older daemon has no costs, so the page omits them. */
const readCosts = async (): Promise<void> => {
  const report = await daemon.ask("GET /api/cost").catch(() => undefined)
  if (report !== undefined) costs.value = report.accounts
}

/** Returns a function that runs `action` once, some time after the first of several calls. */
const soon = (millis: number, action: () => Promise<unknown>): (() => void) => {
  let isDue = false
  return () => {
    if (isDue) return
    isDue = true
    setTimeout(() => {
      isDue = false
      void action()
    }, millis)
  }
}

/** Reads the costs, some time after nodes or prices changed. */
const readCostsSoon = soon(2000, readCosts)

/** Reads accounts and sinks, soon after something happened. */
const readStatusSoon = soon(300, () => refreshStatus())

let isStatusAsked = false

/** Called after each read of the status. */
const afterStatus: Array<() => Promise<unknown>> = []

export const onStatus = (action: () => Promise<unknown>): void => void afterStatus.push(action)

/** One at a time, so that a slow daemon is not asked again in between. */
export const refreshStatus = async (): Promise<void> => {
  if (isStatusAsked || phase.value !== "board") return
  isStatusAsked = true
  try {
    await readStatus()
    if (!isBoard()) return
    // The stream may have broken during the interruption without a sign, so open a new one.
    if (link.value.silence !== undefined) followOn()
    noteLink({ silence: undefined, refusal: undefined })
    for (const action of afterStatus) await action()
  } catch (error) {
    if (!isBoard()) return
    if (error instanceof Refused && error.status === 401) askToLogIn()
    else if (error instanceof Refused) noteLink({ silence: error.message, refusal: error.message })
    else noteLink({ silence: "the daemon does not answer", refusal: undefined })
  } finally {
    isStatusAsked = false
  }
}

const isBoard = (): boolean => phase.peek() === "board"

/** The position after the last event; undefined before everything is read. */
let cursor: string | undefined
let unfollow: (() => void) | undefined

/** Called with each event from the stream. */
const listeners: Array<(event: WatchEvent) => void> = []

export const onEvent = (listener: (event: WatchEvent) => void): void => void listeners.push(listener)

const takeEvent = (event: WatchEvent): void => {
  known.take(event)
  for (const listener of listeners) listener(event)
  showSoon()
  readStatusSoon()
  // The baseline states only the number of its nodes.
  if (event.type === "berth.watch.baseline") void begin()
  if (event.type.startsWith("berth.plan.")) readPrices().catch(() => {})
  if (/^berth\.(node|plan|cost)\./.test(event.type)) readCostsSoon()
}

const stopFollowing = (): void => {
  unfollow?.()
  unfollow = undefined
  cursor = undefined
}

/** A hidden page follows nothing, because a browser has few connections per server. */
const followOn = (): void => {
  unfollow?.()
  unfollow = undefined
  if (document.hidden || cursor === undefined) return
  unfollow = follow(cursor, {
    onEvent: (event) => {
      cursor = event.cursor
      takeEvent(event)
    },
    onOpen: () => {
      noteLink({ isFollowing: true, silence: undefined, refusal: undefined })
      void refreshStatus()
    },
    onLost: () => noteLink({ isFollowing: false }),
    onRefused: () => void begin()
  })
}

let beginning = 0

/** Reads everything and follows the events from there. Repeats this if the daemon cannot continue from the page's position. */
const begin = async (): Promise<void> => {
  const attempt = ++beginning
  stopFollowing()
  try {
    const pages = readNodes()
    const [, , first] = await Promise.all([readStatus(), readPrices(), pages.next()])
    if (attempt !== beginning || first.done === true) return
    const { cursor: from, isLast, nodes } = first.value
    const before = known
    known = new Knowledge()
    known.setEvents(before.events)
    known.addNodes(nodes)
    batch(() => {
      hasAll.value = isLast
      hasSession.value = localStorage.getItem(sessionKey) !== null
      beginFailure.value = undefined
      phase.value = "board"
      moment.value = now()
      show()
    })
    void readCosts()
    // Preact paints before the next task.
    setTimeout(() => performance.mark("nodes-painted"))
    for await (const page of pages) {
      if (attempt !== beginning) return
      known.addNodes(page.nodes)
    }
    hasAll.value = true
    if (!isLast) show()
    setTimeout(() => performance.mark("all-nodes-painted"))
    const logged = await daemon.ask("GET /api/events", { query: { limit: maxKeptEvents } })
    if (attempt !== beginning) return
    known.setEvents(eventsIn(logged))
    batch(() => {
      readMillis.value = now()
      moment.value = now()
      show()
    })
    cursor = from
    followOn()
  } catch (error) {
    if (attempt !== beginning) return
    if (error instanceof Refused && error.status === 401) return askToLogIn()
    if (isBoard()) noteLink({ isFollowing: false })
    else beginFailure.value = error instanceof Refused ? error.message : "the daemon cannot be reached, trying again"
    setTimeout(() => void (attempt === beginning && begin()), beginAgainMillis)
  }
}

// ---- the session

const askToLogIn = (): void => {
  beginning += 1
  stopFollowing()
  localStorage.removeItem(sessionKey)
  batch(() => {
    hasSession.value = false
    phase.value = "login"
  })
}

/** Rejects if the daemon refuses the token. */
export const logIn = async (token: string): Promise<void> => {
  await daemon.ask("POST /api/session", { payload: { token } })
  localStorage.setItem(sessionKey, "")
  await begin()
}

export const logOut = async (): Promise<void> => {
  await daemon.ask("DELETE /api/session").catch(() => {})
  askToLogIn()
}

/** Starts the dashboard, and keeps it up to date. */
export const startBoard = (): void => {
  const isShown = () => isBoard() && !document.hidden
  /** Updates what changes with time alone. */
  const refreshTimes = () => {
    if (isShown()) moment.value = now()
  }
  document.addEventListener("visibilitychange", () => {
    followOn()
    refreshTimes()
    if (!document.hidden) void refreshStatus()
  })
  setInterval(() => void refreshStatus(), statusEveryMillis)
  setInterval(() => {
    if (isShown()) second.value = now()
  }, 500)
  setInterval(refreshTimes, refreshTimesMillis)
  setInterval(() => {
    if (isShown()) void readCosts()
  }, costsEveryMillis)
  void begin()
}
