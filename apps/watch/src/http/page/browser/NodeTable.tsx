/**
 * The nodes as a table, of which the document holds only the rows in sight. Screen readers and the keyboard treat it as one
 * table.
 */
import { computed, signal, useComputed } from "@preact/signals"
import { Badge } from "@berthkit/web/components/Badge"
import { Button } from "@berthkit/web/components/Button"
import { Isolated } from "@berthkit/web/components/Isolated"
import { useKeptFocus } from "@berthkit/web/components/keepFocus"
import { isNarrow, remPixels } from "@berthkit/web/components/screen"
import { Select } from "@berthkit/web/components/Select"
import { countText, plain } from "@berthkit/web/components/text"
import { shortSpanText, wholeInstantText } from "@berthkit/web/components/times"
import { scrollToRow, useVirtualRows } from "@berthkit/web/components/virtualRows"
import { toneOfStatus } from "@berthkit/web/components/statuses"
import type { ComponentChildren } from "preact"
import { useLayoutEffect, useRef } from "preact/hooks"
import {
  account,
  allNodes,
  choose,
  hasAll,
  isSeveral,
  moment,
  nodesOfAccount,
  pastOf,
  prices,
  shown,
  spanMillis,
  stale,
  status,
  view
} from "./board.ts"
import { historyBegin } from "./history.ts"
import { openNode } from "./NodeDetails.tsx"
import { addressOf, type ColumnName, columns, type NodeRow, priceOf, type Sort } from "./nodes.ts"
import { Strip } from "./Strip.tsx"
import { type AsOf, asOfText, beginText, boundText, nameText } from "./wording.ts"

/** The node from which the arrow keys move. */
const active = signal<string | undefined>(undefined)

/** Requests the focus, once the row exists. */
const focusAsked = signal(0)

/** One start time for all histories, so that they can be compared vertically. */
const fromMillis = computed(() => historyBegin(allNodes.peek(), spanMillis.value, moment.value, pastOf))

interface CellProps {
  readonly node: NodeRow
  readonly asOf: AsOf | undefined
}

const Name = ({ node }: CellProps) => {
  const isActive = useComputed(() => node.key === active.value)
  return (
    <>
      <button
        type="button"
        class="bare open"
        tabIndex={isActive.value ? 0 : -1}
        title={plain(node.name)}
        onClick={() => {
          active.value = node.key
          openNode(node.key)
        }}
      >
        <Isolated text={nameText(node.name)} />
      </button>{" "}
      <small>{node.id}</small>
    </>
  )
}

const StatusCell = ({ asOf, node: { sinceMillis, status } }: CellProps) => (
  <>
    <Badge tone={toneOfStatus(status)} title={sinceMillis === null ? "" : `since ${wholeInstantText(sinceMillis)}`}>
      {status}
    </Badge>
    {asOf === undefined ? null : (
      <>
        {" "}
        <small>{asOfText(asOf, moment.value)}</small>
      </>
    )}
  </>
)

/** The content of each column. `nodes.ts` defines its sort order, the style sheet its width. */
const cells: Readonly<Record<ColumnName, (props: CellProps) => ComponentChildren>> = {
  name: Name,
  account: ({ node }) => <Isolated text={node.account} />,
  status: StatusCell,
  plan: ({ node }) => (
    <span title={plain(node.plan ?? "")}>
      <Isolated text={node.plan ?? "–"} />
    </span>
  ),
  address: ({ node }) => <>{addressOf(node) ?? "–"}</>,
  age: ({ node: { createdMillis } }) => (
    <>{createdMillis === null ? "–" : shortSpanText(moment.value - createdMillis)}</>
  ),
  price: ({ node }) => <>{boundText(priceOf(prices.value, node))}</>
}

interface RowProps {
  readonly node: NodeRow
  readonly place: number
  /** In pixels. */
  readonly height: number
}

