/** `berth-watch silence`: withholds events from sinks for a time (a silence), and lists the silences. */
import { escapeControls } from "@berthkit/terminal/escapeControls"
import { durationFlag } from "@berthkit/terminal/valueFlags"
import { Clock, Console, DateTime, Duration, Effect, Option, Schema } from "effect"
import { Argument, type Command, Flag } from "effect/cli"
import type { SilenceRequest } from "../deliver/SilenceRequest.ts"
import type { Answers } from "../http/Daemon.ts"
import { Silence } from "../http/records.ts"
import { misused } from "../process/CommandFailed.ts"
import { silenceEnds, type SilenceEnd } from "../store/silences.ts"
import { textFlag } from "../settings/textFlag.ts"
import { readTime } from "./readTime.ts"

const thenFlag = (unlessGiven: string) =>
  Flag.Literals("then", silenceEnds).pipe(
    Flag.withDescription(`At the end, deliver the held events or drop them; default ${unlessGiven}`)
  )

const names = (name: string, metavar: string, description: string) =>
  Flag.String(name).pipe(Flag.withMetavar(metavar), Flag.withDescription(`${description}; repeatable`), Flag.atLeast(0))

export const addFlags = {
  nodes: names("nodes", "PATTERN", "Names of nodes, such as 'web-*'"),
  account: names("account", "NAME", "Only this account; without --nodes, all its events"),
  sink: names("sink", "NAME", "Only this sink"),
  for: durationFlag("for").pipe(Flag.withDescription("How long, such as 2h"), Flag.optional),
  until: textFlag("until", "TIME", "When it ends, such as 2026-03-01T10:20:30Z"),
  from: textFlag("from", "TIME", "When it begins: a time, or a delay such as 2h; default now"),
  reason: Flag.String("reason").pipe(
    Flag.withMetavar("TEXT"),
    Flag.withDescription("The reason, which the held events show")
  ),
  atEnd: thenFlag("deliver").pipe(Flag.withDefault<SilenceEnd>("deliver"))
}

/** The silence that the flags describe. */
export const readSilence = Effect.fnUntraced(function* (flags: Command.Command.Config.Infer<typeof addFlags>) {
  const from = Option.isSome(flags.from) ? yield* readTime("from", flags.from.value, "ahead") : null
  if (Option.isSome(flags.for) === Option.isSome(flags.until)) {
    return yield* misused("A silence needs an end: add --for DURATION or --until TIME.")
  }
  const until = Option.isSome(flags.for)
    ? (from ?? (yield* Clock.currentTimeMillis)) + Duration.toMillis(flags.for.value)
    : yield* readTime(
        "until",
        Option.getOrElse(flags.until, () => ""),
        "ahead"
      )
  return {
    nodes: flags.nodes,
    accounts: flags.account,
    sinks: flags.sink,
    fromMillis: from,
    untilMillis: until,
    reason: flags.reason,
    atEnd: flags.atEnd
  } satisfies SilenceRequest
})

const counted = (count: number, what: string) => (count === 1 ? `1 event ${what}` : `${count} events ${what}`)

const listed = (what: string, all: ReadonlyArray<string>) => (all.length === 0 ? [] : [`${what} ${all.join(" ")}`])

/** A silence in one line for people. */
export const silenceLine = (silence: Silence): string => {
  const { accounts, dropped, from, held, id, nodes, reason, sinks, state, until } = silence
  const begin = state === "planned" ? ` from ${DateTime.formatIso(from)}` : ""
  const what = [...listed("nodes", nodes), ...listed("accounts", accounts), ...listed("sinks", sinks)]
  const counts =
    silence.then === "drop" ? [counted(held, "held"), counted(dropped, "dropped")] : [counted(held, "held")]
  return `silence ${id}: ${state}${begin} until ${DateTime.formatIso(until)}, ${what.join(", ")}, ${counts.join(", ")}: ${reason}`
}

const write = Schema.encodeSync(Schema.toCodecJson(Silence))

const print = (silence: Silence, format: "text" | "json") =>
  Console.log(format === "text" ? escapeControls(silenceLine(silence)) : JSON.stringify(write(silence)))

export const addSilence = Effect.fnUntraced(function* (
  daemon: Answers,
  request: SilenceRequest,
  format: "text" | "json"
) {
  yield* print(yield* daemon.addSilence(request), format)
})

/** Prints one line per silence. */
export const listSilences = Effect.fnUntraced(function* (daemon: Answers, format: "text" | "json") {
  const silences = yield* daemon.silences
  for (const silence of silences) yield* print(silence, format)
  if (silences.length === 0 && format === "text") yield* Console.log("There are no silences.")
})

export const endFlags = {
  id: Argument.String("ID").pipe(Argument.withDescription("Id of the silence, which silence list prints")),
  atEnd: Flag.optional(thenFlag("the choice of silence add"))
}

export const endSilence = Effect.fnUntraced(function* (
  daemon: Answers,
  options: Command.Command.Config.Infer<typeof endFlags>,
  format: "text" | "json"
) {
  yield* print(yield* daemon.endSilence(options.id, Option.getOrUndefined(options.atEnd)), format)
})
