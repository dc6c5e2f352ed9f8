import { type Caller, mustSucceed } from '../../kit/caller.js';
import { useSharedStrongroom } from '../../kit/strongroom.js';

const strongroom = useSharedStrongroom();

const ROLES = '/api/v1/organization/roles';

const make = async (admin: Caller, slug: string, ...permissions: unknown[]): Promise<{ id: string }> =>
  mustSucceed(await admin.post(ROLES, { slug, name: slug, permissions })).body.role;
const assigning = (role: unknown, inverted = false) => ({
  subject: 'member',
  action: ['assign-role'],
  inverted,
  conditions: { role },
});
/** What the rules of a role have about roles. */
const rolesIn = async (admin: Caller, { id }: { readonly id: string }): Promise<unknown[]> =>
  mustSucceed(await admin.get(`${ROLES}/${id}`)).body.role.permissions.map(
    ({ conditions }: { conditions: { role: unknown } | null }) => conditions?.role ?? null,
  );

/** Somebody who may rename roles, and has these rights besides. */
async function renamer(admin: Caller, ...permissions: unknown[]): Promise<Caller> {
  await make(admin, 'renamer', { subject: 'role', action: ['read', 'edit'] }, ...permissions);
  const caller = await strongroom.seed.caller(admin);
  mustSucceed(await admin.patch(`/api/v1/identities/${caller.identityId}`, { role: 'renamer' }));
  return caller;
}

describe('a new slug of an organization role', () => {
  test('is put in the place of the old one in conditions that name it, in rules of that organization alone', async () => {
    const { admin } = await strongroom.seed.organization();
    const { admin: elsewhere } = await strongroom.seed.organization();
    const foreign = await make(elsewhere, 'lead', assigning('ops'));
    const caller = await renamer(admin);
    const own = await make(admin, 'ops', assigning('ops', true));
    const lead = await make(
      admin,
      'lead',
      assigning('ops'),
      assigning({ $in: ['dev', 'ops', 'root'] }, true),
      assigning({ $ne: 'ops' }),
      assigning({ $eq: 'ops', $glob: 'ops' }),
      assigning({ $glob: '?o*' }),
      assigning('ops-eu'),
      { subject: 'groups', action: ['read'], inverted: false, conditions: { groupSlug: 'ops' } },
    );

    // Of what these rules give the caller has nothing: they mean what they meant.
    mustSucceed(await caller.patch(`${ROLES}/${own.id}`, { slug: 'crew' }));

    expect(await rolesIn(admin, lead)).toEqual([
      'crew',
      { $in: ['dev', 'crew', 'root'] },
      { $ne: 'crew' },
      { $eq: 'crew', $glob: 'crew' },
      { $glob: '?o*' },
      'ops-eu',
      null,
    ]);
    const { role } = mustSucceed(await admin.get(`${ROLES}/${lead.id}`)).body;
    expect(role).toMatchObject({ version: 2, permissions: { 6: { conditions: { groupSlug: 'ops' } } } });
    expect(await rolesIn(admin, own)).toEqual(['crew']);
    expect(await rolesIn(elsewhere, foreign)).toEqual(['ops']);
    const rows = await strongroom.auditRows(`action = 'organization-role:update' and actor_id = $1`, [
      caller.identityId,
    ]);
    expect(rows.map(({ facts }) => facts.renamedIn.toSorted())).toEqual([[own.id, lead.id].toSorted()]);
  });

  test('leaves rules that are given with it', async () => {
    const { admin } = await strongroom.seed.organization();
    const own = await make(admin, 'ops');
    mustSucceed(await admin.patch(`${ROLES}/${own.id}`, { slug: 'crew', permissions: [assigning('ops')] }));
    expect(await rolesIn(admin, own)).toEqual(['ops']);
  });

  test.each([
    ['a pattern that fits the old one alone', assigning({ $glob: 'ops*' })],
    ['a prohibition by such a pattern', assigning({ $glob: '{ops,dev}' }, true)],
    ['the new one, which nobody had', assigning({ $in: ['crew', 'dev'] })],
    ['an attribute of whoever has it', assigning('{{identity.metadata.team}}')],
  ])('needs the rights of a rule with %s', async (_, rule) => {
    const { admin } = await strongroom.seed.organization();
    const caller = await renamer(admin);
    const lead = await make(admin, 'lead', rule);
    const own = await make(admin, 'ops');
    const rename = (by: Caller) => by.patch(`${ROLES}/${own.id}`, { slug: 'crew' });

    const refused = await rename(caller);
    expect(refused).toBeError(403, 'PERMISSION_BOUNDARY');
    expect(refused.body.details).toMatchObject([{ path: 'member', code: 'assign-role' }]);
    expect(mustSucceed(await admin.get(`${ROLES}/${own.id}`)).body.role.slug).toBe('ops');
    mustSucceed(await rename(admin));
    expect(await rolesIn(admin, lead)).toEqual([rule.conditions.role]);
  });
});
