import { authorize, can } from '../../../kernel/authz/ability.js';
import type { Context, Transaction } from '../../../kernel/context.js';
import { type BatchLoad, batched, batchOfLists, listKey } from '../../../kernel/database/batched.js';
import { flush, inTransaction } from '../../../kernel/database/in-transaction.js';
import { countIn } from '../../../kernel/database/tables.js';
import { AppError, type ErrorCode, type ErrorDetail } from '../../../kernel/errors.js';
import { isId, newId } from '../../../kernel/ids.js';
import { type CountedConnectionOf, counted, type NameBounds, namePageBounds, Page } from '../../../kernel/paging.js';
import { parse } from '../../../kernel/validation.js';
import {
  keepLoggedInAdmins,
  lockAdminsOfGroup,
  protectInstallationAdmin,
} from '../../identity/organizations/public.js';
import type { ProjectReader } from '../../projects/public.js';
import {
  countMembers,
  findMembers,
  findNamedMembers,
  type GroupMemberRow,
  listCandidates,
  listMembers,
} from './group.queries.js';
import { loadGroup, lockGroup, mayRead } from './group.reader.js';
import { cursorKeyOf } from './group.service.js';
import { authorizeRightsOfGroup } from './group-boundary.js';
import { GroupMember } from './group-member.entity.js';
import { AddMembers, ListMembers, ManyMembers, MemberPage, OneMember } from './group-member.rules.js';

type Kind = GroupMemberRow['memberKind'];

/** Who was added to a group, and who was in it before. */
interface AddedMembers {
  readonly members: readonly GroupMemberRow[];
  readonly existing: readonly GroupMemberRow[];
}

/** Somebody as the caller named it, and where in the input. */
interface NamedMember {
  readonly path: string;
  readonly kind: Kind;
  readonly by: 'id' | 'name';
  readonly text: string;
}

const ADD = { user: 'groups:add-members', identity: 'groups:add-identities' } as const;
const REMOVE = { user: 'groups:remove-members', identity: 'groups:remove-identities' } as const;
const READ = { user: 'member:read', identity: 'identity:read' } as const;
const NOT_FOUND = { user: 'USER_NOT_FOUND', identity: 'IDENTITY_NOT_FOUND' } as const;

const CONSTRAINTS = {
  group_member_user_unique: 'ALREADY_A_MEMBER',
  group_member_identity_unique: 'ALREADY_A_MEMBER',
  group_member_user_fk: 'USER_NOT_FOUND',
  group_member_identity_fk: 'IDENTITY_NOT_FOUND',
  group_member_group_id_fkey: 'GROUP_NOT_FOUND',
} as const;

/**
 * Who is in a group: users and machine identities that are members of the organization which owns the group.
 *
 * Every method that takes `raw`, the input of its rules, throws VALIDATION_FAILED, PERMISSION_DENIED, GROUP_NOT_FOUND and
 * AUDIT_UNAVAILABLE.
 */
export class GroupMemberService {
  constructor(private readonly projects: ProjectReader) {}

  /** Takes one into a group. @throws as `addMany` */
  async add(ctx: Context, raw: unknown): Promise<GroupMemberRow> {
    const { groupId, ...who } = parse(OneMember, raw);
    const { members } = await this.#add(ctx, groupId, [oneOf(who)]);
    return members[0] as GroupMemberRow;
  }

  /** One member of a group. @throws MEMBERSHIP_NOT_FOUND */
  async get(ctx: Context, raw: unknown): Promise<GroupMemberRow> {
    const { groupId, ...who } = parse(OneMember, raw);
    const named = oneOf(who);
    authorize(ctx, READ[named.kind]);
    const group = await loadGroup(ctx, groupId, 'groups:read');
    const [member] = await findNamedMembers(ctx, { groupId: group.id, ...textsOf([named]) });
    if (member === undefined) throw new AppError('MEMBERSHIP_NOT_FOUND');
    const { memberKind, memberId } = member;
    await ctx.auditTrail.recordRead(ctx, {
      action: 'group-member:get',
      facts: { groupId: group.id, memberKind, memberId },
    });
    return member;
  }

