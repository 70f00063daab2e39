/** A scripted service on a real socket, because the command line needs one. */
import type { RequestListener } from "node:http"
import { text } from "node:stream/consumers"
import { type Script, scripted } from "@berthkit/core/testing"
import { HttpService } from "@berthkit/testing/HttpService"
import { Effect } from "effect"

/**
 * The address of the service, which runs until the scope closes. A lost reply breaks the connection. `isDated`: whether replies state the
 * time.
 */
export const serve = (script: Script, isDated: () => boolean = () => true) => {
  const { fetch } = scripted(script)
  const listener: RequestListener = async (request, response) => {
    const connection = new AbortController()
    response.once("close", () => connection.abort())
    try {
      const reply = await fetch(new URL(request.url!, "http://berth.test"), {
        method: request.method!,
        headers: Object.entries(request.headers).map(([name, value]) => [name, String(value)] as [string, string]),
        body: (await text(request)) || null,
        signal: connection.signal
      })
      response.sendDate = isDated()
      response.writeHead(reply.status, Object.fromEntries(reply.headers)).end(await reply.text())
    } catch {
      request.socket.destroy()
    }
  }
  return Effect.map(HttpService.start(listener), ({ url }) => url)
}