/** Because the row reads signals, it is rendered again only if one of these signals or a property changes. */
const Row = ({ height, node, place }: RowProps) => {
  const asOf = stale.value.get(node.account)
  return (
    <div
      class={asOf === undefined ? "row" : "row stale"}
      role="row"
      aria-rowindex={place + 2}
      data-key={node.key}
      style={{ transform: `translateY(${place * height}px)` }}
    >
      {columns.map(({ name }) => {
        const Cell = cells[name]
        return (
          <span key={name} class={`cell ${name}`} role="cell" style={{ "--area": name }}>
            <Cell node={node} asOf={asOf} />
          </span>
        )
      })}
      <span class="cell history" role="cell" style={{ "--area": "history" }}>
        <Strip node={node} past={pastOf(node)} fromMillis={fromMillis.value} asOfMillis={asOf?.atMillis} />
      </span>
    </div>
  )
}

const sortBy = (by: ColumnName): void => {
  const { sort } = view.peek()
  choose({ sort: { by, isDescending: sort.by === by && !sort.isDescending } })
}

const Head = () => {
  const { by, isDescending } = view.value.sort
  const order = isDescending ? "descending" : "ascending"
  return (
    <div id="head" role="rowgroup">
      <div id="columns" role="row" aria-rowindex={1}>
        {columns.map(({ name, title }) => (
          <span key={name} class={`cell ${name}`} role="columnheader" aria-sort={name === by ? order : undefined}>
            <button type="button" class="bare" onClick={() => sortBy(name)}>
              {title}
            </button>
          </span>
        ))}
        <span class="cell history" role="columnheader">
          <span>{beginText(fromMillis.value, spanMillis.value, moment.value)}</span>
        </span>
      </div>
    </div>
  )
}

/** Columns are as wide as their longest text, up to a number of characters; the names get the rest. */
const widths = computed(() => {
  const longest = { account: 0, plan: 0, address: 1 }
  for (const node of allNodes.value) {
    longest.account = Math.max(longest.account, node.account.length)
    longest.plan = Math.max(longest.plan, node.plan?.length ?? 0)
    longest.address = Math.max(longest.address, addressOf(node)?.length ?? 0)
  }
  return {
    "--account-characters": String(Math.min(longest.account, 20)),
    "--plan-characters": String(Math.min(longest.plan, 24)),
    "--address-characters": String(Math.min(longest.address, 16))
  }
})

const Grid = () => {
  const viewport = useRef<HTMLDivElement>(null)
  const list = useRef<HTMLDivElement>(null)
  const nodes = shown.value
  // In the units of the style sheet.
  const height = (isNarrow.value ? 4.75 : 2.25) * remPixels.value
  const kept = nodes.findIndex(({ key }) => key === active.value)
  const places = useVirtualRows({ viewport, count: nodes.length, height, kept })
  useKeptFocus(list)
  useLayoutEffect(() => {
    // The node with the focus may be gone.
    if (kept < 0) active.value = nodes[0]?.key
  })
  const moveTo = (place: number) => {
    const node = nodes[Math.min(Math.max(place, 0), nodes.length - 1)]
    if (node === undefined) return
    active.value = node.key
    focusAsked.value += 1
  }
  useLayoutEffect(() => {
    if (focusAsked.value === 0 || kept < 0) return
    scrollToRow(viewport.current!, kept, height, list.current!.offsetTop)
    const row = list.current!.querySelector(`[data-key="${CSS.escape(active.peek() ?? "")}"]`)
    row?.querySelector<HTMLElement>(".open")?.focus({ preventScroll: true })
  }, [focusAsked.value])
  const onKeyDown = (event: KeyboardEvent) => {
    const page = Math.max(1, Math.floor(viewport.current!.clientHeight / height) - 1)
    const places: Readonly<Record<string, number>> = {
      ArrowDown: kept + 1,
      ArrowUp: kept - 1,
      PageDown: kept + page,
      PageUp: kept - page,
      Home: 0,
      End: nodes.length - 1
    }
    const place = places[event.key]
    if (place === undefined) return
    event.preventDefault()
    moveTo(place)
  }
  const isAnyStale = nodes.some(({ account }) => stale.value.has(account))
  return (
    <div id="scroll" ref={viewport} hidden={nodes.length === 0}>
      <div
        id="grid"
        role="table"
        aria-labelledby="nodes-title"
        aria-rowcount={nodes.length + 1}
        class={isAnyStale ? "with-stale" : ""}
        style={widths.value}
      >
        <Head />
        <div
          id="rows"
          role="rowgroup"
          ref={list}
          style={{ height: `${nodes.length * height}px` }}
          onKeyDown={onKeyDown}
        >
          {places.map((place) => (
            <Row key={nodes[place]!.key} node={nodes[place]!} place={place} height={height} />
          ))}
        </div>
      </div>
    </div>
  )
}

