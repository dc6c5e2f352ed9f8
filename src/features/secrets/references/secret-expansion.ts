import type { Context } from '../../../kernel/context.js';
import { SealedText } from '../../../kernel/crypto/sealed-text.js';
import type { Sealer } from '../../../kernel/crypto/sealer.js';
import { type BatchLoad, batched } from '../../../kernel/database/batched.js';
import { AppError } from '../../../kernel/errors.js';
import { mapYielding, yieldToEventLoop } from '../../../kernel/event-loop.js';
import type { ProjectAccess } from '../../projects/public.js';
import {
  type ExpandedValue,
  Expansion,
  insertedInto,
  parseReferences,
  type Reference,
  type ResolvedReference,
} from '../core/reference.rules.js';
import type { SecretView } from '../core/secret.view.js';
import { openerFor, openValueOf } from '../core/secret-sealing.js';
import type { Visibility } from '../scope/visibility.rules.js';
import {
  type ImportedRow,
  listImported,
  listReferenced,
  namesOf,
  type ReferencedRow,
  type SecretName,
} from './reference.sql.js';

/** What a list knows besides its rows. */
interface ExpansionOptions {
  readonly visibility: Visibility;
  /** True when the views are earlier versions: references lead to current secrets, also to the secret of the view. */
  readonly isPast?: boolean;
}

/** A value with the location that its own references start from. */
interface Text {
  readonly value: string;
  readonly environment: string;
  readonly path: string;
  /** Written by a rotation: `${` in it is plain text. */
  readonly isLiteral: boolean;
}

/** The target of a reference: a value, or the reason why there is none for this caller. */
type Target = { readonly id: string; readonly text: Text } | Extract<ResolvedReference, { reason: unknown }>;

const MISSING = { reason: 'MISSING' } as const;
const IMPORTED = { reason: 'IMPORTED' } as const;
const FORBIDDEN = { reason: 'FORBIDDEN' } as const;
const UNREADABLE = { reason: 'UNREADABLE' } as const;
const TOO_LARGE = { reason: 'TOO_LARGE' } as const;

/** Result of an expansion. */
export interface ExpandedViews {
  /** By ID, the views that have references. */
  readonly changed: ReadonlyMap<string, SecretView>;
  /** IDs of the secrets whose values were inserted into views of these IDs, at any depth. */
  readonly insertedInto: (ids: Iterable<string>) => ReadonlySet<string>;
}

const UNCHANGED: ExpandedViews = { changed: new Map(), insertedInto: () => new Set() };

/**
 * Views with the references of their values expanded, with values that this caller may read. References mean shared
 * secrets. No statement when all referenced secrets are among the views, otherwise one, which all lists share that
 * request it in the same turn of the event loop: nothing yields before that. One more when some are missing.
 *
 * @param views of one project: their references to each other use them
 */
export async function expandViews(
  ctx: Context,
  project: ProjectAccess,
  views: readonly SecretView[],
  { visibility, isPast = false }: ExpansionOptions,
): Promise<ExpandedViews> {
  const referring = new Map(views.filter(mayRefer).map((view) => [isPast ? pastOf(view) : view.id, view]));
  if (referring.size === 0) return UNCHANGED;
  const texts = new Map([...referring].map(([id, view]) => [id, textOf(view)]));
  const targets = new Map<string, Target>();
  for (const view of views) {
    if (view.type === 'shared' && !isPast) targets.set(nameOf(subjectOf(view)), targetOfView(view, visibility));
  }
  const isUnknown = (name: SecretName) => !targets.has(nameOf(name));
  const { beyond, imported } = await loadBeyond(ctx, project, named(texts.values()).filter(isUnknown));
  const opener = await openerFor(ctx, project, beyond);
  ctx.load?.reserve(beyond.reduce((sum, { valueSealed }) => sum + (valueSealed?.length ?? 0), 0));
  for (const record of beyond) {
    await yieldToEventLoop();
    const name = nameOf(record);
    if (!targets.has(name)) targets.set(name, targetOfRecord(record, visibility, opener));
  }
  for (const record of imported) {
    const source = { ...record, environment: record.sourceEnvironment, path: record.sourcePath };
    if (!targets.has(nameOf(record)) && visibility.describes(source)) targets.set(nameOf(record), IMPORTED);
  }
  for (const target of targets.values()) if ('id' in target) texts.set(target.id, target.text);
  const leadOf = (id: string, reference: Reference): ResolvedReference =>
    targets.get(nameOf(nameIn(texts.get(id) as Text, reference))) ?? MISSING;
  const textAt = (id: string): Text => texts.get(id) as Text;
  const graph = { valueOf: (id: string) => textAt(id).value, leadOf, isLiteral: (id: string) => textAt(id).isLiteral };
  return inserted(ctx, referring, new Expansion(graph));
}

/** Not the ID of a secret: an earlier version does not hide the current one. */
const pastOf = ({ id, version }: SecretView): string => `${id} ${version}`;

