/**
 * The arguments and results of the promise client as plain types: those of the domain, with instants as `Date`s, ids as numbers
 * and a status as a string. They mention no library, so a program needs none for its types. Generated from the domain by
 * `pnpm --filter @berthkit/core records`; a test compares the two.
 */

/** A status: a known one, or another in the service's own spelling; empty if the service states none. */
export type NodeStatus = KnownStatus | (string & {})

/**
 * The statuses Berth knows, in the order a node passes through them: `creating` is what a
 * create reply shows; the others are the four documented ones.
 */
export type KnownStatus = "creating" | "created" | "running" | "power-off" | "terminate"

/**
 * The lanes, first to last: a call for which a person waits at a terminal, a change, a wait for a status, and a sweep (a read of
 * everything).
 */
export type Lane = "interactive" | "mutation" | "wait" | "sweep"

/**
 * What happens at the end of a commitment: `auto_renew` starts another,
 * `auto_terminate` terminates the node, `hourly_billing` drops the commitment.
 */
export type CommitmentSetting = "auto_renew" | "auto_terminate" | "hourly_billing"

/**
 * The known fields of a node. `null` means that the reply does not state the field, because the three record shapes have different fields.
 * An unreadable field is `null` here and kept raw under `extra`.
 */
export interface Node {
  /** The service's number for the node: a positive integer, never reused. */
  readonly id: number
  readonly name: string
  readonly status: NodeStatus
  /** When the service accepted the node, to the millisecond. Null if the reply has no date: the lists of some services have none. */
  readonly createdAt: Date | null
  /** Virtual CPUs. */
  readonly vcpus: number | null
  /** Memory in MiB. */
  readonly memoryMib: number | null
  /** Disk in GB (10^9 bytes). */
  readonly diskGb: number | null
  /** Public IPv4 address; null when there is none. */
  readonly publicIp: string | null
  /** Private IPv4 address; null when there is none. */
  readonly privateIp: string | null
  /** Plan slug. */
  readonly plan: string | null
  /** Image the node was made from. */
  readonly image: string | null
  /** Region; the service has only `ncr`. */
  readonly region: string | null
  /** Whether automated backups are on. */
  readonly backups: boolean | null
  /** Whether the node rejects user actions. */
  readonly locked: boolean | null
  /** Whether the service says that the node is committed for a period. Only some replies about one node say so. */
  readonly committed: boolean | null
  /** Tags; also empty if the reply has none. */
  readonly tags: ReadonlyArray<string>
  /** Fields of the reply that Berth does not know or could not read, under their wire names. */
  readonly extra: Readonly<Record<string, unknown>>
}

/**
 * The node to create. Only `name`, `plan` and `image` are required. Omitted fields are not sent, so the service's
 * undocumented defaults apply.
 */
export interface NodeSpec {
  /** Name of the node, 1 to 255 characters, not blank. Names may repeat. */
  readonly name: string
  /** Plan slug, such as `C-4VCPU-16RAM-100DISK`. */
  readonly plan: string
  /** Slug of a public image, or id of a public or private one. */
  readonly image: string | number
  /** Default `ncr`, the only region. */
  readonly region?: "ncr" | undefined
  /** The SSH keys to install for root: fingerprints or ids. A service with projects installs only keys that are given as public keys. */
  readonly sshKeys?: ReadonlyArray<string> | undefined
  readonly tags?: ReadonlyArray<string> | undefined
  /** Automated backups; can only be turned on here. */
  readonly backups?: boolean | undefined
  /** Template id; present when `image` is a saved image of the account. */
  readonly savedImageTemplateId?: number | undefined
  /** The committed option of the plan for the first period. */
  readonly committedSkuId?: number | undefined
  /** What happens at the end of that commitment. */
  readonly commitmentSetting?: CommitmentSetting | undefined
  /** Size of the disk in GB, at least 1. Some series need it, because their plans have a disk of 0 GB. */
  readonly disk?: number | undefined
  readonly label?: string | undefined
  readonly securityAgent?: boolean | undefined
  readonly disablePassword?: boolean | undefined
  readonly reservedIp?: string | undefined
  readonly ipv6?: boolean | undefined
  readonly vpcId?: string | undefined
  /** Whether the node gets a public address. */
  readonly publicIp?: boolean | undefined
  readonly containerId?: number | undefined
  readonly securityGroupId?: number | undefined
  readonly startScripts?: ReadonlyArray<string> | undefined
  /**
   * Additional fields of the request under their wire names, with JSON values. A field that Berth has a name for is refused, and so is
   * `number_of_instances`, because a create makes one node.
   */
  readonly extra?: Readonly<Record<string, unknown>> | undefined
}

/** An amount in a currency other than rupees. Berth shows it, but never adds it to rupees or compares it with them. */
export interface ForeignAmount {
  /** As the service writes it, such as `USD`. */
  readonly currency: string
  readonly amount: number
}

