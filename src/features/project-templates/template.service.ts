import { raw as sql } from '@mikro-orm/core';
import { authorize } from '../../kernel/authz/ability.js';
import type { Context, Transaction } from '../../kernel/context.js';
import { type BatchLoad, batched, batchOfOwned } from '../../kernel/database/batched.js';
import { flush, inTransaction } from '../../kernel/database/in-transaction.js';
import { loadRow, lockRow } from '../../kernel/database/rows.js';
import { AppError } from '../../kernel/errors.js';
import { orderedPageOf } from '../../kernel/list-order.js';
import { type CursorKey, decodeCursor, Page, type PageRequest, rowLimit } from '../../kernel/paging.js';
import { parse, validationFailed } from '../../kernel/validation.js';
import { refuseOtherVersion } from '../../kernel/version.js';
import { PROJECT_KINDS, type ProjectKind } from '../projects/public.js';
import { builtInTemplates, isBuiltInForm, isBuiltInTemplate } from './built-in-templates.js';
import { ProjectTemplate, ProjectTemplateVersion } from './template.entity.js';
import {
  countTemplates,
  findOrganizationAge,
  findOrigins,
  findTemplate,
  findTemplates,
  findVersions,
  listTemplates,
  listVersions,
  type VersionRow,
} from './template.queries.js';
import {
  CreateProjectTemplate,
  ListProjectTemplates,
  OneProjectTemplate,
  type TemplateContent,
  UpdateProjectTemplate,
} from './template.rules.js';
import { canonical, type TemplateView, toContent, toTemplateView } from './template.view.js';
import { authorizeGrants, listsAfter, newLists } from './template-members.js';
import { previewOf, type TemplatePreview } from './template-preview.js';

const CONSTRAINTS = {
  project_template_name_unique: 'PROJECT_TEMPLATE_NAME_TAKEN',
  project_template_organization_id_fkey: 'ORGANIZATION_NOT_FOUND',
} as const;

const READ = 'project-templates:read';
const BUILT_IN = 'built-in';
const OWN = 'own';

/** Where a template is in a list: the built-in ones first, by type, then those of the organization, by name. */
export const templateKey = ({ isBuiltIn, type, name }: TemplateView): CursorKey =>
  isBuiltIn ? [BUILT_IN, type] : [OWN, name];

/**
 * Templates of an organization, which projects are made from. What changes of them does not touch projects that were made before.
 *
 * Every method that takes `raw`, the input of its rules, throws VALIDATION_FAILED, PERMISSION_DENIED and AUDIT_UNAVAILABLE.
 * Source: specification 9 and 10, behaviour 6, decisions 6.
 */
export class TemplateService {
  /**
   * Makes a template.
   *
   * @throws PERMISSION_DENIED also as `listsAfter`; PERMISSION_BOUNDARY as `authorizeGrants`; USER_NOT_FOUND, GROUP_NOT_FOUND,
   *   IDENTITY_NOT_FOUND, ROLE_NOT_FOUND, PROJECT_TEMPLATE_NAME_TAKEN, ORGANIZATION_NOT_FOUND
   */
  create(ctx: Context, raw: unknown): Promise<TemplateView> {
    const { name, description = '', type, ...given } = parse(CreateProjectTemplate, raw);
    authorize(ctx, 'project-templates:create');
    return inTransaction(ctx, async (tx) => {
      const lists = newLists(type);
      const content = { name, description, ...(await listsAfter(tx, lists, given)) };
      authorizeGrants(tx, 'project-templates:create', lists, content);
      const template = tx.em.create(ProjectTemplate, { organizationId: tx.organizationId, type, ...content });
      await flush(tx, CONSTRAINTS);
      await keepVersion(tx, template, content);
      await record(tx, 'project-template:create', template);
      return load(tx, template.id);
    });
  }

  /**
   * Changes a template: a list that is given replaces the one before, null clears it, absent keeps. A change makes a new version.
   *
   * @throws PERMISSION_DENIED also as `listsAfter`; PERMISSION_BOUNDARY as `authorizeGrants`; PROJECT_TEMPLATE_NOT_FOUND,
   *   PROJECT_TEMPLATE_BUILT_IN, CONCURRENT_CHANGE for another `expectedVersion`, USER_NOT_FOUND, GROUP_NOT_FOUND,
   *   IDENTITY_NOT_FOUND, ROLE_NOT_FOUND, ROLE_IN_USE, PROJECT_TEMPLATE_NAME_TAKEN
   */
  update(ctx: Context, raw: unknown): Promise<TemplateView> {
    const { id, expectedVersion, name, description, type, ...changes } = parse(UpdateProjectTemplate, raw);
    authorize(ctx, 'project-templates:edit');
    return inTransaction(ctx, async (tx) => {
      const template = await lockOwn(tx, id);
      const before = await load(tx, template.id);
      refuseOtherVersion(before.version, expectedVersion);
      refuseOtherType(before.type, type);
      const kept = toContent(before);
      const { name: nameBefore, description: descriptionBefore, ...lists } = kept;
      const content = {
        name: name ?? nameBefore,
        description: description ?? descriptionBefore,
        ...(await listsAfter(tx, lists, changes)),
      };
      // Projects are made by the name: under another one nothing was given.
      const given = content.name === nameBefore ? kept : newLists(before.type);
      authorizeGrants(tx, 'project-templates:edit', given, content);
      const changed = changedIn(kept, content);
      if (changed.length > 0) {
        tx.em.assign(template, { ...content, version: template.version + 1, updatedAt: sql('now()') });
        await flush(tx, CONSTRAINTS);
        await keepVersion(tx, template, content);
      }
      await record(tx, 'project-template:update', template, { changed });
      return load(tx, template.id);
    });
  }

