/**
 * Every command: its name, the parts of its help except the flags, and its module. A module is loaded only when its command runs, so the
 * tree imports none.
 */
import { type CommandTree, noun, verb } from "../commandLine/CommandTree.ts"
import type { Command } from "./command.ts"

const filters = ["status", "name", "series", "plan"]
const paging = ["limit", "page", "per-page"]
const imageFilters = ["type", "cpu", "ram", "min-cpu", "min-ram", "series", "os", "version", "plan"]

export const tree: CommandTree<Command> = [
  noun("node", "Virtual machines", [
    verb("list", "List nodes", async () => (await import("./node/list.ts")).list, {
      aliases: ["ls"],
      groups: { filter: filters, paging },
      prints: ["node[]"],
      examples: [
        ["berth node list --status running --sort -created", "The newest running nodes first"],
        ["berth node list --name 'web-*' -o id", "The ids of all nodes that match a pattern"],
        ["berth node list --query '[].publicIp'", "Print one field of each node"]
      ]
    }),
    verb("get", "Show nodes", async () => (await import("./node/get.ts")).get, {
      aliases: ["show", "describe"],
      prints: ["node", "node[]"],
      examples: [
        ["berth node get web-1", "One node, by its name"],
        ["berth node get 'web-*' -o json", "All nodes that match a pattern"]
      ]
    }),
    verb("create", "Create a node", async () => (await import("./node/create.ts")).create, {
      prints: ["creation", "creation[]", "proposal", "proposal[]"],
      needs: ["NAME", "plan", "image"],
      groups: {
        node: [
          "plan",
          "image",
          "name",
          "saved-image",
          "committed-sku",
          "commitment",
          "disk",
          "tag",
          "label",
          "backups",
          "start-script"
        ],
        access: ["ssh-key", "disable-password", "security-group", "vpc", "no-public-ip", "ipv6", "extra"],
        wait: ["wait", "timeout"],
        safety: [
          "if-absent",
          "idempotency-key",
          "count",
          "max-cost",
          "max-commitment",
          "max-minimum",
          "dry-run",
          "force",
          "yes"
        ]
      },
      examples: [
        [
          "berth node create web --plan C-2VCPU-8RAM-50DISK --image Ubuntu-22.04",
          "Show the price and create the node (with --dry-run, only show)"
        ],
        ["berth node create", "Guided: asks for plan and image and shows prices"]
      ]
    }),
    verb("delete", "Delete nodes", async () => (await import("./node/delete.ts")).remove, {
      aliases: ["rm"],
      prints: ["outcome", "outcome[]", "proposal", "proposal[]"],
      examples: [
        ["berth node delete web-1 --wait", "Ask, delete, and wait until the node is gone"],
        [
          "berth node delete $(berth node list --name 'tmp-*' -o id) --yes",
          "Delete every node that matches a pattern, without asking"
        ]
      ]
    }),
    verb("wait", "Wait until nodes reach a status", async () => (await import("./node/wait.ts")).wait, {
      prints: ["outcome", "outcome[]"],
      examples: [
        ["berth node wait web-1", "Wait until a node is running"],
        ["berth node wait 'web-*' --for deleted --timeout 5m", "Wait until all are gone, at most five minutes"]
      ]
    }),
    verb("watch", "Show nodes as they change", async () => (await import("./node/watch.ts")).watch, {
      prints: ["nodeChange"],
      paints: ["node"],
      examples: [
        ["berth node watch", "All nodes, as a table that repaints itself"],
        ["berth node watch 'web-*' -o ndjson", "One line of JSON for each change"]
      ]
    }),
    verb("ip", "Print the public address of a node", async () => (await import("./node/ip.ts")).ip, {
      prints: ["address"],
      examples: [
        ["ping $(berth node ip web-1)", "Use the address in another program"],
        ["berth node ip web-1 -o json", "As JSON, with the node's id and name"]
      ]
    }),
    verb("ssh", "Log in to a node with ssh", async () => (await import("./node/ssh.ts")).ssh, {
      prints: [],
      wraps: true,
      examples: [
        ["berth node ssh web-1", "A shell as root"],
        ["berth node ssh web-1 -- uptime", "One command"]
      ]
    })
  ]),
  verb("run", "Create a node, run a command, and delete the node", async () => (await import("./run/run.ts")).run, {
    prints: ["proposal"],
    needs: ["plan", "image"],
    wraps: true,
    groups: {
      node: ["plan", "image", "name", "saved-image", "disk", "tag", "label", "backups", "start-script"],
      access: ["ssh-key", "disable-password", "security-group", "vpc", "no-public-ip", "ipv6", "extra"],
      lease: ["ttl", "reuse", "wait", "timeout"],
      safety: ["max-cost", "max-minimum", "dry-run", "force", "yes"]
    },
    examples: [
      [
        "berth run --plan C-2VCPU-8RAM-50DISK --image Ubuntu-22.04 -- ./test.sh",
        "Run ./test.sh here with BERTH_NODE_IP, then delete the node"
      ],
      [
        "berth run --reuse --plan C-2VCPU-8RAM-50DISK --image Ubuntu-22.04 -- ./test.sh",
        "Reuse a kept node, if there is one, and keep it until its paid hour ends"
      ]
    ]
  }),
  verb("reap", "Delete the nodes left by earlier runs", async () => (await import("./reap/reap.ts")).reap, {
    prints: ["outcome[]", "proposal[]"],
    examples: [
      ["berth reap", "Delete nodes of killed runs, and kept nodes whose paid hour has ended"],
      ["berth reap --within 10m", "In a job every ten minutes: also delete kept nodes whose paid hour ends soon"],
      ["berth reap --dry-run", "Show what would be deleted"]
    ]
  }),
  verb(
    "inventory",
    "Print the nodes as an Ansible inventory",
    async () => (await import("./inventory/print.ts")).inventory,
    {
      needs: ["ansible"],
      value: "an inventory",
      examples: [
        ["berth inventory --ansible --list", "Hosts with their variables, in groups by plan and region"],
        [
          "berth inventory --ansible --max-age 1m --ledger fleet.ledger.json",
          "From a cache, with groups by fleet and member"
        ]
      ]
    }
  ),
  verb(
    "ssh-config",
    "Print the nodes as hosts for ssh",
    async () => (await import("./ssh-config/write.ts")).sshConfig,
    {
      examples: [
        [
          "berth ssh-config --prefix berth- --output ~/.ssh/berth.conf",
          "After adding 'Include berth.conf' to ~/.ssh/config"
        ],
        [
          "berth ssh-config --prefix berth- --output ~/.ssh/berth.conf --watch",
          "Keep the file up to date as nodes come and go"
        ]
      ]
    }
  ),
  noun("commitment", "Commitments (fixed periods at a lower price)", [
    verb(
      "get",
      "Show the commitment setting that berth last sent for a node",
      async () => (await import("./commitment/get.ts")).get,
      {
        aliases: ["show"],
        prints: ["ownCommitment"],
        examples: [
          ["berth commitment get web-1", "Show the last setting; the service itself does not report it"],
          ["berth commitment get web-1 --query until -o json", "When the period ends"]
        ]
      }
    ),
    verb(
      "set",
      "Set what happens when a node's commitment ends",
      async () => (await import("./commitment/set.ts")).set,
      {
        prints: ["commitment", "proposal"],
        groups: { safety: ["max-commitment", "found", "dry-run", "force", "yes"] },
        examples: [
          ["berth commitment set web-1 auto_terminate", "Delete the node when its commitment ends"],
          ["berth commitment set web-1 auto_renew --sku 262 --dry-run", "Show the request and the price, and stop"],
          [
            "berth commitment set web-1 auto_renew --sku 262 --yes --max-commitment 5000",
            "Buy the commitment for at most ₹5000"
          ]
        ]
      }
    )
  ]),
  noun("image", "Images to create nodes from", [
    verb("list", "List images, one row each", async () => (await import("./image/list.ts")).list, {
      aliases: ["ls"],
      groups: { filter: imageFilters, paging: ["limit"] },
      prints: ["imageWithPlans[]"],
      examples: [
        ["berth image list --os Ubuntu --version 24.04", "Images of one system"],
        ["berth image list --type private", "Images of the account"]
      ]
    }),
    verb("saved", "List the account's saved images", async () => (await import("./image/saved.ts")).saved, {
      prints: ["image[]"],
      examples: [
        ["berth image saved", "Images saved from your own nodes"],
        ["berth image saved -o json", "With the template ids that node create takes"]
      ]
    })
  ]),
  noun("plan", "Sizes and prices", [
    verb("list", "List plans and their prices", async () => (await import("./plan/list.ts")).list, {
      aliases: ["ls"],
      groups: { filter: imageFilters, paging: ["limit"] },
      prints: ["plan[]"],
      examples: [
        ["berth plan list --min-ram 8 --os Ubuntu --sort price", "Plans with 8 GB or more for Ubuntu, cheapest first"],
        ["berth plan list --sort price --limit 3 -o id", "The three cheapest"]
      ]
    }),
    verb("get", "Show a plan and its commitments", async () => (await import("./plan/get.ts")).get, {
      aliases: ["show", "describe"],
      prints: ["plan"],
      examples: [
        ["berth plan get C-2VCPU-8RAM-50DISK", "The plan's price, and when each commitment pays off"],
        ["berth plan get C-2VCPU-8RAM-50DISK --query images", "The images that run on the plan"]
      ]
    })
  ]),
  verb("apply", "Create and change nodes to match a fleet file", async () => (await import("./apply/apply.ts")).apply, {
    prints: ["fleetChange[]"],
    groups: {
      wait: ["wait", "timeout"],
      replace: ["replace", "max-unavailable", "ready-command", "ready-timeout"],
      safety: ["pick", "max-deletes", "max-cost", "max-commitment", "max-minimum", "grace", "dry-run", "yes"]
    },
    examples: [
      ["berth apply -f fleet.yaml --dry-run", "Show what would change, and what it costs"],
      ["berth apply -f fleet.yaml --yes --max-deletes 1 --wait", "In a script: delete one node at most"],
      ["berth apply -f fleet.yaml --replace all --ready-command ./ready.sh", "Replace what differs, one by one"]
    ]
  }),
  verb("diff", "Compare the nodes with a fleet file", async () => (await import("./apply/diff.ts")).diff, {
    prints: ["fleetChange[]"],
    examples: [
      ["berth diff -f fleet.yaml", "Exit code 0 if nothing differs, 11 if something does"],
      ["berth diff -f fleet.yaml -o json --query '[?action!=`unchanged`].member'", "The members that would change"]
    ]
  }),
  verb("destroy", "Delete the nodes of a fleet", async () => (await import("./apply/destroy.ts")).destroy, {
    prints: ["fleetChange[]"],
    groups: { wait: ["wait", "timeout"], safety: ["max-deletes", "grace", "dry-run", "yes"] },
    examples: [
      ["berth destroy -f fleet.yaml", "Show the nodes, ask, and delete them"],
      ["berth destroy -f fleet.yaml --yes --wait", "Do not ask, and wait until they are gone"]
    ]
  }),
  noun("fleet", "Fleets: sets of nodes described in a file", [
    verb("list", "List the fleets that berth knows", async () => (await import("./fleet/list.ts")).list, {
      aliases: ["ls"],
      prints: ["fleet[]"],
      examples: [
        ["berth fleet list", "List the fleets, with their ledgers and numbers of members"],
        ["berth fleet list -o name", "The names alone"]
      ]
    }),
    verb("adopt", "Take a node into a fleet", async () => (await import("./fleet/adopt.ts")).adopt, {
      needs: ["NODE", "as"],
      prints: ["fleetMember"],
      examples: [
        ["berth fleet adopt 5 --as web-2", "Make node 5 a member, without changing the node"],
        ["berth fleet adopt old-web --as web-2 -f shop.yaml", "With a fleet file other than fleet.yaml"],
        ["berth fleet adopt 5 --as web-2 --commitment none", "Adopt a node for which the portal shows no commitment"]
      ]
    }),
    verb("forget", "Take a node out of a fleet", async () => (await import("./fleet/forget.ts")).forget, {
      prints: ["fleetMember"],
      examples: [
        ["berth fleet forget web-2 -f fleet.yaml", "Take web-2 out; its node stays"],
        ["berth fleet forget shop", "Stop listing this fleet"]
      ]
    })
  ]),
  verb("cost", "Show what the account costs", async () => (await import("./cost/show.ts")).cost, {
    prints: ["cost[]", "spending[]"],
    examples: [
      ["berth cost", "Cost per node, including nodes that are off but still billed"],
      ["berth cost --month", "What was spent this month, with a forecast, from berth-watch"],
      ["berth cost --by fleet", "What each fleet costs"]
    ]
  }),
  verb("history", "Show what was changed, and by whom", async () => (await import("./history/show.ts")).history, {
    prints: ["change[]"],
    examples: [
      ["berth history --limit 20", "The newest changes that berth sent"],
      ["berth history web-1", "The history of one node, even a deleted one"],
      ["berth history --query '[?outcome==`unknown`]' -o json", "Changes that got no reply"]
    ]
  }),
  verb("limits", "Show how much of the rate limit is left", async () => (await import("./limits/show.ts")).limits, {
    prints: ["limits"],
    examples: [
      ["berth limits", "What is left, and when it refills"],
      ["berth limits --query remaining", "The number of requests alone"]
    ]
  }),
  verb("doctor", "Check settings, files and the connection", async () => (await import("./doctor/run.ts")).doctor, {
    prints: ["check[]"],
    examples: [
      ["berth doctor", "Where each setting came from, and what is wrong"],
      ["berth doctor --profile test", "For the account of a profile"]
    ]
  }),
  verb("schema", "Print the JSON Schema of a command's output", async () => (await import("./schema/show.ts")).schema, {
    value: "a schema",
    examples: [
      ["berth schema node list", "Schema of one command"],
      ["berth schema fleet", "Schema of a fleet file, for editors"],
      ["berth schema", "All schemas, error codes and exit codes"]
    ]
  }),
  noun("auth", "Log in and out", [
    verb("login", "Save the credentials of an account", async () => (await import("./auth/login.ts")).login, {
      prints: ["profile"],
      examples: [
        ["berth auth login --base-url https://HOST", "Berth asks for the API key and the access token"],
        ["berth auth login --profile test < credentials", "Read the credentials from two lines of a file"]
      ]
    }),
    verb(
      "status",
      "Show the account, and which setting it comes from",
      async () => (await import("./auth/status.ts")).status,
      {
        prints: ["account"],
        examples: [
          ["berth auth status", "Show which account the commands use"],
          ["berth auth status --query authenticated", "Whether the service accepts its credentials"]
        ]
      }
    ),
    verb("token", "Print the access token, for other programs", async () => (await import("./auth/token.ts")).token, {
      examples: [
        ["berth auth token --profile test", "The access token of a profile"],
        ["berth auth token --api-key", "The API key, the other half of the credentials"]
      ]
    }),
    verb("logout", "Forget the credentials of a profile", async () => (await import("./auth/logout.ts")).logout, {
      examples: [
        ["berth auth logout", "Forget the account in use"],
        ["berth auth logout --profile test", "Forget one of several"]
      ]
    })
  ]),
  noun("state", "Manage the state that several machines share", [
    verb(
      "migrate",
      "Create berth's tables in the shared database",
      async () => (await import("./state/migrate.ts")).migrate,
      {
        examples: [
          ["berth state migrate", "Create the tables, and print the GRANTs that berth's user needs"],
          ["berth state migrate --quiet", "Print only the GRANTs, for psql"]
        ]
      }
    ),
    verb(
      "accept",
      "After a restore, accept nodes that the database does not know",
      async () => (await import("./state/accept.ts")).accept,
      {
        examples: [
          ["berth state accept", "Accept these nodes, so that nodes with their names can be created again"],
          ["berth state accept --profile test", "For the account of a profile"]
        ]
      }
    )
  ]),
  noun("profile", "Saved accounts", [
    verb("list", "List profiles", async () => (await import("./profile/list.ts")).list, {
      aliases: ["ls"],
      prints: ["profile[]"],
      examples: [
        ["berth profile list", "The accounts, and which one is in use"],
        ["berth profile list -o name", "Only the names, for scripts"]
      ]
    }),
    verb("show", "Show a profile", async () => (await import("./profile/show.ts")).show, {
      aliases: ["get"],
      prints: ["profile"],
      examples: [
        ["berth profile show test", "The address of a profile, without its credentials"],
        ["berth profile show test --query baseUrl", "The address alone"]
      ]
    }),
    verb("use", "Choose the profile that commands use", async () => (await import("./profile/use.ts")).use, {
      prints: ["profile"],
      examples: [
        ["berth profile use test", "Make test the default profile"],
        ["berth profile use default", "Switch back to the profile named default"]
      ]
    }),
    verb("remove", "Remove a profile", async () => (await import("./profile/remove.ts")).remove, {
      aliases: ["rm", "delete"],
      examples: [
        ["berth profile remove test", "Forget a profile and its credentials"],
        ["berth profile rm test", "The same, shorter"]
      ]
    })
  ]),
  verb(
    "completion",
    "Print a shell completion script",
    async () => (await import("./completion/print.ts")).completion,
    {
      examples: [
        ['eval "$(berth completion bash)"', "In ~/.bashrc; zsh likewise"],
        ["berth completion fish | source", "In ~/.config/fish/config.fish"]
      ]
    }
  ),
  verb("mcp", "Give an agent access to the account (MCP)", async () => (await import("./mcp/serve.ts")).mcp, {
    groups: { safety: ["allow", "max-cost", "max-commitment", "max-nodes", "share"] },
    examples: [
      ["berth mcp --profile work", "Read-only, over stdin and stdout (Model Context Protocol)"],
      [
        "berth mcp --allow create,delete --max-cost 20 --max-nodes 3",
        "It may propose creates and deletes; you approve each one"
      ]
    ]
  }),
  verb("approve", "Approve an agent's proposal", async () => (await import("./approve/run.ts")).approve, {
    prints: ["approval"],
    examples: [
      ["berth approve p0123456789abcdefghi", "Show the proposal and ask for approval"],
      ["berth approve p0123456789abcdefghi --profile work", "For the account of a profile"]
    ]
  }),
  verb("api", "Send any request to the service", async () => (await import("./api/request.ts")).request, {
    value: "a reply",
    examples: [
      ["berth api /nodes/ -q per_page=5 -i", "A page of nodes, with status and headers"],
      ["berth api /images/ --paginate -o ndjson", "Every element of a list"],
      ["berth api POST /nodes/ -d @node.json", "A body from a file"]
    ]
  })
]

/** Commands that the shells' completion scripts and the build call. Help and completions do not show them. */
export const internalVerbs: CommandTree<Command> = [
  verb("__complete", "Words that may come next", async () => (await import("./completion/internal.ts")).completeWords),
  verb(
    "__values",
    "Read the values that completions offer",
    async () => (await import("./completion/internal.ts")).refreshValues
  ),
  verb("__describe", "Every command as data", async () => (await import("./completion/internal.ts")).describeAll),
  verb(
    "__answers",
    "Every help and the version as texts",
    async () => (await import("./completion/internal.ts")).answerAll
  )
]