/** A period for which a plan can be reserved. */
export interface CommittedOption {
  /** Id to pass when choosing this option. */
  readonly skuId: number
  readonly name: string
  /** Length of the period in days. */
  readonly days: number
  /** Price of the whole period in rupees. */
  readonly priceInr: number | null
  /** Price of the whole period in another currency; `priceInr` is null then. */
  readonly foreignPrice: ForeignAmount | null
  readonly message: string
  /** End of the period if it began now, in the service's own words. */
  readonly until: string
}

/** The operating system on an image. */
export interface OperatingSystem {
  readonly name: string
  readonly version: string | null
  /** Identifier of the system's image. */
  readonly image: string | null
}

/** A price in a currency other than rupees. Berth shows it, but never adds it to rupees or compares it with them. */
export interface ForeignPrice {
  /** As the service writes it, such as `USD`. */
  readonly currency: string
  readonly perHour: number | null
  readonly perMonth: number | null
}

/** The size and price of a plan, as far as an image record states them. Prices are in rupees. */
export interface Specs {
  readonly vcpus: number | null
  readonly memoryMib: number | null
  readonly diskGb: number | null
  readonly series: string | null
  readonly pricePerHourInr: number | null
  readonly pricePerMonthInr: number | null
  readonly minimumBillingInr: number | null
  /** Set if the prices are in another currency; the prices in rupees are null then. */
  readonly foreignPrice: ForeignPrice | null
  readonly committedOptions: ReadonlyArray<CommittedOption>
}

/** An image on a plan. */
export interface Image {
  readonly name: string
  /** The value for `image` of a create. */
  readonly image: string
  /** Plan slug. */
  readonly plan: string
  /** The name under which nodes show the plan. Null if the record has none; nodes then show the slug. */
  readonly sku: string | null
  readonly os: OperatingSystem
  /** Where the image can be started. */
  readonly zone: string | null
  /** Whether the plan can be ordered now; null if the record does not say. */
  readonly available: boolean | null
  readonly specs: Specs
  /** Fields of the reply that Berth does not know, under their wire names. */
  readonly extra: Readonly<Record<string, unknown>>
}

/**
 * A saved image of the account, made from a node's disk. If the service lists each saved image once, a record has no plan and no price. An
 * older form of the list has one record for each plan.
 */
export interface SavedImage {
  readonly name: string
  /** The value for `savedImageTemplateId` of a create. */
  readonly templateId: number | null
  /** Identifier of the image. */
  readonly imageId: string | null
  /** The value for `image` of a create; null if the record has none. */
  readonly image: string | null
  readonly os: OperatingSystem
  /** For example `Ready`, in the service's words. */
  readonly state: string | null
  /** Size in GB (10^9 bytes). */
  readonly sizeGb: number | null
  /** When it was saved, as `YYYY-MM-DD HH:MM:SS` if the service names no zone, otherwise as the service writes it. */
  readonly created: string | null
  /** Plan slug of a record of the older form. */
  readonly plan: string | null
  /** Where the image can be started. */
  readonly zone: string | null
  /** The size and price of the plan in a record of the older form. */
  readonly specs: Specs | null
  /** Fields of the reply that Berth does not know, under their wire names. */
  readonly extra: Readonly<Record<string, unknown>>
}

/** Filters of the image list. An image must match all filters that are given. */
export interface ImageFilter {
  readonly type?: "public" | "private" | undefined
  readonly vcpus?: number | undefined
  /** Memory of the plan in GB. */
  readonly memoryGb?: number | undefined
  readonly series?: string | undefined
  readonly os?: string | undefined
  /** Used together with `os`. */
  readonly osVersion?: string | undefined
}

/** Filters that the service does not have. A plan must match all that are given. */
export interface PlanSize {
  /** Minimum number of virtual CPUs. */
  readonly minCpu?: number | undefined
  /** Minimum memory in GB. */
  readonly minRam?: number | undefined
  /** The name of the plan, in upper or lower case. */
  readonly plan?: string | undefined
}

/** A price, or a sum of prices, in rupees. It is known if the lowest and the highest are the same. */
export interface Price {
  /** Rupees per hour; null if that is not known. */
  readonly pricePerHourInr: number | null
  /** Rupees per month; null if that is not known. */
  readonly pricePerMonthInr: number | null
  /** Lower bound in rupees per hour; null if no price is known. In a sum, an unknown price counts as nothing. */
  readonly minPricePerHourInr: number | null
  /** Upper bound in rupees per hour; null if it is not known. */
  readonly maxPricePerHourInr: number | null
  /** Lower bound in rupees per month; null if no price is known. In a sum, an unknown price counts as nothing. */
  readonly minPricePerMonthInr: number | null
  /** Upper bound in rupees per month; null if it is not known. */
  readonly maxPricePerMonthInr: number | null
}

