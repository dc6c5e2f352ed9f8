import { randomUUID } from 'node:crypto';
import { mustSucceed } from '../../kit/caller.js';
import { LENIENT, useSharedStrongroom } from '../../kit/strongroom.js';
import { seedWorld } from '../../kit/world.js';
import { cancelJob, readJob } from './kit.js';

describe('a job that is cancelled although others wait for what it does', () => {
  const strongroom = useSharedStrongroom(LENIENT);

  /** A job of a kind that is about something. */
  async function jobAbout(kind: string, organizationId: string, subject: string): Promise<string> {
    const id = await strongroom.seed.job({ kind, organizationId });
    await strongroom.sql('update job set subject_id = $2::uuid, dedupe_key = $2::text where id = $1', [id, subject]);
    return id;
  }

  test('pauses the re-encryption that it worked for, which goes on when it is resumed', async () => {
    const { world, admin } = await seedWorld(strongroom.seed, ['project', 'reencryption']);
    const id = world.reencryption;
    await strongroom.sql(`update project_reencryption set state = 'running' where id = $1`, [id]);
    const job = await jobAbout('project-reencryptions:reencrypt', world.organization, id);

    expect(mustSucceed(await cancelJob(admin, job)).body.data.cancelJob.job.state).toBe('CANCELLED');

    const [row] = await strongroom.sql<{ state: string }>('select state from project_reencryption where id = $1', [id]);
    expect(row?.state).toBe('paused');
    const records = await strongroom.auditRows(`facts ->> 'projectReencryptionId' = $1`, [id]);
    expect(records.map(({ action }) => action)).toEqual(['project-reencryption:pause']);
    await admin.data(
      'mutation ($input: ResumeProjectReencryptionInput!) { resumeProjectReencryption(input: $input) { __typename } }',
      { input: { id } },
    );
    expect((await readJob(admin, job)).state).not.toBe('CANCELLED');
  });

  test('is not cancelled while messages wait for it, and is once none does', async () => {
    const { world, admin } = await seedWorld(strongroom.seed, ['notificationChannel', 'notificationMessage']);
    const [channel] = await strongroom.sql<{ id: string }>(
      `update notification_message set state = 'pending', next_at = now() + interval '1 hour', ended_at = null where id = $1
       returning channel_id as id`,
      [world.notificationMessage],
    );
    const job = await jobAbout('project-notices:send', world.organization, channel?.id ?? randomUUID());

    expect(await cancelJob(admin, job)).toBeError(409, 'JOB_IS_NEEDED');

    expect((await readJob(admin, job)).state).toBe('WAITING');
    await strongroom.sql('delete from notification_message where id = $1', [world.notificationMessage]);
    mustSucceed(await cancelJob(admin, job));
  });
});