  /**
   * Takes users and machine identities into a group, all or nothing. With `return-existing`, those who are in it already are returned if
   * the caller may read them.
   *
   * @throws USER_NOT_FOUND, IDENTITY_NOT_FOUND and ALREADY_A_MEMBER, each naming the places of all; PERMISSION_BOUNDARY unless
   *   the caller has itself what the group gives and what it forbids; LAST_ADMIN
   */
  async addMany(ctx: Context, raw: unknown): Promise<AddedMembers> {
    const { groupId, onConflict, ...who } = parse(AddMembers, raw);
    return this.#add(ctx, groupId, allOf(who), onConflict === 'return-existing');
  }

  /** Takes one out of a group. @throws as `removeMany` */
  async remove(ctx: Context, raw: unknown): Promise<GroupMemberRow> {
    const { groupId, ...who } = parse(OneMember, raw);
    const [member] = await this.#remove(ctx, groupId, [oneOf(who)]);
    return member as GroupMemberRow;
  }

  /**
   * Takes users and machine identities out of a group, all or nothing.
   *
   * @throws MEMBERSHIP_NOT_FOUND, naming the places of all; PERMISSION_BOUNDARY unless the caller has itself what the group gives
   *   and what it forbids
   */
  async removeMany(ctx: Context, raw: unknown): Promise<readonly GroupMemberRow[]> {
    const { groupId, ...who } = parse(ManyMembers, raw);
    return this.#remove(ctx, groupId, allOf(who));
  }

  /** The members of a group, by name, then id: users if the caller may read members, identities if it may read these. */
  async list(ctx: Context, raw: unknown): Promise<CountedConnectionOf<GroupMemberRow>> {
    const { groupId, memberKind, ...request } = parse(ListMembers, raw);
    const bounds = namePageBounds(request);
    authorize(ctx, 'groups:read');
    const kinds = readableKinds(ctx, memberKind);
    const group = await loadGroup(ctx, groupId, 'groups:read');
    const rows = await batched(ctx, pagesOfMembers, listKey(group.id, { kinds, ...bounds }));
    const page = new Page(rows ?? [], request, cursorKeyOf);
    await recordList(ctx, group.id, page.nodes.length);
    return counted(page, () => countOf(ctx, group.id, kinds));
  }

  /**
   * The members of a group that is part of a larger answer, by name, then id; pages of all groups share one statement.
   *
   * @param raw `{ first?, after? }`
   * @throws PERMISSION_DENIED, VALIDATION_FAILED
   */
  async membersOf(ctx: Context, groupId: string, raw: unknown): Promise<CountedConnectionOf<GroupMemberRow>> {
    const request = parse(MemberPage, raw);
    const kinds = readableKinds(ctx, null);
    const rows = await batched(ctx, pagesOfMembers, listKey(groupId, { kinds, ...namePageBounds(request) }));
    return counted(new Page(rows ?? [], request, cursorKeyOf), () => countOf(ctx, groupId, kinds));
  }

