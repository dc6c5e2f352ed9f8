import { LockMode, raw as sql } from '@mikro-orm/core';
import type { Context, Transaction } from '../../../kernel/context.js';
import { failedOnData } from '../../../kernel/errors.js';
import { NO_ID } from '../../../kernel/ids.js';
import type { JobKind, JobRun } from '../../../kernel/jobs/job-kind.js';
import { enqueueStanding } from '../../../kernel/jobs/queue.js';
import { describeError } from '../../../kernel/log.js';
import { refusedAddresses } from '../../identity/organizations/email-domains/public.js';
import { openForNewMessages } from '../alerts/public.js';
import {
  digestsOf,
  findUndelivered,
  isForUndecryptableChannel,
  listUnsentOwnerIds,
  type Recipient,
  recipientsOf,
  writeMessages,
} from '../deliveries/public.js';
import { Notice } from './notice.entity.js';
import { listChannelsOfKind } from './notice.queries.js';
import { hasAddress, type NoticeKind } from './notice.rules.js';
import {
  advanceDueReminders,
  listOwnerNames,
  listOwnersWithUnsentNotices,
  listPeople,
  listUnsentOwners,
} from './notice.sql.js';
import { NOTICE_SOURCE } from './notice-source.js';
import { notify, notifyAgain, type Owner, UNSENT_DAYS, WRITE_MESSAGES, writeJobsOf } from './notices.js';

/** Notices per transaction, and so per email. */
const NOTICES_AT_ONCE = 500;

/** Writes the messages for the notices of an owner. */
export const WRITE_MESSAGES_JOB: JobKind = {
  ...WRITE_MESSAGES,
  retry: { firstSeconds: 30, longestSeconds: 600, attempts: 1_000_000 },
  run: async (ctx, run) => {
    const ownerId = run.subjectId ?? NO_ID;
    const owner = { organizationId: ctx.organizationId, projectId: run.projectId, ownerId };
    while (await writeNext(ctx, run, owner));
  },
};

/** For so long, whoever stored a notice may still ask for the job. */
const UNWRITTEN_SECONDS = 10;

/** Has the messages written of notices whose node died before it asked for that. */
export const FIND_UNWRITTEN: JobKind = {
  name: 'project-notices:find-untold',
  description: 'Has the messages written for notices that have none yet, every minute.',
  everySeconds: 60,
  staysInside: true,
  run: (_, run) =>
    run.inTransaction(async (tx) =>
      enqueueStanding(
        tx,
        WRITE_MESSAGES,
        writeJobsOf(await listOwnersWithUnsentNotices(tx, { seconds: UNWRITTEN_SECONDS })),
      ),
    ),
};

/** Sends notices again whose messages were not accepted, for a week after the event. */
export const FIND_UNSENT: JobKind = {
  name: 'project-notices:find-unsent',
  description:
    'Has the messages of notices of the last week written again that failed or were cancelled, daily at midnight UTC.',
  everySeconds: 86_400,
  staysInside: true,
  run: async (ctx, run) => {
    for (const owner of await listUnsentOwners(ctx, { days: UNSENT_DAYS }))
      await run.inTransaction((tx) => notifyAgain(tx, owner));
  },
};

/**
 * Writes the messages for the oldest notices of an owner. One that fails on its data is passed over, so that those behind it get theirs.
 *
 * @returns whether there may be more
 */
async function writeNext(ctx: Context, run: JobRun, owner: Owner, most = NOTICES_AT_ONCE): Promise<boolean> {
  try {
    return (await run.inTransaction((tx) => writeSome(tx, owner, most))) === most;
  } catch (error) {
    if (!failedOnData(error)) throw error;
    if (most > 1) return writeNext(ctx, run, owner, Math.ceil(most / 2));
    const [passed] = await run.inTransaction(async (tx) => markWritten(tx, await lockNew(tx, owner, 1)));
    if (passed !== undefined) ctx.log?.warn('notice without messages', { notice: passed.id, ...describeError(error) });
    return true;
  }
}

/** @returns the number of notices */
async function writeSome(tx: Transaction, owner: Owner, most: number): Promise<number> {
  const notices = await lockNew(tx, owner, most);
  for (const [kind, some] of Map.groupBy(notices, (notice) => notice.kind)) await writeKind(tx, owner, kind, some);
  return (await markWritten(tx, notices)).length;
}

/** Locks notices of an owner that have no messages yet, oldest first. */
async function lockNew(tx: Transaction, { ownerId }: Owner, limit: number): Promise<NewNotice[]> {
  const found = await tx.em.find(
    Notice,
    { ownerId, toldAt: null },
    {
      fields: ['kind', 'facts'],
      orderBy: { createdAt: 'asc', id: 'asc' },
      limit,
      lockMode: LockMode.PESSIMISTIC_WRITE,
    },
  );
  return found.map(({ id, kind, facts }) => ({ id, kind, recipientIds: facts.recipientIds ?? [] }));
}

async function markWritten(tx: Transaction, notices: readonly NewNotice[]): Promise<readonly NewNotice[]> {
  await tx.em.nativeUpdate(Notice, { id: { $in: notices.map(({ id }) => id) } }, { toldAt: sql('now()') });
  return notices;
}

