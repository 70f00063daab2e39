/**
 * One attempt to hand an event to a mail server: the connection, TLS, the login, and the meaning of the answers. Only this module
 * loads the library for mail, so that a daemon that sends no mail need not load it.
 */
import { connect, type Socket } from "node:net"
import { redactor, withoutUser } from "@berthkit/core/client/transport/Redaction"
import { Data, DateTime, Effect, Redacted, Result, Semaphore } from "effect"
import type { NodemailerError } from "nodemailer/lib/errors"
import MailComposer from "nodemailer/lib/mail-composer"
import SmtpConnection, { type SMTPConnectionSendInfo } from "nodemailer/lib/smtp-connection"
import { delivered, failed, failedInTemplate, type Failed, type Outcome } from "../Health.ts"
import { onOneLine, shorten } from "../messages.ts"
import type { MailOptions } from "../SinkOptions.ts"
import { checkedLookup, isPrivateHost, PrivateAddress, type Resolve, systemResolve } from "../webhook/addressCheck.ts"
import { toMail } from "./toMail.ts"

/** Time for one mail, from connecting to the last answer. Many servers examine a message before they accept it. */
const timeoutMillis = 60_000

/** Mails that are sent at once, each on a connection of its own. Some servers refuse more than three connections of a client. */
const maxAtOnce = 2

/** How long to wait for the server to close the connection after the last mail. The mail is accepted already. */
const goodbyeMillis = 2000

/** Maximum size of one answer of the server. */
const maxAnswerBytes = 65_536

/** Maximum length of the server's words in a reason, in characters. */
const maxWords = 300

/** Events for which some addresses were accepted already. The oldest are forgotten, and their mail is sent to all again. */
const maxRemembered = 10_000

/** A session with the server failed. */
class SessionFailed extends Data.TaggedError("SessionFailed")<{ readonly error: NodemailerError }> {}

/** Overrides for how mail is sent. */
export interface MailSending {
  readonly resolve?: Resolve
  /** Certificates to trust, in PEM. Default: those of Node and `NODE_EXTRA_CA_CERTS`. */
  readonly ca?: string
}

const isTemporary = ({ responseCode = 0 }: NodemailerError): boolean => responseCode >= 400 && responseCode < 500

/** The refusal of an address that decides: if one address is only refused for now, the server may accept the mail later. */
const decisive = (rejected: ReadonlyArray<NodemailerError>): NodemailerError | undefined =>
  rejected.find(isTemporary) ?? rejected[0]

/** A password in the encoding of HTML forms, in which a space is a plus sign. */
const formEncoded = (password: string): string => new URLSearchParams({ password }).toString().slice("password=".length)

const opened = (socket: Socket) =>
  Effect.callback<void, SessionFailed>((resume) => {
    socket.once("connect", () => resume(Effect.void))
    socket.once("error", (error) => resume(Effect.fail(new SessionFailed({ error }))))
  })

