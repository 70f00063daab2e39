/**
 * The `node:http` server under the app. Node itself would answer some requests in plain text, or not at all: requests that
 * its parser rejects, slow clients, CONNECT, upgrades, unknown expectations. Here they all get the envelope (assumption A2
 * in docs/interface/assumptions.md).
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from "node:http"
import { createServer as createSecureServer } from "node:https"
import { Socket } from "node:net"
import type { Duplex } from "node:stream"
import { isHeld } from "./held.ts"
import { maxHeadBytes, maxParsedHeadBytes, maxUrlBytes, type Timeouts } from "./limits.ts"

/** A reply to input that never became a request. */
interface Rejection {
  readonly status: number
  readonly message: string
  readonly headers?: Readonly<Record<string, string>>
}

/** Adds the body and the usual headers to such a reply. `origin` is the `Origin` of the request, if known. */
export type Reject = (
  rejection: Rejection,
  origin: string | undefined
) => { readonly status: number; readonly headers: Readonly<Record<string, string>>; readonly body: string }

/** A private key and its certificate, both in PEM. */
export interface TlsIdentity {
  readonly key: string
  readonly cert: string
}

/** An HTTP server or, if `tls` is given, an HTTPS server. */
export const makeNodeServer = (timeouts: Timeouts, reject: Reject, tls?: TlsIdentity) => {
  const options = {
    maxHeaderSize: maxParsedHeadBytes,
    headersTimeout: timeouts.headersMillis,
    requestTimeout: timeouts.requestMillis,
    keepAliveTimeout: timeouts.keepAliveMillis,
    connectionsCheckingInterval: Math.max(50, Math.min(1000, timeouts.headersMillis / 4)),
    // The app itself refuses a request without `Host`, with a 400 in the envelope.
    requireHostHeader: false,
    // A server need not upgrade, so the app answers the request like any other.
    shouldUpgradeCallback: () => false
  }
  const server =
    tls === undefined
      ? createServer(options)
      : createSecureServer({ ...options, ...tls, handshakeTimeout: timeouts.headersMillis })
  const connections = openConnections(server)
  const pending = new PendingReplies()
  const errorsAfterRejection = new WeakMap<Duplex, number>()
  const track = (request: IncomingMessage, response: ServerResponse) => pending.add(request.socket, response)
  server.on("request", track)
  server.on("checkContinue", track)
  // A server may ignore an unknown expectation (RFC 9110 §10.1.1).
  server.on("checkExpectation", (request: IncomingMessage, response: ServerResponse) => {
    server.emit("request", request, response)
  })
  const write = (socket: Duplex, rejection: Rejection, origin: string | undefined) => {
    writeReply(socket, () => reject(rejection, origin))
  }
  server.on("connect", ({ headers }: IncomingMessage, socket: Duplex) => {
    write(socket, { status: 405, message: "This is not a proxy.", headers: { allow: proxyAllow } }, headers.origin)
  })
  server.on("clientError", (error: ParserError, socket: Duplex) => {
    const errors = errorsAfterRejection.get(socket)
    if (errors !== undefined && errors < maxErrorsAfterRejection) {
      // A reply is on its way. Closing the connection now, with unread bytes, could destroy that reply.
      errorsAfterRejection.set(socket, errors + 1)
      return
    }
    // If the peer does not speak TLS, or does not trust the certificate, there is no TLS connection and no reply can reach the peer.
    if (tls !== undefined && !wireSockets.has(socket)) return void socket.destroy()
    if (error.code === "ECONNRESET" || !socket.writable) return void socket.destroy()
    errorsAfterRejection.set(socket, 0)
    const replies = pending.of(socket)
    const broken = replies.find((response) => !response.req.complete)
    // The fault is in the body of a request whose reply has already begun, so only closing the connection can report it.
    if (broken?.headersSent === true) return void socket.destroy()
    const answer = () => write(socket, rejectionOf(error), broken?.req.headers.origin ?? originIn(error.rawPacket))
    // Requests that were complete before the fault get their replies first, in order.
    const before = replies.filter((response) => response !== broken)
    if (before.length === 0) return answer()
    let left = before.length
    for (const response of before) response.once("close", () => --left === 0 && answer())
  })
  return {
    server,
    /** Cuts the connections that have no pending requests, or only held ones. */
    closeIdle: () => {
      for (const socket of connections) {
        // Replies are sent in order, so if the first request is held, all others wait for it.
        const [next] = pending.of(socket)
        if (next === undefined || isHeld(next.req)) socket.destroy()
      }
    },
    /** Lets the process end while the server listens and connections are open. */
    unref: () => {
      server.unref().on("connection", (socket: Socket) => socket.unref())
    }
  }
}

/**
 * The pending replies of each connection. Finished replies are removed only when another reply is added or when somebody
 * reads the list, because a listener for each reply would slow down every request.
 */