async function writeKind(
  tx: Transaction,
  owner: Owner,
  event: NoticeKind,
  notices: readonly NewNotice[],
): Promise<void> {
  const channels = await listChannelsOfKind(tx, { projectId: owner.projectId ?? NO_ID, kind: event });
  const targets = await recipientsOf(tx, owner, channels, (channel) =>
    openForNewMessages(tx, { ...channel, table: 'notification_channel' }),
  );
  // A channel that cannot be decrypted may stay so.
  const reachesChannel = targets.some((target) => !isForUndecryptableChannel(target));
  const people = await addressesOf(tx, owner, notices);
  // People named by a notice get an email; admins get one only if nobody else is notified.
  const byPeople = Map.groupBy(notices, ({ recipientIds }) => {
    const named = recipientIds.filter((id) => people.has(id)).sort();
    return (
      named.length > 0 || reachesChannel ? named : [...people].filter(([, { isAdmin }]) => isAdmin).map(([id]) => id)
    ).join();
  });
  let isNew = await write(tx, owner, event, notices, targets);
  for (const [ids, some] of byPeople) {
    const own = ids === '' ? [] : ids.split(',').map((id) => (people.get(id) as Person).target);
    isNew = (await write(tx, owner, event, some, own)) || isNew;
  }
  if (!isNew) return;
  const { projectId } = owner;
  const facts = { kind: event, count: notices.length };
  await tx.auditTrail.recordChange(tx, {
    action: 'project:notify',
    ...(projectId === null ? {} : { projectId }),
    facts,
  });
}

const write = (
  tx: Transaction,
  owner: Owner,
  event: NoticeKind,
  notices: readonly NewNotice[],
  targets: readonly Recipient[],
): Promise<boolean> =>
  writeMessages(tx, NOTICE_SOURCE, { ...owner, event, subjectIds: notices.map(({ id }) => id) }, targets);

/** A notice that has no messages yet. */
interface NewNotice {
  readonly id: string;
  readonly kind: NoticeKind;
  readonly recipientIds: readonly string[];
}

interface Person {
  readonly isAdmin: boolean;
  readonly target: Recipient;
}

/** People with an email address, by ID: admins, and people named by notices. */
async function addressesOf(
  tx: Transaction,
  owner: Owner,
  notices: readonly NewNotice[],
): Promise<ReadonlyMap<string, Person>> {
  const userIds = [...new Set(notices.flatMap(({ recipientIds }) => recipientIds))];
  const listed = (await listPeople(tx, { ownerId: owner.ownerId, userIds })).filter(hasAddress);
  const refused = await refusedAddresses(
    tx,
    listed.map(({ username }) => username),
  );
  const found = listed.filter(({ username }) => !refused.has(username));
  const digests = await digestsOf(
    tx,
    owner,
    found.map(({ username: recipient }) => ({ type: 'email', recipient })),
  );
  const people = new Map<string, Person>();
  for (const [at, { id, isAdmin }] of found.entries()) {
    const target = { channelId: owner.ownerId, channelType: 'email', recipient: digests[at] as Buffer } as const;
    people.set(id, { isAdmin: isAdmin || people.get(id)?.isAdmin === true, target });
  }
  return people;
}

const REMINDERS_AT_ONCE = 500;

/** Notifies projects of due reminders of secrets; reminders missed during downtime cause one notice. */
export const REMIND: JobKind = {
  name: 'project-notices:remind',
  description: 'Notifies projects of due reminders of secrets, daily at midnight UTC.',
  everySeconds: 86_400,
  run: async (_, run) => {
    for (let taken = REMINDERS_AT_ONCE; taken === REMINDERS_AT_ONCE; )
      taken = await run.inTransaction(async (tx) => {
        const due = await advanceDueReminders(tx, { most: REMINDERS_AT_ONCE });
        await notify(
          tx,
          'secret-reminder',
          due.map(({ id, organizationId, projectId, key, note, recipientIds, environment, path, day }) => ({
            organizationId,
            projectId,
            subjectId: id,
            occurrence: day,
            facts: {
              name: key,
              fields: { Environment: environment, Folder: path, ...(note === null ? {} : { Note: note }) },
              recipientIds: [...recipientIds],
            },
          })),
        );
        return due.length;
      });
  },
};

const OWNERS_AT_ONCE = 100;

/** Notifies admins of organizations of alerts and projects whose notifications reach nobody: once a day for each. */
export const FIND_UNDELIVERED: JobKind = {
  name: 'project-notices:find-undelivered',
  description: 'Notifies the admins of organizations of alerts and projects whose notifications reach nobody.',
  everySeconds: 600,
  staysInside: true,
  run: async (ctx, run) => {
    for (let after = NO_ID; ; ) {
      const ids = (await listUnsentOwnerIds(ctx, { after, most: OWNERS_AT_ONCE })).map(({ id }) => id);
      const last = ids.at(-1);
      if (last === undefined) return;
      const found = new Map((await findUndelivered(ctx, { ownerIds: ids })).map((one) => [one.ownerId, one]));
      const owners = await listOwnerNames(ctx, { ids: [...found.keys()] });
      const notices = owners.flatMap(({ id, organizationId, type, name, projectName, today }) => {
        const undelivered = found.get(id);
        if (undelivered === undefined) return [];
        const fields = {
          'Sent by': type,
          ...(projectName === null ? {} : { Project: projectName }),
          Since: undelivered.since.toISOString(),
          Messages: String(undelivered.count),
          ...(undelivered.errorCode === null ? {} : { Error: undelivered.errorCode }),
        };
        return [{ organizationId, projectId: null, subjectId: id, occurrence: today, facts: { name, fields } }];
      });
      await run.inTransaction((tx) => notify(tx, 'delivery-failure', notices));
      after = last;
    }
  },
};
