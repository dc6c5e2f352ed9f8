import { useStrongroom } from '../../kit/strongroom.js';

/** Its audit trail refuses the first change that it is told to. */
const strongroom = useStrongroom();

test('a role is made and changed once although its audit record meets a serialization failure', async () => {
  const { admin } = await strongroom.seed.organization();
  await strongroom.sql('create sequence attempts');
  await strongroom.sql(`create function fail_once() returns trigger language plpgsql security definer as $$ begin
    if nextval('attempts') = 1 then raise exception 'refused' using errcode = '40001'; end if;
    return new;
  end $$`);
  await strongroom.sql(`create trigger fail_once before insert on audit_record for each row
    when (new.class = 'change' and new.request_id is not null) execute function fail_once()`);

  const created = await admin.post('/api/v1/organization/roles', { slug: 'reader', name: 'Reader', permissions: [] });
  expect(created.status).toBe(200);
  await strongroom.sql(`select setval('attempts', 1, false)`);
  const path = `/api/v1/organization/roles/${created.body.role.id}`;
  expect((await admin.patch(path, { name: 'Readers' })).status).toBe(200);

  const actions = ['organization-role:create', 'organization-role:update'];
  const rows = await strongroom.auditRows('action = any($1)', [actions]);
  expect(rows.map(({ action }) => action)).toEqual(actions);
});