/** Moves the focus to the nodes, where it was last. */
const focusNodes = (): void => {
  focusAsked.value += 1
}

/** Why no node is shown, and what to do next. */
const emptySentences = (): readonly [string, string?] => {
  if (nodesOfAccount.value.length > 0) return ["No node matches."]
  const { accounts, troubles } = status.value
  const own = accounts.filter((each) => account.value === "" || each.account === account.value)
  const unswept = own.filter(({ lastSweep }) => lastSweep === null)
  if (own.length === 0) {
    return ["No account is configured.", "Add one under accounts in the config, then send SIGHUP."]
  }
  const isTroubled = unswept.some((each) =>
    troubles.some(({ about }) => about.kind === "account" && about.name === each.account)
  )
  if (isTroubled) return ["The nodes are not known yet: the reason is above."]
  if (unswept.length > 0) return ["No nodes yet.", "They appear here when the first sweep is complete."]
  const none = own.length === 1 ? "The account has no nodes." : "The accounts have no nodes."
  return [none, "Create one, for example with berth node create: it appears here by itself."]
}

const NoNodes = () => {
  const [text, next] = emptySentences()
  const showAll = () => {
    choose({ filter: "", status: "" })
    filterInput()?.focus()
  }
  return (
    <div id="no-nodes" class="empty">
      <p>{text}</p>
      {next === undefined ? null : <p>{next}</p>}
      {nodesOfAccount.value.length === 0 ? null : <Button onClick={showAll}>Show all nodes</Button>}
    </div>
  )
}

export const filterInput = (): HTMLElement | null => document.getElementById("filter")

const orderText = ({ by, isDescending }: Sort): string => `${by} ${isDescending ? "descending" : "ascending"}`

const spans = [
  { value: "3600", text: "1 hour" },
  { value: "86400", text: "24 hours" },
  { value: "604800", text: "7 days" }
]

const Tools = () => {
  const orders = columns
    .filter(({ name }) => name !== "account" || isSeveral.value)
    .flatMap(({ name, title }) => [
      { value: orderText({ by: name, isDescending: false }), text: title },
      { value: orderText({ by: name, isDescending: true }), text: `${title}, descending` }
    ])
  const [all, part] = [nodesOfAccount.value.length, shown.value.length]
  const partText = part === all ? "" : `${countText(part)} of ${countText(all)}`
  return (
    <div class="bar-of-tools">
      <h2 id="nodes-title">
        Nodes{" "}
        <span class="note" role="status">
          {hasAll.value ? partText : "reading all of them"}
        </span>
      </h2>
      {all === 0 ? null : (
        <>
          <label class="filter">
            <span class="unseen">Filter by name, id, address, plan or status</span>
            <input
              id="filter"
              type="search"
              placeholder="Filter"
              autocomplete="off"
              spellcheck={false}
              value={view.value.filter}
              onInput={({ currentTarget }) => choose({ filter: currentTarget.value })}
              onKeyDown={(event) => {
                if (event.key !== "ArrowDown" && event.key !== "Enter") return
                event.preventDefault()
                focusNodes()
              }}
            />
            <kbd aria-hidden="true">/</kbd>
          </label>
          <label class="sort">
            <span>Sort by</span>
            <Select
              id="sort"
              value={orderText(view.value.sort)}
              options={orders}
              onChange={(value) => {
                const [by, order] = value.split(" ") as [ColumnName, string]
                choose({ sort: { by, isDescending: order === "descending" } })
              }}
            />
          </label>
          <label class="span">
            <span>History of</span>
            <Select
              id="span"
              value={String(spanMillis.value / 1000)}
              options={spans}
              onChange={(value) => (spanMillis.value = Number(value) * 1000)}
            />
          </label>
        </>
      )}
    </div>
  )
}

export const NodeTable = () => (
  <section class="sheet nodes" aria-labelledby="nodes-title">
    <Tools />
    <Grid />
    {shown.value.length === 0 ? <NoNodes /> : null}
  </section>
)