const mayRefer = ({ secretValue, isRotatedSecret }: SecretView): boolean =>
  !isRotatedSecret && secretValue?.reveal().includes('${') === true;

const textOf = ({ secretValue, environmentSlug, secretPath, isRotatedSecret }: SecretView): Text => ({
  value: secretValue?.reveal() ?? '',
  environment: environmentSlug,
  path: secretPath,
  isLiteral: isRotatedSecret,
});

const subjectOf = ({ environmentSlug, secretPath, secretKey, tags }: SecretView) => ({
  environment: environmentSlug,
  path: secretPath,
  key: secretKey,
  tags,
});

/** Neither slugs nor paths contain a blank. */
const nameOf = ({ environment, path, key }: SecretName): string => `${environment} ${path} ${key}`;

const nameIn = (from: Text, { environment, path, key }: Reference): SecretName => ({
  environment: environment ?? from.environment,
  path: path ?? from.path,
  key,
});

/** All secrets that these texts reference. */
const named = (texts: Iterable<Text>): SecretName[] =>
  [...texts].flatMap((text) => parseReferences(text.value).references.map((reference) => nameIn(text, reference)));

function targetOfView(view: SecretView, visibility: Visibility): Target {
  if (view.secretValue !== null) return { id: view.id, text: textOf(view) };
  return visibility.readsValue(subjectOf(view)) ? UNREADABLE : FORBIDDEN;
}

function targetOfRecord(record: ReferencedRow, visibility: Visibility, opener: Sealer): Target {
  if (!visibility.describes(record)) return MISSING;
  if (!visibility.readsValue(record)) return FORBIDDEN;
  if (record.valueSealed === null) return TOO_LARGE;
  try {
    const value = openValueOf(opener, record, record.valueSealed).reveal();
    return {
      id: record.id,
      text: { value, environment: record.environment, path: record.path, isLiteral: record.isRotated },
    };
  } catch (error) {
    if (error instanceof AppError && error.code === 'SEALED_VALUE_INVALID') return UNREADABLE;
    throw error;
  }
}

/** What names lead to. */
interface Beyond {
  readonly beyond: readonly ReferencedRow[];
  /** What their folders show by imports. */
  readonly imported: readonly ImportedRow[];
}

/** The secrets of a project that the names lead to, and those that they reference in turn. */
async function loadBeyond(ctx: Context, { projectId }: ProjectAccess, names: readonly SecretName[]): Promise<Beyond> {
  const keys = new Set(names.map(({ environment, path, key }) => JSON.stringify([projectId, environment, path, key])));
  const answers = await Promise.all([...keys].map((key) => batched(ctx, loadReferenced, key)));
  const found = [...new Set(answers)].filter((answer) => answer !== undefined);
  const isOfProject = (record: { readonly projectId: string }): boolean => record.projectId === projectId;
  return {
    beyond: found.flatMap(({ beyond }) => beyond.filter(isOfProject)),
    imported: found.flatMap(({ imported }) => imported.filter(isOfProject)),
  };
}

/** As many as are reported for one value: the reason for others is that they are missing, until these are corrected. */
const MAX_IMPORTED = 100;

/** All names of a batch share one result: the target of one may be referenced by another. */
const loadReferenced: BatchLoad<Beyond> = async (ctx, keys) => {
  const names = keys.map((key) => {
    const [projectId, environment, path, name] = JSON.parse(key) as [string, string, string, string];
    return { projectId, environment, path, key: name };
  });
  const projectIds = names.map(({ projectId }) => projectId);
  const beyond = await listReferenced(ctx, { projectIds, ...namesOf(names) });
  const isFound = new Set(beyond.map((record) => `${record.projectId} ${nameOf(record)}`));
  const missing = names.filter((name) => !isFound.has(`${name.projectId} ${nameOf(name)}`)).slice(0, MAX_IMPORTED);
  const imported =
    missing.length === 0
      ? []
      : await listImported(ctx, { projectIds: missing.map((name) => name.projectId), ...namesOf(missing) });
  return new Map(keys.map((key) => [key, { beyond, imported }]));
};

/**
 * The views with their expanded values, by their own ids.
 *
 * @throws ANSWER_TOO_LARGE, OVERLOADED
 */
async function inserted(
  ctx: Context,
  views: ReadonlyMap<string, SecretView>,
  expansion: Expansion,
): Promise<ExpandedViews> {
  const taken = new Map<string, ExpandedValue>();
  const changed = await mapYielding([...views], ([id, view]): [string, SecretView] => {
    const outcome = expansion.of(id);
    const { value, bytes, issues } = outcome;
    // Before anything reads the value: until then it is only a tree of its parts.
    ctx.load?.add(Math.max(bytes - Buffer.byteLength(view.secretValue?.reveal() ?? ''), 0));
    taken.set(view.id, outcome);
    return [view.id, { ...view, secretValue: new SealedText(value), referenceIssues: issues }];
  });
  return {
    changed: new Map(changed),
    insertedInto: (ids) => insertedInto([...ids].flatMap((id) => taken.get(id) ?? [])),
  };
}
