import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { findAccess, findExplanation } from '../../../src/features/projects/core/project-access.js';
import { can } from '../../../src/kernel/authz/ability.js';
import type { Fields } from '../../../src/kernel/authz/conditions.js';
import type { Context } from '../../../src/kernel/context.js';
import { Database } from '../../../src/kernel/database/database.js';
import { migratedDatabase } from '../../kit/databases.js';
import fc from '../../kit/properties.js';
import { rounds } from '../../kit/scope.js';
import {
  ACTIONS,
  CALLER,
  decide,
  isNow,
  type Policy,
  policy,
  slugsOf,
  storedRule,
  type Term,
  type Thing,
  thing,
} from './policies.js';

const HOUR = 3_600_000;
const at = (hours: number): string => new Date(Date.now() + hours * HOUR).toISOString();
const TERMS: Readonly<
  Record<Term, { readonly range: string; readonly startsAt: string; readonly endsAt: string } | null>
> = {
  none: null,
  now: { range: '2h', startsAt: at(-1), endsAt: at(1) },
  over: { range: '1h', startsAt: at(-2), endsAt: at(-1) },
  later: { range: '1h', startsAt: at(1), endsAt: at(2) },
};

/** Ids of what a policy is in the database. */
interface Stored {
  readonly caller: string;
  readonly projectId: string;
  /** Ids of memberships by who has them: `direct`, and groups by their numbers. */
  readonly memberships: ReadonlyMap<string, string>;
  readonly groups: readonly string[];
  readonly privileges: readonly string[];
}

/** A policy with the id of its caller, wherever it says that. */
const withCaller = <T>(value: T, caller: string): T =>
  JSON.parse(JSON.stringify(value).replaceAll(CALLER, caller)) as T;

