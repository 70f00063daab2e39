/**
 * Ends the connection of a client that does not read the reply it asked for: what the reply is made from would be kept for as
 * long as the client likes.
 */
import { IncomingMessage } from "node:http"

/** Lets the connection end when nothing is read for so long. It lasts until the reply is out, where Node sets its own times. */
export const endWhenStalled = (source: object, millis: number): void => {
  if (source instanceof IncomingMessage) source.socket.setTimeout(millis)
}
