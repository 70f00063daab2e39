/**
 * The connections of a server. Under TLS each has two sockets: one on the wire, and the secure one that requests come on.
 */
import type { Server } from "node:http"
import { Socket } from "node:net"
import type { Duplex } from "node:stream"

const wireSockets = new WeakMap<Duplex, Socket>()

/** Resets the connection of a socket, without the goodbye of TLS. */
export const resetConnection = (socket: Socket): void => void (wireSockets.get(socket) ?? socket).resetAndDestroy()

/** Under TLS: whether the handshake is through, before which nothing can be written. */
export const isSecured = (socket: Duplex): boolean => wireSockets.has(socket)

/** The sockets on which requests come, as long as they are open; of a handshake that is not through, the one on the wire. */
export const openConnections = (server: Server): ReadonlySet<Socket> => {
  const open = new Set<Socket>()
  const add = (socket: Socket) => {
    open.add(socket)
    socket.once("close", () => open.delete(socket))
  }
  // The two sockets of a connection have the other side in common.
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