/** Makes the sender for one mail sink. A mail has the id of its event, so that a mail that is sent twice can be recognised. */
export const makeMailSender = Effect.fnUntraced(function* (
  options: MailOptions,
  { ca, resolve = systemResolve }: MailSending = {}
) {
  const { from, host, login, port, tls, to } = options
  const turns = yield* Semaphore.make(maxAtOnce)
  const lookup = options.isPrivateAllowed ? {} : { lookup: checkedLookup(resolve) }
  const isRefused = !options.isPrivateAllowed && isPrivateHost(host)
  const auth = login === null ? null : { user: Redacted.value(login.user), pass: Redacted.value(login.password) }
  const redact =
    login === null
      ? (text: string) => text
      : redactor({ apiKey: login.password, accessToken: login.user }, [formEncoded(Redacted.value(login.password))])

  /** The addresses that have accepted an event whose mail other addresses refused. They do not get it again. */
  const accepted = new Map<string, ReadonlySet<string>>()

  const answered = ({ recipient, response = "" }: NodemailerError): string => {
    const words = shorten(onOneLine(withoutUser(redact(response))), maxWords)
    return recipient === undefined ? `the server answered ${words}` : `the server refuses ${recipient}: ${words}`
  }

  /** The meaning of a failed session. */
  const outcomeOf = (error: NodemailerError): Failed => {
    if (error instanceof PrivateAddress) return failed("refused", "the mail server has a private address")
    const { code, command, name, originalCode, rejectedErrors } = error
    if (command === "STARTTLS" && code === "ETLS") return failed("unavailable", "the server offers no STARTTLS")
    // The server states its limit in its greeting, so the library does not send the message.
    if (code === "EMESSAGE" && command === "MAIL FROM")
      return failed("refused", "the mail is larger than the server allows")
    const first = decisive(rejectedErrors ?? []) ?? error
    if (first.response === undefined)
      return failed("unavailable", `the server is unreachable (${originalCode ?? code ?? name})`)
    return failed(isTemporary(first) ? "unavailable" : first === error ? "refused" : "undeliverable", answered(first))
  }

  const session = (socket: Socket, recipients: ReadonlyArray<string>, message: Buffer) =>
    Effect.callback<SMTPConnectionSendInfo, SessionFailed>((resume) => {
      const fail = (error: NodemailerError) => resume(Effect.fail(new SessionFailed({ error })))
      const client = new SmtpConnection({
        connection: socket,
        host,
        port,
        secure: tls === "implicit",
        requireTLS: tls === "starttls",
        ignoreTLS: tls === "none",
        // The time of the whole attempt is bounded, and an unused connection must not outlive it.
        connectionTimeout: timeoutMillis,
        greetingTimeout: timeoutMillis,
        socketTimeout: timeoutMillis,
        maxResponseSize: maxAnswerBytes,
        ...(ca !== undefined && { tls: { ca } })
      })
      const send = () =>
        client.send({ from: from.address, to: [...recipients], size: message.length }, message, (error, info) => {
          if (error !== null || info === undefined) return fail(error ?? new Error("no answer"))
          const closed = Effect.callback<void>((resume) => void client.once("end", () => resume(Effect.void)))
          client.quit()
          resume(Effect.as(Effect.timeoutOption(closed, goodbyeMillis), info))
        })
      const loggedIn = (error: NodemailerError | null) => (error === null ? send() : fail(error))
      client.on("error", fail)
      // After an answer such as 421 the library closes the connection first, and then says why.
      client.once("end", () => setImmediate(() => fail(Object.assign(new Error("closed"), { code: "ECONNRESET" }))))
      client.connect((error) => {
        if (error !== undefined) return fail(error)
        if (auth === null) send()
        else client.login({ ...auth }, loggedIn)
      })
    })

  const attempt = (recipients: ReadonlyArray<string>, message: Buffer) =>
    Effect.acquireUseRelease(
      Effect.sync(() => connect({ host, port, ...lookup }).on("error", () => {})),
      (socket) => Effect.andThen(opened(socket), session(socket, recipients, message)),
      (socket) => Effect.sync(() => socket.destroy())
    )

  /** Notes which addresses have accepted the mail. Fails if any address has not. */
  const noteAccepted = (
    id: string,
    done: ReadonlySet<string>,
    { rejectedErrors = [], ...info }: SMTPConnectionSendInfo
  ): Outcome => {
    const refusal = decisive(rejectedErrors)
    if (refusal === undefined) {
      accepted.delete(id)
      return delivered
    }
    accepted.set(id, new Set([...done, ...info.accepted]))
    const [oldest] = accepted.keys()
    if (accepted.size > maxRemembered && oldest !== undefined) accepted.delete(oldest)
    // The server is reachable and accepts mail for others, so this is about the event.
    return failed(isTemporary(refusal) ? "refused" : "undeliverable", answered(refusal))
  }

  /** Sends the mail about the event `json` with the id `id`. */
  return Effect.fn("Mail.send")(function* (id: string, json: string) {
    if (isRefused) return failed("refused", "the mail server has a private address")
    const content = toMail(options, id, json)
    if (Result.isFailure(content)) return failedInTemplate(content.failure)
    const { messageId, subject, text } = content.success
    const done = accepted.get(id) ?? new Set()
    const recipients = to.map(({ address }) => address).filter((address) => !done.has(address))
    const date = DateTime.toDate(yield* DateTime.now)
    const headers = { "Auto-Submitted": "auto-generated" }
    const mail = new MailComposer({ from, to: [...to], subject, text, messageId, date, headers })
    const message = yield* Effect.promise(() => mail.compile().build())
    return yield* attempt(recipients, message).pipe(
      Effect.match({
        onSuccess: (info) => noteAccepted(id, done, info),
        onFailure: ({ error }): Outcome => {
          const outcome = outcomeOf(error)
          // The server has accepted the mail for other addresses.
          const isAboutEvent = done.size > 0 && error.response !== undefined && outcome.kind === "unavailable"
          return isAboutEvent ? { ...outcome, kind: "refused" } : outcome
        }
      }),
      Effect.timeoutOrElse({
        duration: timeoutMillis,
        orElse: () => Effect.succeed<Outcome>(failed("unavailable", `no answer within ${timeoutMillis / 1000} s`))
      }),
      turns.withPermit
    )
  })
})
