import type { Action } from '../../../../kernel/authz/ability.js';

/** From the most urgent to the least. */
const URGENCIES = ['critical', 'high', 'medium', 'low'] as const;
export type Urgency = (typeof URGENCIES)[number];

/** Its place in this order, from 1. */
export const numberOf = (urgency: Urgency): number => URGENCIES.indexOf(urgency) + 1;

/** What a caller may do, by where: an action in the project of a row, or in the organization, for all of its rows. */
export interface Right {
  readonly project?: Action;
  readonly organization?: Action;
}

/** Who may read the rows of a source. */
export const READERS = {
  rotations: { project: 'secret-rotation:read' },
  connections: { project: 'app-connections:read-app-connections', organization: 'app-connections:read' },
  certificates: { project: 'certificates:read' },
  authorities: { project: 'certificate-authorities:read' },
  alerts: { project: 'pki-alerts:read' },
  webhooks: { project: 'webhooks:read' },
  identities: { project: 'identity:read' },
  organizationIdentities: { organization: 'identity:read' },
  sinks: { organization: 'audit-logs:read' },
  keys: { organization: 'kms:read' },
  jobs: { organization: 'jobs:read' },
  /** Rows of no organization: only admins of the installation. */
  installation: { organization: 'jobs:read' },
} as const satisfies Readonly<Record<string, Right>>;
export type Reader = keyof typeof READERS;

/** An operation that helps. */
export interface Help {
  /** The field of `Mutation`. A REST route has to answer it too; for subjects with a type, one whose path has that. */
  readonly field: string;
  /** What its input takes in place of the ID of the subject as `id`: a list of that, the ID of the owner, or that of the project. */
  readonly input?: 'ids' | 'attemptId' | 'projectId';
  /** Who may do it. */
  readonly right: Right;
}

/** Rows of one table that need a person. */
export interface Source {
  /** Name of the GraphQL type of the subject. */
  readonly subject: string;
  readonly reader: Reader;
  /** Made by `rowsOf`. Each row is one item of the installation. */
  readonly rows: string;
  readonly helps: readonly Help[];
}

/** Something that needs a person. */
export interface AttentionKind {
  /** What it is, for the API. */
  readonly description: string;
  readonly urgency: Urgency;
  /** What happened, in a sentence, for each item. */
  readonly message: string;
  readonly sources: readonly Source[];
}

/** Columns of a row, as SQL. */
interface Columns {
  /** Alias of the table whose rows they are: those that are not given are its own. */
  readonly of: string;
  /** The table, with joins. */
  readonly from: string;
  readonly where: string;
  readonly projectId?: string;
  readonly id?: string;
  readonly name?: string;
  /** Since when it needs a person. */
  readonly since: string;
  /** Code of the last failure. */
  readonly code?: string;
  /** Type of a rotation, or app of a connection: where REST has a path for each. */
  readonly type?: string;
  /** ID that the REST path has before that of the subject. */
  readonly ownerId?: string;
  /** What conditions of rules compare, as jsonb. */
  readonly fields?: string;
}

/** The rows of a source: the one form that all of them have. */
export const rowsOf = ({ of, from, where, ...columns }: Columns): string => `
    select ${of}.organization_id, ${columns.projectId ?? `${of}.project_id`}::uuid as project_id, ${columns.id ?? `${of}.id`} as id,
      ${columns.name ?? `${of}.name`} as name,
      ${columns.since} as since, ${columns.code ?? 'null'}::text as code, ${columns.type ?? 'null'}::text as type,
      ${columns.ownerId ?? 'null'}::uuid as owner_id, ${columns.fields ?? 'null'}::jsonb as fields
    from ${from} where ${where}`;
