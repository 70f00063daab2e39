/**
 * The identity of the server under `--tls-key` and `--tls-cert`.
 */
import { createPrivateKey, X509Certificate } from "node:crypto"
import { createSecureContext } from "node:tls"
import { Data, Effect, FileSystem, Option } from "effect"
import type { PlatformError } from "effect/PlatformError"
import type { TlsIdentity } from "../transport/nodeServer.ts"

/** Why there is no identity, in one line. */
class TlsFailure extends Data.TaggedError("TlsFailure")<{ readonly message: string }> {}

interface TlsOptions {
  readonly tlsKey: Option.Option<string>
  readonly tlsCert: Option.Option<string>
}

/** The identity; none where the server speaks HTTP. */
export const readTls = Effect.fnUntraced(function* ({ tlsCert, tlsKey }: TlsOptions) {
  if (Option.isNone(tlsKey) && Option.isNone(tlsCert)) return undefined
  if (Option.isNone(tlsKey) || Option.isNone(tlsCert)) {
    return yield* new TlsFailure({ message: "--tls-key and --tls-cert belong together" })
  }
  const identity: TlsIdentity = {
    key: yield* read("--tls-key", tlsKey.value),
    cert: yield* read("--tls-cert", tlsCert.value)
  }
  yield* Effect.try({
    try: () => {
      // It takes empty texts, too.
      if (!new X509Certificate(identity.cert).checkPrivateKey(createPrivateKey(identity.key))) throw new Error()
      return createSecureContext(identity)
    },
    catch: () =>
      new TlsFailure({ message: "--tls-key and --tls-cert: expected a private key and its certificate, both PEM" })
  })
  return identity
})

const read = Effect.fnUntraced(function* (flag: string, file: string) {
  const fs = yield* FileSystem.FileSystem
  return yield* Effect.mapError(
    fs.readFileString(file),
    ({ reason }: PlatformError) =>
      new TlsFailure({
        message: `${flag}: cannot read ${file}: ${reason._tag === "NotFound" ? "there is no such file" : reason._tag}`
      })
  )
})
