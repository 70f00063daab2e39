const running = client.nodes.awaitStatus(node.id, "running")
let isOver = false
running.finally(() => (isOver = true))
await world.advance("10 seconds")
while (!isOver) {
  await jest.advanceTimersByTimeAsync(1000) // vitest: vi.advanceTimersByTimeAsync
  await client.nodes.get(node.id) // replies need real time
}