  async #add(ctx: Context, groupId: string, named: readonly NamedMember[], isAgain = false): Promise<AddedMembers> {
    const actions = actionsOn(named, ADD);
    for (const action of actions) authorize(ctx, action);
    return inTransaction(ctx, async (tx) => {
      const { organizationId, rootOrganizationId } = tx;
      for (const action of actions) await loadGroup(tx, groupId, action);
      // Organizations before groups, as everywhere; again for one that the group was linked to meanwhile.
      await lockAdminsOfGroup(tx, groupId);
      const { group, row } = await lockGroup(tx, groupId, actions[0]);
      const admins = await lockAdminsOfGroup(tx, group.id);
      await authorizeRightsOfGroup(tx, this.projects, { groupId: group.id, action: actions[0] });
      const where = { groupId: group.id, organizationId, rootOrganizationId };
      const known = await listCandidates(tx, { ...where, ...textsOf(named) });
      for (const candidate of known) protectInstallationAdmin(tx, candidate);
      refuse(
        named,
        (one) => known.some((candidate) => isNamed(one, { ...candidate, memberId: candidate.id })),
        ({ kind }) => NOT_FOUND[kind],
      );
      const isReturned = ({ kind }: NamedMember) => isAgain && mayRead(tx, row.slug) && can(tx.ability, READ[kind]);
      refuse(
        named,
        (one) => isReturned(one) || !known.some((it) => it.isMember && isNamed(one, { ...it, memberId: it.id })),
        () => 'ALREADY_A_MEMBER',
      );
      const existing = await membersAmong(tx, group.id, known);
      const made = known
        .filter(({ isMember }) => !isMember)
        .map(({ memberKind, id }) =>
          tx.em.create(GroupMember, {
            id: newId(),
            organizationId,
            groupId: group.id,
            userId: memberKind === 'user' ? id : null,
            identityId: memberKind === 'identity' ? id : null,
          }),
        );
      await flush(tx, CONSTRAINTS);
      await keepLoggedInAdmins(tx, admins);
      const members = await findMembers(tx, { organizationId, ids: made.map(({ id }) => id) });
      if (members.length > 0) await record(tx, 'group-member:add', members);
      if (existing.length > 0) await recordList(tx, group.id, existing.length);
      return { members, existing };
    });
  }

  async #remove(ctx: Context, groupId: string, named: readonly NamedMember[]): Promise<readonly GroupMemberRow[]> {
    const actions = actionsOn(named, REMOVE);
    for (const action of actions) authorize(ctx, action);
    return inTransaction(ctx, async (tx) => {
      for (const action of actions) await loadGroup(tx, groupId, action);
      const { group } = await lockGroup(tx, groupId, actions[0]);
      await authorizeRightsOfGroup(tx, this.projects, { groupId: group.id, action: actions[0] });
      const members = await findNamedMembers(tx, { groupId: group.id, ...textsOf(named) });
      refuse(
        named,
        (one) => members.some((member) => isNamed(one, member)),
        () => 'MEMBERSHIP_NOT_FOUND',
      );
      const removed = await tx.em.nativeDelete(GroupMember, { id: { $in: members.map(({ id }) => id) } });
      // Gone at the same moment, by leaving the organization.
      if (removed < members.length) throw new AppError('MEMBERSHIP_NOT_FOUND');
      await record(tx, 'group-member:remove', members);
      return members;
    });
  }
}

interface Lists {
  readonly userIds: readonly string[];
  readonly usernames: readonly string[];
  readonly identityIds: readonly string[];
}

const oneOf = ({ userId, identityId }: { userId?: string | null; identityId?: string | null }): NamedMember =>
  userId == null
    ? { path: 'identityId', kind: 'identity', by: 'id', text: (identityId ?? '').toLowerCase() }
    : { path: 'userId', kind: 'user', by: 'id', text: userId.toLowerCase() };

function allOf(lists: Lists): NamedMember[] {
  const from = (list: keyof Lists, kind: Kind, by: NamedMember['by']): NamedMember[] =>
    lists[list].map((text, at) => ({ path: `${list}[${at}]`, kind, by, text: text.toLowerCase() }));
  return [
    ...from('userIds', 'user', 'id'),
    ...from('usernames', 'user', 'name'),
    ...from('identityIds', 'identity', 'id'),
  ];
}

const actionsOn = <A extends string>(named: readonly NamedMember[], of: Readonly<Record<Kind, A>>): [A, ...A[]] =>
  [...new Set(named.map(({ kind }) => of[kind]))] as [A, ...A[]];

/** What names them, as statements take it. What is no id names nobody. */
const textsOf = (named: readonly NamedMember[]): { userIds: string[]; identityIds: string[]; usernames: string[] } => {
  const texts = (kind: Kind, by: NamedMember['by']): string[] =>
    named.filter((one) => one.kind === kind && one.by === by).map(({ text }) => text);
  return {
    userIds: texts('user', 'id').filter(isId),
    identityIds: texts('identity', 'id').filter(isId),
    usernames: texts('user', 'name'),
  };
};

