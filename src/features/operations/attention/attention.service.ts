import { type Ability, can, canAlways, canWithout } from '../../../kernel/authz/ability.js';
import type { Context } from '../../../kernel/context.js';
import { SealedCursors } from '../../../kernel/graphql/sealed-cursors.js';
import { NO_ID } from '../../../kernel/ids.js';
import { type CursorKey, SearchPage } from '../../../kernel/paging.js';
import { parse } from '../../../kernel/validation.js';
import { fieldOf, type Route } from '../../../rest/route.js';
import type { ProjectAccess, ProjectReader } from '../../projects/public.js';
import { ListAttention } from './attention.rules.js';
import { type ItemRow, listItems } from './attention.sql.js';
import type { AttentionItemType, AttentionOperationType } from './attention.type.js';
import { type Help, numberOf, READERS, type Reader, type Right } from './kinds/kind.sql.js';
import { KINDS } from './kinds/kinds.js';

/** Rows that a page looks at, if rules of the caller have conditions. */
const MOST_SCANNED = 1_000;
/** Before the first item. */
const START: CursorKey = ['0', '-infinity', '', NO_ID];

/** What needs a person, as the caller may know of it. */
export class AttentionService {
  constructor(
    private readonly projects: ProjectReader,
    private readonly operations: Operations,
  ) {}

  /**
   * What needs a person in the organization, the most urgent first: of each resource only what the caller may read. Whoever may read
   * nothing gets an empty page.
   *
   * @param raw `{ projectId?, kinds?, first?, after? }`
   * @throws VALIDATION_FAILED, PROJECT_NOT_FOUND, AUDIT_UNAVAILABLE
   */
  async list(ctx: Context, raw: unknown): Promise<SearchPage<AttentionItemType>> {
    const { projectId = null, kinds = null, ...request } = parse(ListAttention, raw);
    const cursors = new SealedCursors(ctx, 'attention', { projectId, kinds });
    const [urgency, time, kind, id] = cursors.read(request.after, START.length) ?? START;
    const accesses = await this.projects.listAccessible(ctx, projectId === null ? null : [projectId]);
    const only = projectId === null ? null : (accesses[0] as ProjectAccess).projectId;
    const caller = new Caller(ctx, accesses);
    const limit = Math.max(request.first + 1, caller.hasConditions ? MOST_SCANNED : 0);
    const rows = await listItems(ctx, {
      ...caller.reach,
      ...{ organizationId: ctx.organizationId, projectId: only, kinds },
      ...{ urgency: Number(urgency), time: time as string, kind: kind as string, id: id as string, limit },
    });
    const readable = rows.filter((row) => caller.may(READERS[row.reader], row));
    const last = rows.at(-1);
    const isCut = caller.hasConditions && rows.length === limit && readable.length <= request.first;
    const page = new SearchPage(readable.slice(0, request.first + 1), request, keyOf, {
      cursors,
      stoppedAt: isCut && last !== undefined ? keyOf(last) : null,
    });
    await ctx.auditTrail.recordRead(ctx, {
      action: 'attention:list',
      projectId: only,
      facts: { count: page.nodes.length },
    });
    return page.map(
      (row) => this.#shown(caller, row),
      ({ kind: shown, since, subjectId }) => keyOf({ kind: shown, since, id: subjectId }),
    );
  }

  #shown(caller: Caller, row: ItemRow): AttentionItemType {
    const { kind, since, code, subject, id, name, projectId } = row;
    const { urgency, message, sources } = KINDS[kind];
    const helps = sources.find((source) => source.subject === subject && source.reader === row.reader)?.helps ?? [];
    return {
      ...{ kind, urgency, since, message, errorCode: code, projectId },
      ...{ subjectType: subject, subjectId: id, subjectName: name },
      operations: helps
        .filter(({ right }) => caller.may(ofPlace(right, row), row))
        .flatMap((help) => this.operations.find(help, row) ?? []),
    };
  }
}

const keyOf = ({ since, kind, id }: Pick<ItemRow, 'since' | 'kind' | 'id'>): CursorKey => [
  String(numberOf(KINDS[kind].urgency)),
  since.toISOString(),
  kind,
  id,
];

/** Changes in a project need the right there, where the subject has one: that of the organization is for what has no project. */
const ofPlace = ({ project, organization }: Right, { projectId }: ItemRow): Right =>
  projectId !== null && project !== undefined
    ? { project }
    : { ...(organization === undefined ? {} : { organization }) };

/** What a caller may do in its organization and its projects. */
class Caller {
  readonly #projects: ReadonlyMap<string, Ability>;