class PendingReplies {
  readonly #byConnection = new WeakMap<Duplex, Array<ServerResponse>>()

  add(connection: Duplex, reply: ServerResponse): void {
    const replies = this.#byConnection.get(connection)
    if (replies === undefined) return void this.#byConnection.set(connection, [reply])
    while (replies[0]?.closed === true) replies.shift()
    replies.push(reply)
  }

  /** The pending replies of a connection, in the order in which they are sent. */
  of(connection: Duplex): ReadonlyArray<ServerResponse> {
    return (this.#byConnection.get(connection) ?? []).filter((reply) => !reply.closed)
  }
}

/** After a fault, the server disconnects a client that sends more than this many further packets. */
const maxErrorsAfterRejection = 16

const proxyAllow = "GET, HEAD, POST, DELETE, OPTIONS"

interface ParserError extends Error {
  readonly code?: string
  readonly rawPacket?: Buffer
}

/** The reply to a parser error. */
const rejectionOf = (error: ParserError): Rejection => {
  switch (error.code) {
    case "HPE_HEADER_OVERFLOW":
      return isRequestLineTooLong(error.rawPacket)
        ? { status: 414, message: `The URL is longer than ${maxUrlBytes} bytes.` }
        : { status: 431, message: `The headers are larger than ${maxHeadBytes} bytes.` }
    case "HPE_CHUNK_EXTENSIONS_OVERFLOW":
      return { status: 413, message: "The chunk extensions of the body are too large." }
    case "ERR_HTTP_REQUEST_TIMEOUT":
      return { status: 408, message: "The request took too long to arrive." }
    default:
      return { status: 400, message: "This is not a well-formed HTTP request." }
  }
}

/**
 * Whether the request line was too long. (The parser reports this as a header overflow.) It was too long if no line ends
 * within the packet, if the first line that ends there is too long, or if that line is the end of a request line from an
 * earlier packet.
 */
const isRequestLineTooLong = (packet: Buffer | undefined): boolean => {
  if (packet === undefined) return false
  const endOfLine = packet.indexOf("\n")
  if (endOfLine < 0 || endOfLine > maxUrlBytes) return true
  const line = packet.toString("latin1", 0, endOfLine)
  return / HTTP\/1\.[01]\r?$/.test(line) && !/^[A-Z-]+ /.test(line)
}

/**
 * The `Origin` of a request that the parser has rejected, if the packet shows it. Without the origin, a page could not read
 * the refusal.
 */
const originIn = (packet: Buffer | undefined): string | undefined =>
  /^origin:[ \t]*(\S+)[ \t]*\r?$/im.exec(packet?.toString("latin1") ?? "")?.[1]

const writeReply = (socket: Duplex, reply: () => ReturnType<Reject>): void => {
  if (!socket.writable) return void socket.destroy()
  const { body, headers, status } = reply()
  const lines = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ""}`,
    ...Object.entries({ ...headers, "content-length": String(Buffer.byteLength(body)), connection: "close" }).map(
      ([name, value]) => `${name}: ${value}`
    )
  ]
  // Close only our half of the connection: a full close with unread bytes could reset the connection and destroy the reply.
  socket.end(`${lines.join("\r\n")}\r\n\r\n${body}`)
  socket.resume()
  if (socket instanceof Socket) socket.setTimeout(closeGraceMillis, () => socket.destroy())
}

/** After a rejection, the server disconnects a client that has been idle for this long. */
const closeGraceMillis = 500

/**
 * Under TLS a connection has two sockets: one on the wire, and a secure one on which requests come. This maps the secure
 * socket to the one on the wire.
 */
const wireSockets = new WeakMap<Duplex, Socket>()

/** Resets the connection of a socket. Under TLS it does not end the session properly. */
export const resetConnection = (socket: Socket): void => void (wireSockets.get(socket) ?? socket).resetAndDestroy()

/** The open sockets on which requests come. During a TLS handshake, this is the socket on the wire. */
export const openConnections = (server: Server): ReadonlySet<Socket> => {
  const open = new Set<Socket>()
  const add = (socket: Socket) => {
    open.add(socket)
    socket.once("close", () => open.delete(socket))
  }
  // The two sockets of a connection share the remote address and port.
  const onWire = new Map<string, Socket>()
  server.on("connection", (socket: Socket) => {
    const key = keyOf(socket)
    onWire.set(key, socket)
    socket.once("close", () => void (onWire.get(key) === socket && onWire.delete(key)))
    add(socket)
  })
  server.on("secureConnection", (secure: Socket) => {
    const socket = onWire.get(keyOf(secure))
    if (socket === undefined) return
    wireSockets.set(secure, socket)
    open.delete(socket)
    add(secure)
  })
  return open
}

const keyOf = ({ localPort, remoteAddress, remotePort }: Socket): string =>
  `${remoteAddress} ${remotePort} ${localPort}`