describe('policies in the database', () => {
  let client: pg.Client;
  let database: Database;
  let organizationId: string;

  beforeAll(async () => {
    const url = await migratedDatabase();
    client = new pg.Client({ connectionString: url });
    await client.connect();
    database = await Database.connect(url, {});
  });
  afterAll(async () => {
    await client.end();
    await database.close();
  });

  async function insert(table: string, row: Readonly<Record<string, unknown>>): Promise<string> {
    const id = (row.id as string | undefined) ?? randomUUID();
    const whole = { id, ...(table === 'organization' ? {} : { organization_id: organizationId }), ...row };
    const values = Object.values(whole).map((value) =>
      typeof value === 'object' && !Array.isArray(value) && value !== null ? JSON.stringify(value) : value,
    );
    await client.query(
      `insert into ${table} (${Object.keys(whole).join(', ')}) values (${values.map((_, n) => `$${n + 1}`).join(', ')})`,
      values,
    );
    return id;
  }

  const rolesOf = (given: Policy['direct']) => {
    const terms = given.flatMap(({ slug, term }) => (TERMS[term] === null ? [] : [[slug, TERMS[term]] as const]));
    return {
      roles: given.map(({ slug }) => slug),
      role_terms: terms.length === 0 ? null : Object.fromEntries(terms),
    };
  };

  /** @param kind what the caller is: a user has no metadata */
  async function store(held: Policy, kind: 'user' | 'identity'): Promise<Stored> {
    // An organization for each, since names of users are unique in it.
    organizationId = randomUUID();
    await insert('organization', { id: organizationId, name: 'Acme', slug: `acme-${organizationId}` });
    const keyId = await insert('data_key', { wrapped_key_sealed: '\\x00' });
    const projectId = await insert('project', {
      name: 'Project',
      slug: `project-${randomUUID()}`,
      type: 'secret-manager',
      kms_secret_manager_key_id: keyId,
    });
    const { name, team } = held.attributes;
    const caller =
      kind === 'user'
        ? await insert('app_user', { username: `${name}` })
        : await insert('identity', {
            name,
            metadata: JSON.stringify([
              { key: 'other', value: 'ann' },
              { key: 'name', value: name },
              ...(team === undefined ? [] : [{ key: 'team', value: team }]),
            ]),
          });
    const column = `${kind}_id`;
    await insert('organization_membership', { [column]: caller, role: 'no-access' });
    for (const [slug, rules] of Object.entries(held.roles))
      await insert('project_role', {
        project_id: projectId,
        slug,
        name: slug,
        permissions: JSON.stringify(rules.map(storedRule)),
      });
    const memberships = new Map<string, string>();
    const groups: string[] = [];
    // The newest first, so that the order is not that of the rows.
    for (const [number, { isIn, roles }] of [...held.groups.entries()].reverse()) {
      const group = await insert('member_group', { name: 'Group', slug: `group-${randomUUID()}` });
      groups[number] = group;
      await insert('organization_membership', { group_id: group, role: 'no-access' });
      if (isIn) await insert('group_member', { group_id: group, [column]: caller });
      const row = { project_id: projectId, group_id: group, created_at: at(number - 10), ...rolesOf(roles) };
      memberships.set(group, await insert('project_membership', row));
    }
    const privileges: string[] = [];
    if (held.direct.length > 0) {
      const row = { project_id: projectId, [column]: caller, ...rolesOf(held.direct) };
      const membershipId = await insert('project_membership', row);
      memberships.set('direct', membershipId);
      for (const [number, { term, rules }] of held.privileges.entries())
        privileges.push(
          await insert('additional_privilege', {
            project_id: projectId,
            membership_id: membershipId,
            slug: `privilege-${number}`,
            permissions: JSON.stringify(rules.map(storedRule)),
            temporary_range: TERMS[term]?.range ?? null,
            starts_at: TERMS[term]?.startsAt ?? null,
            ends_at: TERMS[term]?.endsAt ?? null,
            created_at: at(number - 10),
          }),
        );
    }
    return { caller, projectId, memberships, groups, privileges };
  }

  const contextOf = (caller: string) =>
    ({ actor: { kind: 'identity', id: caller }, organizationId, database }) as unknown as Context;

  /** What decides, as an explanation names it. */
  function originOf(held: Policy, stored: Stored, by: ReturnType<typeof decide>['by']): object | null {
    if (by === null) return null;
    if ('privilege' in by) {
      const [number] = [...held.privileges.entries()].filter(([, privilege]) => isNow(privilege))[by.privilege] ?? [-1];
      const privilegeId = stored.privileges[number];
      return {
        kind: 'privilege',
        privilegeId,
        slug: `privilege-${number}`,
        membershipId: stored.memberships.get('direct'),
      };
    }
    const isGiven = (given: Policy['direct']) => given.some((one) => one.slug === by.role && isNow(one));
    const through = [
      ...(isGiven(held.direct) ? [{ membershipId: stored.memberships.get('direct'), groupId: null }] : []),
      ...held.groups.flatMap(({ isIn, roles }, number) => {
        const groupId = stored.groups[number] as string;
        return isIn && isGiven(roles) ? [{ membershipId: stored.memberships.get(groupId), groupId }] : [];
      }),
    ];
    return { kind: 'role', roleId: by.role in held.roles ? expect.any(String) : null, slug: by.role, through };
  }

  test('decide as they read, and are explained by what decides', async () => {
    const things = fc.array(thing, { minLength: 3, maxLength: 5 });
    await fc.assert(
      fc.asyncProperty(policy, things, fc.constantFrom('user', 'identity'), async (held, given, kind) => {
        await client.query('begin');
        const stored = await store(held, kind);
        await client.query('commit');
        const { caller, projectId } = stored;
        const attributes = {
          ...held.attributes,
          id: caller,
          ...(kind === 'user' ? { name: undefined, team: undefined } : {}),
        };
        const known = { ...held, attributes };
        const ctx = contextOf(caller);
        const access = (await findAccess(ctx, [projectId])).get(projectId);
        expect(access === undefined).toBe(slugsOf(known).length === 0);
        for (const of of [null, ...given].map((one) => (one === null ? null : (withCaller(one, caller) as Thing)))) {
          for (const action of ACTIONS) {
            const { isAllowed, by } = decide(known, action, of);
            const fields = (of ?? undefined) as Fields | undefined;
            if (access !== undefined) expect(can(access.ability, `secrets:${action}`, fields)).toBe(isAllowed);
            if (of !== given[0]) continue;
            const asked = { projectId, memberId: caller, action: `secrets:${action}` as const };
            const explained = await findExplanation(ctx, { ...asked, ...(fields === undefined ? {} : { fields }) });
            if (access === undefined) expect(explained).toBeUndefined();
            else
              expect([explained?.isAllowed, explained?.decidedBy?.origin ?? null]).toEqual([
                isAllowed,
                originOf(known, stored, by),
              ]);
          }
        }
      }),
      { numRuns: rounds(200) },
    );
  });
});