  constructor(
    private readonly ctx: Context,
    accesses: readonly ProjectAccess[],
  ) {
    this.#projects = new Map(accesses.map(({ projectId, ability }) => [projectId, ability]));
  }

  /** Where it may read what, as the statement takes it. */
  get reach() {
    const inOrganization = (reader: Reader): boolean => {
      const { organization }: Right = READERS[reader];
      return organization !== undefined && can(this.ctx.ability, organization);
    };
    return {
      ...{ rotations: this.#listIn('rotations'), connections: this.#listIn('connections') },
      ...{ certificates: this.#listIn('certificates'), authorities: this.#listIn('authorities') },
      ...{ alerts: this.#listIn('alerts'), webhooks: this.#listIn('webhooks') },
      identities: this.#listIn('identities'),
      allIdentities: inOrganization('organizationIdentities'),
      ...{ allConnections: inOrganization('connections'), allSinks: inOrganization('sinks') },
      ...{ allKeys: inOrganization('keys'), allJobs: inOrganization('jobs') },
      allOfInstallation: this.ctx.actor.isInstallationAdmin && inOrganization('jobs'),
    };
  }

  /** Whether there may be rows in its reach that it may not read. */
  get hasConditions(): boolean {
    return (Object.values(READERS) as Right[]).some(
      ({ project, organization }) =>
        (organization !== undefined && isConditional(this.ctx.ability, organization)) ||
        (project !== undefined && [...this.#projects.values()].some((ability) => isConditional(ability, project))),
    );
  }

  /** Whether it may do this to the subject of a row. */
  may({ project, organization }: Right, { projectId, fields }: ItemRow): boolean {
    const ability = projectId === null ? undefined : this.#projects.get(projectId);
    return (
      (organization !== undefined && canAbout(this.ctx.ability, organization, fields)) ||
      (project !== undefined && ability !== undefined && canAbout(ability, project, fields))
    );
  }

  #listIn(reader: Reader): string[] {
    const { project }: Right = READERS[reader];
    if (project === undefined) return [];
    return [...this.#projects].filter(([, ability]) => can(ability, project)).map(([id]) => id);
  }
}

/** Whether an ability allows an action on the subject of a row. Fields that are null are those of something deleted: they are not known. */
function canAbout(ability: Ability, action: NonNullable<Right['project']>, fields: ItemRow['fields']): boolean {
  if (fields === null) return can(ability, action);
  const entries = Object.entries(fields);
  const known = entries.filter((entry): entry is [string, string] => entry[1] !== null);
  const unknown = entries.flatMap(([field, value]) => (value === null ? [field] : []));
  return canWithout(ability, action, Object.fromEntries(known), unknown);
}

const isConditional = (ability: Ability, action: NonNullable<Right['project']>): boolean =>
  can(ability, action) && !canAlways(ability, action);

/** A subject of an operation. */
interface HelpSubject {
  readonly id: string;
  readonly projectId: string | null;
  readonly ownerId: string | null;
  readonly type: string | null;
}

/** The operations of both interfaces, by the field that answers them. */
export class Operations {
  readonly #routes: ReadonlyMap<string, readonly Route[]>;

  constructor(routes: readonly Route[]) {
    this.#routes = Map.groupBy(
      routes.filter(({ deprecated }) => deprecated !== true),
      fieldOf,
    );
  }

  /** The operation that helps a subject; undefined if it does not exist for subjects of its type. */
  find({ field, input }: Help, subject: HelpSubject): AttentionOperationType | undefined {
    const isOfType = ({ path }: Route) =>
      input !== undefined || subject.type === null || path.split('/').includes(subject.type);
    const route = this.#routes.get(field)?.find(isOfType);
    if (route === undefined) return undefined;
    const inputValue =
      (input === 'attemptId' ? subject.ownerId : input === 'projectId' ? subject.projectId : null) ?? subject.id;
    const httpPath = pathOf(route.path, { ...subject, id: inputValue });
    return {
      ...{ mutation: field, inputField: input ?? 'id', inputValue },
      ...{ httpMethod: route.method, httpPath, summary: route.summary },
    };
  }
}

/** The path of a subject, whose ID is the last of its parameters. */
function pathOf(path: string, { id, projectId, ownerId }: HelpSubject): string {
  const last = path.lastIndexOf('{');
  return path.replace(/\{(\w+)\}/g, (_, name: string, at: number) => {
    if (at === last) return id;
    return (name === 'projectId' ? projectId : ownerId) ?? '';
  });
}
