/**
 * The JSON Schema of a fleet file, for editors. A test checks that it accepts what `FleetFile.ts` accepts.
 */
import { commitmentPattern, maxCount, namePattern } from "./FleetFile.ts"

const text = (description: string) => ({ type: "string", minLength: 1, description })
const texts = (description: string) => ({
  type: "array",
  maxItems: 100,
  items: { type: "string", minLength: 1 },
  description
})
const flag = (description: string) => ({ type: "boolean", description })
const whole = (description: string, maximum?: number) => ({
  type: "integer",
  minimum: 0,
  ...(maximum !== undefined && { maximum }),
  description
})

const group = {
  type: "object",
  additionalProperties: false,
  required: ["plan", "image"],
  properties: {
    count: { ...whole("How many nodes; default 1.", maxCount), default: 1 },
    name: text("Name of the nodes in place of FLEET-GROUP; {n} stands for the number."),
    plan: text("Plan, see berth plan list."),
    image: { type: ["string", "integer"], description: "Image slug or id, see berth image list." },
    tags: texts("Tags to attach."),
    sshKeys: texts(
      "Keys for root: files with public keys, relative to this file, or their texts, fingerprints or ids."
    ),
    protect: { ...flag("Never delete these nodes."), default: false },
    commitment: {
      type: "string",
      pattern: commitmentPattern,
      description:
        "Set once a node is created: auto_renew with the days of a committed option, auto_terminate or hourly_billing.",
      examples: ["auto_renew 30d"]
    },
    backups: flag("Automated backups; cannot be turned on later."),
    savedImage: whole("Template id; required for saved images."),
    disk: whole("Size of the disk in GB; some series need it."),
    label: text("Label."),
    securityGroup: whole("Security group."),
    vpc: text("Virtual private cloud."),
    publicIp: flag("Whether the nodes get a public address."),
    ipv6: flag("Whether the nodes get an IPv6 address."),
    disablePassword: flag("Log in with keys only."),
    startScripts: texts("Files with scripts to run at the start, relative to this file.")
  }
}

export const fleetSchema = {
  title: "Fleet of berth apply",
  type: "object",
  additionalProperties: false,
  required: ["fleet", "nodes"],
  properties: {
    fleet: {
      type: "string",
      pattern: namePattern,
      description: "Name of the fleet; nodes are named FLEET-GROUP-1 and so on."
    },
    nodes: {
      type: "object",
      description: "Groups of nodes that are alike.",
      propertyNames: { pattern: namePattern },
      additionalProperties: group
    }
  }
}