/** Images with the same price on a plan. */
export interface PlanPrice {
  /** Rupees per hour; null if that is not known. */
  readonly pricePerHourInr: number | null
  /** Rupees per month; null if that is not known. */
  readonly pricePerMonthInr: number | null
  /** Lower bound in rupees per hour; null if no price is known. In a sum, an unknown price counts as nothing. */
  readonly minPricePerHourInr: number | null
  /** Upper bound in rupees per hour; null if it is not known. */
  readonly maxPricePerHourInr: number | null
  /** Lower bound in rupees per month; null if no price is known. In a sum, an unknown price counts as nothing. */
  readonly minPricePerMonthInr: number | null
  /** Upper bound in rupees per month; null if it is not known. */
  readonly maxPricePerMonthInr: number | null
  readonly images: ReadonlyArray<string>
}

/** The value for `plan` of a create with this image. */
export interface PlanSlug {
  readonly image: string
  readonly slug: string
}

/** A committed option of a plan, and the images for which it has this price. */
export interface PlanOption {
  readonly skuId: number
  readonly name: string
  readonly days: number
  readonly priceInr: number | null
  readonly foreignPrice: ForeignAmount | null
  readonly message: string
  readonly until: string
  /** The number of days of hourly billing after which the option is cheaper; null if a price is unknown. */
  readonly breakEvenDays: number | null
  readonly images: ReadonlyArray<string>
}

/** A plan and its images. Its price is known if it is the same for all images. */
export interface Plan {
  /** The name under which nodes show the plan: its SKU, or its slug if the service has no SKUs. */
  readonly plan: string
  readonly vcpus: number | null
  readonly memoryMib: number | null
  readonly diskGb: number | null
  readonly series: string | null
  /** Rupees per hour; null if that is not known. */
  readonly pricePerHourInr: number | null
  /** Rupees per month; null if that is not known. */
  readonly pricePerMonthInr: number | null
  /** Lower bound in rupees per hour; null if no price is known. In a sum, an unknown price counts as nothing. */
  readonly minPricePerHourInr: number | null
  /** Upper bound in rupees per hour; null if it is not known. */
  readonly maxPricePerHourInr: number | null
  /** Lower bound in rupees per month; null if no price is known. In a sum, an unknown price counts as nothing. */
  readonly minPricePerMonthInr: number | null
  /** Upper bound in rupees per month; null if it is not known. */
  readonly maxPricePerMonthInr: number | null
  readonly minimumBillingInr: number | null
  /** The price in another currency, if all records of the plan state the same; the prices in rupees are null then. */
  readonly foreignPrice: ForeignPrice | null
  /** A SKU is listed more than once if its price depends on the image. */
  readonly committedOptions: ReadonlyArray<PlanOption>
  /** The plan's images, in the service's order. */
  readonly images: ReadonlyArray<string>
  /** The value for `plan` of a create, by image. A SKU has one or more slugs per image, and its name does not show them. */
  readonly slugs: ReadonlyArray<PlanSlug>
  /** Each image once, grouped by price. */
  readonly prices: ReadonlyArray<PlanPrice>
}

/** The allowance in a reply. */
export interface Allowance {
  /** Requests granted per window, of any kind. */
  readonly limit: number
  /** Requests left. */
  readonly remaining: number
  /** When it refills, on the service's clock. */
  readonly resetAt: Date | null
}

/** The estimate of the allowance at one time. */
export interface KnownAllowance {
  /** Requests granted per window; null until a reply reports it. */
  readonly limit: number | null
  /**
   * Length of the window. Null until a refill has shown it, or a reset that is more than an hour away; until then, an hour is assumed.
   */
  readonly windowMillis: number | null
  /** Requests left: the number in the newest reply, less those sent since. Null until a reply reports it. */
  readonly remaining: number | null
  /**
   * How many of the last requests are kept for interactive reads: if no more than this many are left, a change waits for the refill. Null
   * until a reply reports the allowance.
   */
  readonly keptForReads: number | null
  /** Time until the stated reset, by the service's clock; 0 when it is due. Null until a reply reports it. */
  readonly resetInMillis: number | null
  /** Time during which nothing is sent, because the service rejected a request over the rate limit; otherwise 0. */
  readonly pausedMillis: number
  /** Requests sent and not yet answered. */
  readonly underWay: number
  /** Requests that wait for the rate limit. */
  readonly waiting: number
}

/** One attempt. Times are in milliseconds. No field contains a credential. */
export interface Attempt {
  /** 1 for the first attempt of the call. */
  readonly number: number
  /** When the attempt started, counted from the beginning of the call. */
  readonly startedAtMillis: number
  /** The wait before this attempt because the previous one failed. */
  readonly backoffMillis: number
  /** The wait for the rate limit. */
  readonly queuedMillis: number
  /** The time from sending the request until the reply was read. */
  readonly durationMillis: number
  /** HTTP status; null without a reply. */
  readonly status: number | null
  /** `ok`, the tag of the failure's reason, `interrupted`, or `defect`. */
  readonly outcome: string
  /** The allowance that the reply reports. */
  readonly allowance: Allowance | null
}

/** Filters for plans and their images. A plan must match all that are given. */
export interface PlanFilter extends ImageFilter, PlanSize {}
