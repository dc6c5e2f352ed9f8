import { raw as sql } from '@mikro-orm/core';
import { authorize } from '../../../kernel/authz/ability.js';
import { canonicalJson } from '../../../kernel/canonical-json.js';
import type { Context, Transaction } from '../../../kernel/context.js';
import { type BatchLoad, batched, batchOfOwned } from '../../../kernel/database/batched.js';
import { emOf } from '../../../kernel/database/database.js';
import { flush, inTransaction } from '../../../kernel/database/in-transaction.js';
import { loadRow, lockRow } from '../../../kernel/database/rows.js';
import { AppError } from '../../../kernel/errors.js';
import { orderedPageOf } from '../../../kernel/list-order.js';
import { type CursorKey, decodeCursor, Page, type PageRequest, rowLimit } from '../../../kernel/paging.js';
import { parse, validationFailed } from '../../../kernel/validation.js';
import { refuseOtherVersion } from '../../../kernel/value-rules.js';
import { Organization } from '../../identity/organizations/public.js';
import { PROJECT_KINDS, type ProjectKind } from '../../projects/public.js';
import { builtInTemplates, isBuiltInForm, isBuiltInTemplate } from './built-in-templates.js';
import { ProjectTemplate, ProjectTemplateVersion } from './template.entity.js';
import {
  findOrigins,
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
import { type TemplateView, toContent, toTemplateView } from './template.view.js';
import { authorizeGrants, defaultLists, mergeLists } from './template-members.js';
import { previewOf, type TemplatePreview } from './template-preview.js';

const CONSTRAINTS = {
  project_template_name_unique: 'PROJECT_TEMPLATE_NAME_TAKEN',
  project_template_organization_id_fkey: 'ORGANIZATION_NOT_FOUND',
} as const;

const READ = 'project-templates:read';
const BUILT_IN = 'built-in';
const OWN = 'own';

/** Position in a list of templates: built-in ones first, by type, then those of the organization, by name. */
const templateKey = ({ isBuiltIn, type, name }: TemplateView): CursorKey =>
  isBuiltIn ? [BUILT_IN, type] : [OWN, name];

/**
 * Templates of an organization, which projects are created from. Changes do not affect existing projects.
 *
 * Every method that takes `raw`, its unvalidated input, throws VALIDATION_FAILED, PERMISSION_DENIED and AUDIT_UNAVAILABLE.
 */
export class TemplateService {
  /**
   * Creates a template.
   *
   * @throws PERMISSION_DENIED also as `mergeLists`; PERMISSION_BOUNDARY as `authorizeGrants`; USER_NOT_FOUND, GROUP_NOT_FOUND,
   *   IDENTITY_NOT_FOUND, ROLE_NOT_FOUND, PROJECT_TEMPLATE_NAME_TAKEN, ORGANIZATION_NOT_FOUND
   */
  create(ctx: Context, raw: unknown): Promise<TemplateView> {
    const { name, description = '', type, ...given } = parse(CreateProjectTemplate, raw);
    authorize(ctx, 'project-templates:create');
    return inTransaction(ctx, async (tx) => {
      const lists = defaultLists(type);
      const content = { name, description, ...(await mergeLists(tx, lists, given)) };
      authorizeGrants(tx, 'project-templates:create', lists, content);
      const template = tx.em.create(ProjectTemplate, { organizationId: tx.organizationId, type, ...content });
      await flush(tx, CONSTRAINTS);
      await keepVersion(tx, template, content);
      await record(tx, 'project-template:create', template);
      return loadStored(tx, template.id);
    });
  }

  /**
   * Updates a template: a given list replaces the current one, null clears it, absent keeps it. Every change creates a version.
   *
   * @throws PERMISSION_DENIED also as `mergeLists`; PERMISSION_BOUNDARY as `authorizeGrants`; PROJECT_TEMPLATE_NOT_FOUND,
   *   PROJECT_TEMPLATE_BUILT_IN, CONCURRENT_CHANGE if `expectedVersion` differs, USER_NOT_FOUND, GROUP_NOT_FOUND,
   *   IDENTITY_NOT_FOUND, ROLE_NOT_FOUND, ROLE_IN_USE, PROJECT_TEMPLATE_NAME_TAKEN
   * Source: operation 10 of the specification.
   */
  update(ctx: Context, raw: unknown): Promise<TemplateView> {
    const { id, expectedVersion, name, description, type, ...changes } = parse(UpdateProjectTemplate, raw);
    authorize(ctx, 'project-templates:edit');
    return inTransaction(ctx, async (tx) => {
      const template = await lockOwn(tx, id);
      const before = await loadStored(tx, template.id);
      refuseOtherVersion(before.version, expectedVersion);
      refuseOtherType(before.type, type);
      const kept = toContent(before);
      const { name: nameBefore, description: descriptionBefore, ...lists } = kept;
      const content = {
        name: name ?? nameBefore,
        description: description ?? descriptionBefore,
        ...(await mergeLists(tx, lists, changes)),
      };
      // Projects refer to templates by name: under the new name nothing was granted before.
      const given = content.name === nameBefore ? kept : defaultLists(before.type);
      authorizeGrants(tx, 'project-templates:edit', given, content);
      const changed = changedIn(kept, content);
      if (changed.length > 0) {
        tx.em.assign(template, { ...content, version: template.version + 1, updatedAt: sql('now()') });
        await flush(tx, CONSTRAINTS);
        await keepVersion(tx, template, content);
      }
      await record(tx, 'project-template:update', template, { changed });
      return loadStored(tx, template.id);
    });
  }

  /**
   * Deletes a template. Projects that were created from it do not change.
   *
   * @returns the deleted template
   * @throws PROJECT_TEMPLATE_NOT_FOUND, PROJECT_TEMPLATE_BUILT_IN
   */
  delete(ctx: Context, raw: unknown): Promise<TemplateView> {
    const { id } = parse(OneProjectTemplate, raw);
    authorize(ctx, 'project-templates:delete');
    return inTransaction(ctx, async (tx) => {
      const template = await lockOwn(tx, id);
      const before = await loadStored(tx, template.id);
      tx.em.remove(template);
      await flush(tx);
      await record(tx, 'project-template:delete', before);
      return before;
    });
  }

  /** Returns one template, built-in or custom. @throws PROJECT_TEMPLATE_NOT_FOUND */
  async get(ctx: Context, raw: unknown): Promise<TemplateView> {
    const { id } = parse(OneProjectTemplate, raw);
    const template = await this.load(ctx, id);
    await ctx.auditTrail.recordRead(ctx, auditOfRead(template));
    return template;
  }

  /** Like `get`, nested in a response. @throws PERMISSION_DENIED, PROJECT_TEMPLATE_NOT_FOUND */
  async load(ctx: Context, id: string): Promise<TemplateView> {
    authorize(ctx, READ);
    const found = isBuiltInForm(id) ? (await this.byIds(ctx, [id.toLowerCase()])).get(id.toLowerCase()) : undefined;
    return (found as TemplateView | undefined) ?? loadStored(ctx, id);
  }

  /** Previews a project created from a template now. @throws PROJECT_TEMPLATE_NOT_FOUND */
  async preview(ctx: Context, raw: unknown): Promise<TemplatePreview> {
    const { id } = parse(OneProjectTemplate, raw);
    const template = await this.load(ctx, id);
    const preview = await previewOf(ctx, template);
    await ctx.auditTrail.recordRead(ctx, { ...auditOfRead(template), action: 'project-template:preview' });
    return preview;
  }

  /**
   * Lists the built-in template of each type, then those of the organization by name; or in another order.
   *
   * Source: operation 9 of the specification.
   */
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

  /** Templates by ID that a response links to. @throws PERMISSION_DENIED */
  readonly byIds: BatchLoad<TemplateView> = async (ctx, ids) => {
    authorize(ctx, READ);
    const derived = ids.some(isBuiltInForm) ? await builtInOf(ctx) : [];
    const own = ids.filter((id) => !isBuiltInForm(id));
    const rows = own.length === 0 ? [] : await findTemplates(ctx, { organizationId: ctx.organizationId, ids: own });
    const known = [...derived.filter(({ id }) => ids.includes(id)), ...rows.map(toTemplateView)];
    return new Map(known.map((template) => [template.id, template]));
  };

  /** Versions of a template nested in a response, newest first; all templates share one statement. Built-in ones have none. */
  async versionsOf(ctx: Context, template: { readonly id: string }): Promise<readonly VersionRow[]> {
    authorize(ctx, READ);
    return (await batched(ctx, versionsByTemplate, template.id)) ?? [];
  }

  /** Versions that projects were created from, by project ID. @throws PERMISSION_DENIED if there is one */
  readonly originsOf: BatchLoad<VersionRow> = async (ctx, projectIds) => {
    const rows = await findOrigins(ctx, { organizationId: ctx.organizationId, projectIds });
    if (rows.length > 0) authorize(ctx, READ);
    return new Map(rows.map(({ projectId, ...row }) => [projectId, row]));
  };

  /** Versions by ID that a response links to. @throws PERMISSION_DENIED */
  readonly versionsByIds: BatchLoad<VersionRow> = async (ctx, ids) => {
    authorize(ctx, READ);
    const rows = await findVersions(ctx, { organizationId: ctx.organizationId, ids });
    return new Map(rows.map((row) => [row.id, row]));
  };
}

/** One page of templates and the total count. */
interface ListedTemplates {
  readonly page: Page<TemplateView>;
  readonly totalCount: () => Promise<number>;
}

/** The position after which a page starts; empty: the top. @throws VALIDATION_FAILED if the cursor is not of this list */
const positionOf = ({ after }: PageRequest): CursorKey => (after == null ? [] : decodeCursor(after, 2));

/** The templates after a position; the template at the position may have been deleted. */
function templatesAfter(templates: readonly TemplateView[], [part, key = '']: CursorKey): readonly TemplateView[] {
  if (part === undefined) return templates;
  if (part === OWN)
    return templates.filter(
      ({ isBuiltIn, name }) => !isBuiltIn && Buffer.compare(Buffer.from(name), Buffer.from(key)) > 0,
    );
  return templates.slice(templates.findIndex(({ isBuiltIn, type }) => isBuiltIn && type === key) + 1);
}

/** Number of templates of a type, or of all types, including the built-in one of each. */
async function countOf(ctx: Context, type: ProjectKind | null): Promise<number> {
  const counts = await batched(ctx, countsOfTypes, '');
  const wanted: readonly ProjectKind[] = type === null ? PROJECT_KINDS : [type];
  return wanted.reduce<number>((sum, kind) => sum + 1 + (counts?.[kind] ?? 0), 0);
}

/** How many templates of each type the organization has. Every request of a count is the same batch. */
const countsOfTypes: BatchLoad<Readonly<Record<string, number>>> = async (ctx) => {
  const { organizationId } = ctx;
  return new Map([['', await emOf(ctx).countBy(ProjectTemplate, 'type', { where: { organizationId } })]]);
};

/** The audit record of reading a template. */
export const auditOfRead = ({ id }: { readonly id: string }) => ({
  action: 'project-template:get',
  facts: { templateId: id },
});

const versionsByTemplate = batchOfOwned(
  (ctx, templateIds) => listVersions(ctx, { organizationId: ctx.organizationId, templateIds }),
  ({ templateId }) => templateId,
);

async function builtInOf(ctx: Context): Promise<TemplateView[]> {
  // As old as their organization.
  const age = { fields: ['createdAt'] } as const;
  const organization = await emOf(ctx).findOne(Organization, { id: ctx.organizationId }, age);
  if (organization === null) throw new AppError('ORGANIZATION_NOT_FOUND');
  return builtInTemplates(organization);
}

/** A template that has a row. @throws PROJECT_TEMPLATE_NOT_FOUND */
async function loadStored(ctx: Context, id: string): Promise<TemplateView> {
  const { organizationId } = ctx;
  return toTemplateView(await loadRow(ctx, findTemplates, { organizationId, ids: [id] }, 'PROJECT_TEMPLATE_NOT_FOUND'));
}

/** A template that can be changed. @throws PROJECT_TEMPLATE_BUILT_IN, PROJECT_TEMPLATE_NOT_FOUND */
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
    .filter((field) => canonicalJson(before[field]) !== canonicalJson(after[field]))
    .sort();

/** Stores a version with its actor. */
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
