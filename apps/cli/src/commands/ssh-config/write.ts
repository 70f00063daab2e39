/**
 * `berth ssh-config`: writes the nodes as a file for `Include` in ssh's configuration, once or whenever the nodes change.
 */
import { CallsEnd } from "@berthkit/core/client/call/Deadline"
import { replaceFile } from "@berthkit/core/client/files/StateFiles"
import { type Duration, Effect, Result } from "effect"
import { command } from "../command.ts"
import { userFlag } from "../node/ssh.ts"
import { flag, flagOr, switchFlag, text } from "../../commandLine/Parameter.ts"
import { LocalFileFault, UsageFault } from "../../failure/CliFailure.ts"
import { fileReason } from "../../failure/fileReason.ts"
import { placeOfFile } from "../../files/givenFile.ts"
import { type SshConfig, sshConfigOf, type SshOptions } from "../../inventory/sshConfig.ts"
import { allHosts, warnOfHosts } from "../../nodes/reachedHosts.ts"
import { Output, printNote } from "../../output/Output.ts"
import { intervalFlag, pauseMillisOf } from "../../settings/interval.ts"
import { client } from "../../settings/client.ts"

const flags = {
  user: userFlag,
  prefix: flagOr(
    "prefix",
    {
      ...text(
        "PREFIX",
        (prefix) => /^(?:[A-Za-z0-9_][A-Za-z0-9_.-]*)?$/.test(prefix),
        "expected letters, digits, . _ and -"
      ),
      mayBeEmpty: true
    },
    "Text before each name, to avoid clashes with other hosts",
    ""
  ),
  // This `--output` is a file, unlike the global flag, because the format is always ssh's.
  output: flag(
    "output",
    text("FILE", (path) => path !== "", "expected the path of a file"),
    "Write to this file instead of stdout"
  ),
  watch: switchFlag("watch", "Write the file again whenever nodes come or go; needs --output"),
  interval: intervalFlag("Time between two reads with --watch; default 5s")
}

/** Replaces the whole file atomically, so ssh reads the old text or the new one. */
const write = (path: string, { text }: SshConfig) =>
  Effect.mapError(
    Effect.flatMap(placeOfFile(path), (place) => replaceFile(place, text)),
    (error) =>
      new LocalFileFault({
        path,
        message: `${path} cannot be written: ${fileReason(error)}.`,
        hint: "Name a plain file in a folder that exists and that you may write to."
      })
  )

/** Reads and writes until interrupted. Temporary failures do not end a watch, and an incomplete list removes no host. */
const keepWriting = Effect.fnUntraced(function* (path: string, options: SshOptions, interval: Duration.Duration) {
  let written: string | undefined
  let failing: string | undefined
  let size = 0
  while (true) {
    const result = yield* Effect.result(Effect.provideService(allHosts, CallsEnd, undefined))
    if (Result.isFailure(result)) {
      if (!result.failure.retryable) return yield* result.failure
      if (failing !== result.failure.message) yield* printNote(`${result.failure.message} Reading again.`)
      failing = result.failure.message
    } else {
      failing = undefined
      const { hosts, isWhole } = result.success
      const config = sshConfigOf(hosts, options)
      if (config.text !== written && (isWhole || written === undefined)) {
        yield* write(path, config)
        yield* printNote(`Wrote ${path}: ${config.hosts === 1 ? "1 host" : `${config.hosts} hosts`}.`)
        if (written === undefined) yield* warnOfHosts(config)
        written = config.text
      }
      size = hosts.length
    }
    yield* Effect.sleep(pauseMillisOf(interval, size))
  }
})

export const sshConfig = command(
  flags,
  Effect.fnUntraced(function* ({ interval, output, prefix, user, watch }) {
    if (watch) {
      if (output !== undefined) return yield* keepWriting(output, { prefix, user }, interval)
      return yield* new UsageFault({
        message: "--watch needs a file to write.",
        hint: "Add --output ~/.ssh/berth.conf."
      })
    }
    const { hosts } = yield* allHosts
    const config = sshConfigOf(hosts, { prefix, user })
    yield* output === undefined ? Output.use(({ data }) => data(config.text)) : write(output, config)
    yield* warnOfHosts(config)
  }),
  client
)
