/**
 * A mail server on a free loopback port. It takes mail, or refuses it as the test tells it to. It ends with the scope of
 * `SmtpService.start`.
 */
import { once } from "node:events"
import type { AddressInfo } from "node:net"
import { Effect } from "effect"
import { SMTPServer, type SMTPServerOptions } from "smtp-server"
import { certificate, key } from "./certificate.ts"

export interface TakenMail {
  readonly from: string
  readonly to: ReadonlyArray<string>
  /** The whole message, with its headers. */
  readonly message: string
  /** Null if nobody logged in. */
  readonly user: string | null
  readonly isEncrypted: boolean
}

/** An answer such as 550, with its text. */
export type Refusal = readonly [code: number, text: string]

export interface SmtpOptions {
  /** Default: STARTTLS is offered. */
  readonly tls?: "starttls" | "implicit" | "none"
  /** The login that is required; null: none. */
  readonly login?: { readonly user: string; readonly password: string } | null
}

const errorOf = ([responseCode, text]: Refusal) => Object.assign(new Error(text), { responseCode })

export class SmtpService {
  readonly taken: Array<TakenMail> = []
  port = 0
  /** What the server says about an address; null: it accepts it. */
  refuseAddress: (address: string) => Refusal | null = () => null
  /** What the server says about a message; null: it takes it. */
  refuseMessage: (mail: TakenMail) => Refusal | null = () => null
  /** What the server says about a wrong password. */
  refuseLogin: (password: string) => Refusal = () => [535, "5.7.8 Authentication failed"]

  static readonly start = (options: SmtpOptions = {}) =>
    Effect.map(
      Effect.acquireRelease(
        Effect.promise(() => SmtpService.#listen(options)),
        ([, server]) => Effect.callback<void>((resume) => server.close(() => resume(Effect.void)))
      ),
      ([service]) => service
    )

  static async #listen({ login = null, tls = "starttls" }: SmtpOptions): Promise<readonly [SmtpService, SMTPServer]> {
    const service = new SmtpService()
    const settings: SMTPServerOptions = {
      secure: tls === "implicit",
      key,
      cert: certificate,
      logger: false,
      closeTimeout: 10,
      disabledCommands: [...(tls === "none" ? ["STARTTLS"] : []), ...(login === null ? ["AUTH"] : [])],
      allowInsecureAuth: true,
      onAuth: ({ password, username }, _, answer) => {
        if (login !== null && username === login.user && password === login.password) answer(null, { user: username })
        else answer(errorOf(service.refuseLogin(password ?? "")))
      },
      onRcptTo: ({ address }, _, answer) => {
        const refusal = service.refuseAddress(address)
        answer(refusal && errorOf(refusal))
      },
      onData: (stream, { envelope, secure, user }, answer) => {
        let message = ""
        stream.setEncoding("utf8").on("data", (text: string) => (message += text))
        stream.on("end", () => {
          const mail: TakenMail = {
            from: envelope.mailFrom === false ? "" : envelope.mailFrom.address,
            to: envelope.rcptTo.map(({ address }) => address),
            message,
            user: typeof user === "string" ? user : null,
            isEncrypted: secure
          }
          const refusal = service.refuseMessage(mail)
          if (refusal === null) service.taken.push(mail)
          answer(refusal && errorOf(refusal))
        })
      }
    }
    const server = new SMTPServer(settings)
    // A client that cuts the connection is an error for the library, and may be part of the test.
    server.on("error", () => {})
    await once(server.listen(0, "127.0.0.1"), "listening")
    service.port = (server.server.address() as AddressInfo).port
    return [service, server]
  }
}
