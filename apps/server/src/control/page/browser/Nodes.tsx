/** One page of the world's nodes. */
import { Badge } from "@berthkit/web/components/Badge"
import { Button } from "@berthkit/web/components/Button"
import { Commands } from "@berthkit/web/components/Copyable"
import { Isolated } from "@berthkit/web/components/Isolated"
import { toneOfStatus } from "@berthkit/web/components/statuses"
import { countText, plain } from "@berthkit/web/components/text"
import type { NodeView } from "./controlPlane.ts"
import { changeNode } from "./questions.tsx"
import { readable } from "./wording.ts"
import { pageSize, skip, turnPage } from "./world.ts"

const Row = ({ node }: { readonly node: NodeView }) => {
  const { createdAt, forced, id, location, locked, name, plan, project, status } = node
  return (
    <tr>
      <td>{id}</td>
      <td>
        <Isolated text={name} />
      </td>
      <td class="status">
        <Badge tone={toneOfStatus(status)}>{status}</Badge> {forced ? <Badge>forced</Badge> : null}{" "}
        {locked ? <Badge>locked</Badge> : null}
      </td>
      <td class="plan">{location === undefined ? plan : `${plan} · ${location}, project ${project}`}</td>
      <td class="created">{readable(createdAt)}</td>
      <td class="act">
        <Button isSmall label={`Change ${plain(name)}`} onClick={() => changeNode(node)}>
          Change
        </Button>
      </td>
    </tr>
  )
}

/** Examples of commands that work with the credentials of the world. */
const commands = ["berth node create web --plan C-4VCPU-16RAM-100DISK --image Ubuntu-24.04", "berth node list"]

interface NodesProps {
  readonly nodes: ReadonlyArray<NodeView>
  /** Number of nodes in the whole world. */
  readonly total: number
}

export const Nodes = ({ nodes, total }: NodesProps) => {
  const last = skip.value + nodes.length
  const isPaged = total > pageSize
  return (
    <section class="sheet nodes" aria-labelledby="nodes-title">
      <div class="folds">
        <h2 id="nodes-title">
          Nodes{" "}
          <span class="note">
            {isPaged ? `${countText(skip.value + 1)} to ${countText(last)} of ${countText(total)}` : countText(total)}
          </span>
        </h2>
        <Commands commands={commands} />
      </div>
      <div class="scroll" tabIndex={0} role="group" aria-label="Rows of nodes">
        <table aria-labelledby="nodes-title">
          <thead>
            <tr>
              <th scope="col">Id</th>
              <th scope="col">Name</th>
              <th scope="col">Status</th>
              <th scope="col" class="plan">
                Plan
              </th>
              <th scope="col" class="created">
                Created
              </th>
              <td />
            </tr>
          </thead>
          <tbody id="nodes">
            {nodes.map((node) => (
              <Row key={node.id} node={node} />
            ))}
            {nodes.length > 0 ? null : (
              <tr>
                <td class="empty" colSpan={6}>
                  No nodes.
                </td>
              </tr>
            )}
          </tbody>
        </table>
      </div>
      {isPaged ? (
        <p class="actions">
          <Button disabled={skip.value === 0} onClick={() => turnPage(-pageSize)}>
            Previous
          </Button>
          <Button disabled={last >= total} onClick={() => turnPage(pageSize)}>
            Next
          </Button>
        </p>
      ) : null}
    </section>
  )
}
