import type { AuditEvent } from '../../../kernel/audit/audit-record.js';
import type { Transaction } from '../../../kernel/context.js';
import { newId } from '../../../kernel/ids.js';
import { openIgnoreValues, Project, type ProjectAccess, ProjectRole, sealIgnoreValues } from '../../projects/public.js';
import { writeContents } from '../../secrets/public.js';
import { Tag } from '../../secrets/tags/public.js';
import type { CopyPlan } from './copy-plan.js';
import { copyMembers, copyPrivileges, copySettings } from './project-copy.sql.js';

/**
 * Fills a new project, which has its environments and its admin, with the planned contents. The number of statements
 * depends only on the batches of secrets.
 *
 * @returns details for the audit record
 * @throws CONCURRENT_CHANGE, SEALED_VALUE_INVALID
 */
export async function writeCopy(
  tx: Transaction,
  source: ProjectAccess,
  projectId: string,
  plan: CopyPlan,
): Promise<readonly AuditEvent[]> {
  const { organizationId, actor } = tx;
  const { roles, members, privilegeIds, tags, contents } = plan;
  const copy = { sourceId: source.projectId, projectId };
  if (plan.settings) await copySettings(tx, { ...copy, ...(await resealedIgnoreValues(tx, copy, plan)) });
  if (roles.length > 0)
    await tx.em.insertMany(
      ProjectRole,
      roles.map(({ slug, name, description, permissions }) => ({
        ...{ id: newId(), organizationId, projectId },
        ...{ slug, name, description, permissions },
      })),
    );
  const [newMemberIds, newPrivilegeIds] = [newIds(members), newIds(privilegeIds)];
  const tagIds = new Map(tags.map(({ id }) => [id, newId()]));
  if (tags.length > 0)
    await tx.em.insertMany(
      Tag,
      tags.map(({ id, slug, color }) => ({ id: tagIds.get(id) as string, organizationId, projectId, slug, color })),
    );
  const ids = members.map(({ id }) => id);
  if (ids.length > 0) await copyMembers(tx, { projectId, ids, newIds: newMemberIds });
  if (privilegeIds.length > 0) await copyPrivileges(tx, { projectId, ids: privilegeIds, newIds: newPrivilegeIds });
  const target = {
    organizationId,
    projectId,
    enforceEncryptedSecretMetadata: plan.settings && source.enforceEncryptedSecretMetadata,
    tagIds,
    userIds: new Set([actor, ...members.map(({ kind, memberId: id }) => ({ kind, id }))].flatMap(userIdOf)),
  };
  const { events, disclosed } = await writeContents(tx, source, target, contents);
  const facts = { copyId: projectId, values: plan.contents.secrets.filter(({ withValue }) => withValue).length };
  return [...events, { action: 'project:copy', projectId: source.projectId, facts, disclosed }];
}

/** As many as these, in order: rows created at the same moment are evaluated in the order of their IDs. */
const newIds = (rows: readonly unknown[]): string[] => rows.map(newId).sort();

const userIdOf = ({ kind, id }: { readonly kind: string; readonly id: string }): string[] =>
  kind === 'user' ? [id] : [];

const IGNORE_VALUES = ['secretDetectionIgnoreValuesSealed', 'secretDetectionIgnoreValuesVersion'] as const;

/** The values that leak detection ignores, sealed for the new project. */
async function resealedIgnoreValues(
  tx: Transaction,
  { sourceId, projectId }: { readonly sourceId: string; readonly projectId: string },
  { ignoreValues }: CopyPlan,
): Promise<{ readonly ignoreValuesSealed: Buffer | null; readonly version: number }> {
  const source = ignoreValues ? await tx.em.findOne(Project, { id: sourceId }, { fields: IGNORE_VALUES }) : null;
  const sealed = source?.secretDetectionIgnoreValuesSealed ?? null;
  if (source === null || sealed === null) return { ignoreValuesSealed: null, version: 0 };
  const place = { projectId: sourceId, version: source.secretDetectionIgnoreValuesVersion };
  const values = await openIgnoreValues(tx, place, sealed);
  const version = 1;
  return { ignoreValuesSealed: await sealIgnoreValues(tx, { projectId, version }, values), version };
}
