import type { Caller } from '../../../kit/caller.js';
import { mustSucceed } from '../../../kit/caller.js';
import { callerWithRules } from '../../../kit/rules.js';
import { type Reply, useSharedStrongroom } from '../../../kit/strongroom.js';
import { withClient } from '../../../kit/tables.js';
import { untilWaiting } from '../../../kit/waiting.js';

/** How somebody who may write below /open only writes the secret there, while its folder gets another name. */
const WRITES: Readonly<Record<string, (caller: Caller, secret: { id: string; projectId: string }) => Promise<Reply>>> =
  {
    'an update by id': (caller, { id }) =>
      caller.graphql('mutation ($input: UpdateSecretInput!) { updateSecret(input: $input) { secret { id } } }', {
        input: { id, secretComment: 'changed' },
      }),
    'an update by key': (caller, { projectId }) =>
      caller.patch('/api/v4/secrets/KEY', {
        projectId,
        environment: 'dev',
        secretPath: '/open',
        secretComment: 'changed',
      }),
    'a deletion by id': (caller, { id }) =>
      caller.graphql('mutation ($input: DeleteSecretInput!) { deleteSecret(input: $input) { secret { id } } }', {
        input: { id },
      }),
    'a deletion by key': (caller, { projectId }) =>
      caller.delete('/api/v4/secrets/KEY', { projectId, environment: 'dev', secretPath: '/open' }),
  };

describe('a folder that is renamed at the moment of a write to it', () => {
  const strongroom = useSharedStrongroom();

  test.each(Object.entries(WRITES))('%s is refused, and writes no version under the new name', async (name, write) => {
    const { admin, project } = await strongroom.seed.project();
    const place = { projectId: project.id, environment: 'dev' };
    const { folder } = mustSucceed(await admin.post('/api/v2/folders', { ...place, name: 'open' })).body;
    const made = await admin.post('/api/v4/secrets/KEY', { ...place, secretPath: '/open', secretValue: 'v' });
    const { id } = mustSucceed(made).body.secret;
    const conditions = { secretPath: '/open' };
    const actions = ['describeSecret', 'readValue', 'edit', 'delete'];
    const rule = { subject: 'secrets', action: actions, conditions };
    const { caller } = await callerWithRules(strongroom, admin, project.id, rule);

    const reply = await withClient(strongroom.databaseUrl, async (client) => {
      // What a write waits for after it has asked the rules: its statement touches these tables.
      await client.query('begin; lock table secret_version in exclusive mode');
      const pending = write(caller.patient, { id, projectId: project.id });
      await untilWaiting(strongroom, 1, pending);
      await strongroom.sql(`update folder set name = 'vault', path = '/vault' where id = $1`, [folder.id]);
      await client.query('commit');
      return pending;
    });

    // An update by id looks again where the secret is now: where the caller may not know of it, it is not there. A write by key looks
    // again for the folder that it names.
    if (name === 'an update by id') expect(reply).toBeError(404, 'SECRET_NOT_FOUND');
    else if (name === 'a deletion by id') expect(reply).toBeError(409, 'CONCURRENT_CHANGE');
    else expect(reply).toBeError(404, 'FOLDER_NOT_FOUND');
    const versions = await strongroom.sql<{ path: string }>('select path from secret_version where secret_id = $1', [
      id,
    ]);
    expect(versions).toEqual([{ path: '/open' }]);
    expect(await strongroom.sql('select 1 from secret where id = $1 and version = 1', [id])).toHaveLength(1);
  });
});
