/**
 * The navigation of the site, grouped by readers' tasks. Each page of `docs/` needs one line here, and a test checks that. The pages of
 * decisions, commands and public names are added automatically.
 */
import { join } from "node:path"

/** The folder of the repository. */
export const root = join(import.meta.dirname, "../..")

/** A page of the repository: its path, and its name in the navigation if that is not its title. */
type Item = string | readonly [path: string, label: string]

export interface Section {
  readonly title: string
  readonly items: ReadonlyArray<Item>
}

export const sections: ReadonlyArray<Section> = [
  {
    title: "Start here",
    items: [["README.md", "Get started"], "docs/recipes.md", ["docs/glossary.md", "Berth's words"]]
  },
  {
    title: "In your program",
    items: [
      ["packages/core/README.md", "The client"],
      ["docs/using-with-promises.md", "With promises"],
      ["docs/using-with-effect.md", "With Effect"]
    ]
  },
  {
    title: "At the terminal",
    items: [
      ["apps/cli/README.md", "The command line"],
      ["docs/cli.md", "In detail"],
      ["docs/fleets.md", "Your first fleet"],
      ["docs/running-a-command.md", "A node for one command"],
      ["docs/ansible-and-ssh.md", "Ansible and ssh"],
      ["docs/agents.md", "For an agent"]
    ]
  },
  {
    title: "In your tests",
    items: [
      ["apps/server/README.md", "The mock server"],
      ["docs/testing-with-the-mock.md", "Testing with the mock"],
      ["docs/running-the-mock.md", "Running the mock"],
      ["docs/learning.md", "Is it like the real service?"]
    ]
  },
  {
    title: "For operators",
    items: [
      ["apps/watch/README.md", "The daemon"],
      ["docs/watch.md", "Run and configure it"],
      ["docs/watch-receivers.md", "Receiving events"],
      ["docs/watch-http.md", "Dashboard and HTTP"],
      ["docs/several-machines.md", "On several machines"]
    ]
  },
  {
    title: "Tables and limits",
    items: [
      ["docs/reference/client.md", "The client with promises"],
      ["docs/reference/cli.md", "The command line"],
      ["docs/reference/fleets.md", "Fleets"],
      ["docs/reference/leases.md", "Leases"],
      ["docs/cli-output.md", "What commands print"],
      ["docs/reference/mock.md", "The mock"],
      ["docs/control-plane.md", "Its control plane"],
      ["docs/reference/learning.md", "Learning"],
      ["docs/reference/daemon.md", "The daemon"],
      ["docs/watch-events.md", "Its events"],
      ["docs/reference/troubles.md", "Its troubles"],
      ["docs/watch-latency.md", "How fast changes are reported"],
      ["docs/reference/latency.md", "Its delays"],
      ["docs/reference/metrics.md", "Its metrics"],
      ["docs/reference/several-machines.md", "Several machines"],
      ["docs/reference/service-today.md", "Today's API"]
    ]
  },
  {
    title: "The service",
    items: [
      ["docs/service-today.md", "Today's API"],
      ["docs/interface/interface.md", "Its interface"],
      ["docs/interface/assumptions.md", "Assumptions"]
    ]
  },
  {
    title: "For contributors",
    items: [
      [".github/CONTRIBUTING.md", "Contributing"],
      ["docs/architecture.md", "Architecture"],
      ["docs/adding-an-endpoint.md", "Adding an endpoint"],
      ["docs/inside-the-mock.md", "Inside the mock"],
      ["docs/changing-the-pages.md", "Changing the pages"],
      [".github/SECURITY.md", "Security"]
    ]
  }
]

/** The decisions are below this page, in its order. */
export const decisionIndex = "docs/decisions/README.md"

/** Addresses of pages that are outside `docs/` or fit better under another address. */
const slugs: Readonly<Record<string, string>> = {
  "README.md": "start",
  ".github/CONTRIBUTING.md": "contributing",
  ".github/SECURITY.md": "security",
  "apps/cli/README.md": "cli",
  "docs/cli.md": "cli/in-detail",
  "apps/server/README.md": "mock",
  "apps/watch/README.md": "daemon",
  "packages/core/README.md": "client",
  "docs/interface/interface.md": "service/interface",
  "docs/interface/assumptions.md": "service/assumptions",
  [decisionIndex]: "decisions"
}

export const pathOf = (item: Item): string => (typeof item === "string" ? item : item[0])

/** The address of a page of the repository. */
export const slugOf = (path: string): string => slugs[path] ?? path.replace(/^docs\//, "").replace(/\.md$/, "")