  /**
   * Deletes a template; projects that were made from it stay as they are.
   *
   * @returns the template as it was
   * @throws PROJECT_TEMPLATE_NOT_FOUND, PROJECT_TEMPLATE_BUILT_IN
   */
  delete(ctx: Context, raw: unknown): Promise<TemplateView> {
    const { id } = parse(OneProjectTemplate, raw);
    authorize(ctx, 'project-templates:delete');
    return inTransaction(ctx, async (tx) => {
      const template = await lockOwn(tx, id);
      const before = await load(tx, template.id);
      tx.em.remove(template);
      await flush(tx);
      await record(tx, 'project-template:delete', before);
      return before;
    });
  }

  /** One template, built-in ones too. @throws PROJECT_TEMPLATE_NOT_FOUND */
  async get(ctx: Context, raw: unknown): Promise<TemplateView> {
    const { id } = parse(OneProjectTemplate, raw);
    const template = await this.load(ctx, id);
    await ctx.auditTrail.recordRead(ctx, readOf(template));
    return template;
  }

  /** As `get`, as part of another answer. @throws PERMISSION_DENIED, PROJECT_TEMPLATE_NOT_FOUND */
  async load(ctx: Context, id: string): Promise<TemplateView> {
    authorize(ctx, READ);
    const found = isBuiltInForm(id) ? (await this.byIds(ctx, [id.toLowerCase()])).get(id.toLowerCase()) : undefined;
    return (found as TemplateView | undefined) ?? load(ctx, id);
  }

  /** What a project made from a template now would get, and who would be left out. @throws PROJECT_TEMPLATE_NOT_FOUND */
  async preview(ctx: Context, raw: unknown): Promise<TemplatePreview> {
    const { id } = parse(OneProjectTemplate, raw);
    const template = await this.load(ctx, id);
    const preview = await previewOf(ctx, template);
    await ctx.auditTrail.recordRead(ctx, { ...readOf(template), action: 'project-template:preview' });
    return preview;
  }

  /** The built-in templates, one for each type, then those of the organization, by name; or in another order. */
  async list(ctx: Context, raw: unknown): Promise<ListedTemplates> {
    const { type = null, ...request } = parse(ListProjectTemplates, raw);
    authorize(ctx, READ);
    const { organizationId } = ctx;
    const isPlain = request.orderBy == null && request.updatedSince == null;
    const [part, key = null] = isPlain ? positionOf(request) : [];
    const builtIn =
      part === OWN ? [] : (await builtInOf(ctx)).filter((template) => type === null || template.type === type);
    const bounds = { after: part === OWN ? key : null, limit: isPlain ? rowLimit(request) : null };
    const rows = await listTemplates(ctx, { organizationId, type, ...bounds });
    const page = orderedPageOf([...builtIn, ...rows.map(toTemplateView)], request, {
      orderable: (template) => template,
      own: (templates, asked) => new Page(templatesAfter(templates, positionOf(asked)), asked, templateKey),
    });
    await ctx.auditTrail.recordRead(ctx, { action: 'project-template:list', facts: { count: page.nodes.length } });
    return { page, totalCount: () => countOf(ctx, type) };
  }

  /** Templates that answers lead to by their ids. @throws PERMISSION_DENIED */
  readonly byIds: BatchLoad<TemplateView> = async (ctx, ids) => {
    authorize(ctx, READ);
    const derived = ids.some(isBuiltInForm) ? await builtInOf(ctx) : [];
    const own = ids.filter((id) => !isBuiltInForm(id));
    const rows = own.length === 0 ? [] : await findTemplates(ctx, { organizationId: ctx.organizationId, ids: own });
    const known = [...derived.filter(({ id }) => ids.includes(id)), ...rows.map(toTemplateView)];
    return new Map(known.map((template) => [template.id, template]));
  };

  /** Versions of a template that an answer shows, newest first; all templates share one statement. Built-in ones have none. */
  async versionsOf(ctx: Context, template: { readonly id: string }): Promise<readonly VersionRow[]> {
    authorize(ctx, READ);
    return (await batched(ctx, versionsByTemplate, template.id)) ?? [];
  }

  /** Versions that projects were made from, by the ids of these. @throws PERMISSION_DENIED where there is one */
  readonly originsOf: BatchLoad<VersionRow> = async (ctx, projectIds) => {
    const rows = await findOrigins(ctx, { organizationId: ctx.organizationId, projectIds });
    if (rows.length > 0) authorize(ctx, READ);
    return new Map(rows.map(({ projectId, ...row }) => [projectId, row]));
  };

