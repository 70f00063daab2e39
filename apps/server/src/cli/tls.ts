/**
 * The identity of the server under `--tls`: one of its own making, or that of `--tls-key` and `--tls-cert`.
 */
import { createPrivateKey, X509Certificate } from "node:crypto"
import { createSecureContext } from "node:tls"
import { Clock, Data, Effect, FileSystem, Option } from "effect"
import type { PlatformError } from "effect/PlatformError"
import { selfMadeCertificate } from "../transport/selfMadeCertificate.ts"
import type { TlsIdentity } from "../transport/nodeServer.ts"

/** Why there is no identity, in one line. */
class TlsFailure extends Data.TaggedError("TlsFailure")<{ readonly message: string }> {}

export interface TlsOptions {
  readonly tls: boolean
  readonly tlsKey: Option.Option<string>
  readonly tlsCert: Option.Option<string>
}

/** The identity, and the certificate that clients have to trust, where it is of the server's own making. */
export const readTls = Effect.fnUntraced(function* (
  { tls, tlsCert, tlsKey }: TlsOptions,
  /** Under which clients reach the server, beside loopback. */
  names: ReadonlyArray<string>
) {
  if (Option.isSome(tlsKey) && Option.isSome(tlsCert)) {
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
    return { identity }
  }
  if (Option.isSome(tlsKey) || Option.isSome(tlsCert)) {
    return yield* new TlsFailure({ message: "--tls-key and --tls-cert belong together" })
  }
  if (!tls) return { identity: undefined }
  const made = selfMadeCertificate(["localhost", "127.0.0.1", "::1", ...names], yield* Clock.currentTimeMillis)
  return { identity: made, certificate: made.authority }
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