const isNamed = (
  { kind, by, text }: NamedMember,
  member: { readonly memberKind: Kind; readonly memberId: string; readonly name: string },
): boolean => member.memberKind === kind && text === (by === 'id' ? member.memberId : member.name);

const WORDS: Partial<Record<ErrorCode, string>> = {
  USER_NOT_FOUND: 'is not a user of the organization',
  IDENTITY_NOT_FOUND: 'is not a machine identity of the organization',
  ALREADY_A_MEMBER: 'is already in the group',
  MEMBERSHIP_NOT_FOUND: 'is not in the group',
};

/** @throws the code of the first that does not fit, naming the places of all of them */
function refuse(
  named: readonly NamedMember[],
  fits: (one: NamedMember) => boolean,
  codeOf: (one: NamedMember) => ErrorCode,
): void {
  const details = named
    .filter((one) => !fits(one))
    .map((one): ErrorDetail => ({ path: one.path, code: codeOf(one), message: WORDS[codeOf(one)] ?? '' }));
  const [first] = details;
  if (first !== undefined) throw new AppError(first.code as ErrorCode, undefined, { details });
}

const record = (tx: Transaction, action: string, members: readonly GroupMemberRow[]): Promise<void> =>
  tx.auditTrail.recordChange(
    tx,
    ...members.map(({ groupId, memberKind, memberId }) => ({ action, facts: { groupId, memberKind, memberId } })),
  );

/** Those of candidates who are members of a group, by name. */
async function membersAmong(
  tx: Transaction,
  groupId: string,
  candidates: Awaited<ReturnType<typeof listCandidates>>,
): Promise<readonly GroupMemberRow[]> {
  const idsOf = (kind: Kind): string[] =>
    candidates.filter(({ memberKind, isMember }) => isMember && memberKind === kind).map(({ id }) => id);
  const [userIds, identityIds] = [idsOf('user'), idsOf('identity')];
  if (userIds.length + identityIds.length === 0) return [];
  return findNamedMembers(tx, { groupId, userIds, identityIds, usernames: [] });
}

const recordList = (ctx: Context, groupId: string, count: number): Promise<void> =>
  ctx.auditTrail.recordRead(ctx, { action: 'group-member:list', facts: { groupId, count } });

/** @param only the kind that is asked for; null: all that the caller may read @throws PERMISSION_DENIED when there is none */
function readableKinds(ctx: Context, only: Kind | null | undefined): Kind[] {
  if (only != null) {
    authorize(ctx, READ[only]);
    return [only];
  }
  const kinds = (['user', 'identity'] as const).filter((kind) => can(ctx.ability, READ[kind]));
  if (kinds.length === 0) authorize(ctx, READ.user);
  return kinds;
}

/** Members by id, of groups and of a kind that the caller may read. @throws PERMISSION_DENIED */
export const groupMembersByIds: BatchLoad<GroupMemberRow> = async (ctx, ids) => {
  authorize(ctx, 'groups:read');
  const kinds = readableKinds(ctx, null);
  const rows = await findMembers(ctx, { organizationId: ctx.organizationId, ids });
  const readable = rows.filter(({ groupSlug, memberKind }) => mayRead(ctx, groupSlug) && kinds.includes(memberKind));
  return new Map(readable.map((row) => [row.id, row]));
};

const countsOfMembers = batchOfLists<{ readonly groupId: string; readonly count: number }, { kinds: readonly Kind[] }>(
  (ctx, groupIds, wanted) => countMembers(ctx, { groupIds, ...wanted }),
  ({ groupId }) => groupId,
);

/** Number of members of a group of these kinds; those of all groups of a response are one statement. */
const countOf = async (ctx: Context, groupId: string, kinds: readonly Kind[]): Promise<number> =>
  countIn((await batched(ctx, countsOfMembers, listKey(groupId, { kinds }))) ?? []);

const pagesOfMembers = batchOfLists<GroupMemberRow, NameBounds & { kinds: readonly Kind[] }>(
  (ctx, groupIds, page) => listMembers(ctx, { groupIds, ...page }),
  ({ groupId }) => groupId,
);