  /** Versions that answers lead to by their ids. @throws PERMISSION_DENIED */
  readonly versionsByIds: BatchLoad<VersionRow> = async (ctx, ids) => {
    authorize(ctx, READ);
    const rows = await findVersions(ctx, { organizationId: ctx.organizationId, ids });
    return new Map(rows.map((row) => [row.id, row]));
  };
}

/** A page of templates, and how many there are in all. */
interface ListedTemplates {
  readonly page: Page<TemplateView>;
  readonly totalCount: () => Promise<number>;
}

/** After which template a list goes on; empty: from the top. @throws VALIDATION_FAILED for a text that is no cursor of such a list */
const positionOf = ({ after }: PageRequest): CursorKey =>
  after == null ? [] : decodeCursor(after, 2, ([part]) => part === BUILT_IN || part === OWN);

/** What follows on a template that may have been deleted meanwhile. */
function templatesAfter(templates: readonly TemplateView[], [part, key = '']: CursorKey): readonly TemplateView[] {
  if (part === undefined) return templates;
  if (part === OWN)
    return templates.filter(
      ({ isBuiltIn, name }) => !isBuiltIn && Buffer.compare(Buffer.from(name), Buffer.from(key)) > 0,
    );
  return templates.slice(templates.findIndex(({ isBuiltIn, type }) => isBuiltIn && type === key) + 1);
}

/** How many templates there are of a type, or of all. Of each, one is built in. */
async function countOf(ctx: Context, type: ProjectKind | null): Promise<number> {
  const counts = (await batched(ctx, countsOfTemplates, ctx.organizationId)) ?? [];
  const wanted = PROJECT_KINDS.filter((kind) => type === null || kind === type);
  return counts.reduce((sum, row) => (type === null || row.type === type ? sum + row.count : sum), wanted.length);
}

const countsOfTemplates = batchOfOwned(
  (ctx, organizationIds) => countTemplates(ctx, { organizationIds }),
  ({ organizationId }) => organizationId,
);

/** What the audit trail says of a template that is shown. */
export const readOf = ({ id }: { readonly id: string }) => ({
  action: 'project-template:get',
  facts: { templateId: id },
});

const versionsByTemplate = batchOfOwned(
  (ctx, templateIds) => listVersions(ctx, { organizationId: ctx.organizationId, templateIds }),
  ({ templateId }) => templateId,
);

async function builtInOf(ctx: Context): Promise<TemplateView[]> {
  const [organization] = await findOrganizationAge(ctx, { id: ctx.organizationId });
  if (organization === undefined) throw new AppError('ORGANIZATION_NOT_FOUND');
  return builtInTemplates(organization);
}

/** A template that is a row. @throws PROJECT_TEMPLATE_NOT_FOUND */
async function load(ctx: Context, id: string): Promise<TemplateView> {
  const { organizationId } = ctx;
  return toTemplateView(await loadRow(ctx, findTemplate, { organizationId, id }, 'PROJECT_TEMPLATE_NOT_FOUND'));
}

/** A template that can change. @throws PROJECT_TEMPLATE_BUILT_IN, PROJECT_TEMPLATE_NOT_FOUND */
async function lockOwn(tx: Transaction, id: string): Promise<ProjectTemplate> {
  const { organizationId } = tx;
  if (isBuiltInTemplate(organizationId, id)) throw new AppError('PROJECT_TEMPLATE_BUILT_IN');
  return lockRow(tx, ProjectTemplate, { id, organizationId }, 'PROJECT_TEMPLATE_NOT_FOUND');
}

/** @throws VALIDATION_FAILED */
function refuseOtherType(type: ProjectKind, given: ProjectKind | undefined): void {
  if (given === undefined || given === type) return;
  throw validationFailed([{ path: 'type', code: 'UNCHANGEABLE', message: 'cannot change' }]);
}

const changedIn = (before: TemplateContent, after: TemplateContent): string[] =>
  (Object.keys(after) as (keyof TemplateContent)[])
    .filter((field) => canonical(before[field]) !== canonical(after[field]))
    .sort();

/** Keeps what a change left, with its actor. */
async function keepVersion(
  tx: Transaction,
  { id, organizationId, version }: Pick<ProjectTemplate, 'id' | 'organizationId' | 'version'>,
  content: TemplateContent,
): Promise<void> {
  tx.em.create(ProjectTemplateVersion, {
    organizationId,
    templateId: id,
    version,
    ...content,
    actorKind: tx.actor.kind,
    actorId: tx.actor.id,
  });
  await flush(tx);
}

const record = (
  tx: Transaction,
  action: string,
  { id, version }: { readonly id: string; readonly version: number },
  facts: Readonly<Record<string, readonly string[]>> = {},
): Promise<void> => tx.auditTrail.recordChange(tx, { action, facts: { templateId: id, version, ...facts } });
