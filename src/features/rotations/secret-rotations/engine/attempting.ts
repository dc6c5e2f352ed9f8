import type { Context, Transaction } from '../../../../kernel/context.js';
import { AppError } from '../../../../kernel/errors.js';
import type { Again, JobRun } from '../../../../kernel/jobs/job-kind.js';
import type { CalledTarget, TargetFailure } from '../../app-connections/public.js';
import { type Credential, failureOf } from '../kind/rotation-kind.js';
import type { Kinds } from '../kinds/kinds.js';
import { scheduleRevocation } from '../revocations/revocations.js';
import { secondsToSettle } from '../store/attempt.queries.js';
import { lockRotation } from '../store/rotation.sql.js';
import { sealCredential } from '../store/sealing.js';
import { candidateOf, nameOf } from './begin.js';
import {
  ACCOUNT_ROTATED,
  abandonAttempt,
  changeAttemptState,
  claimAccount,
  completeAttempt,
  endUndecided,
  failAttempt,
  scheduleOrphanRevocation,
} from './outcomes.js';
import { loadWork, type Work } from './work.js';

/** How many times a candidate is sent again after it was found not to have arrived. */
const MOST_CALLS = 4;
/** How many times a check of a new credential, or of the result of a call, is repeated before the next retry of the job. */
const MOST_TRIES = 5;
const LOOK_UP_SECONDS = 60;
/** How long after a call its result is looked up. */
const GIVE_UP_SECONDS = 86_400;

/** A temporary failure. The job retries from the stored state. */
class TryLater extends Error {}

/**
 * One run of the job. It continues an open attempt from its stored state, step by step, and reads everything again before each step. The
 * state says what an earlier run has done; what it may have done outside is looked up.
 */
export class Attempting {
  /** Whether this run made the call that the state belongs to, and it has ended. */
  private hasCalled = false;

  constructor(
    private readonly kinds: Kinds,
    private readonly ctx: Context,
    private readonly run: JobRun,
    private readonly called: CalledTarget,
  ) {}

  /** @returns when to continue, if something outside has to end first; @throws TryLater, LeaseLost */
  private async continueAttempt(rotationId: string): Promise<Again | undefined> {
    for (;;) {
      this.run.signal.throwIfAborted();
      const work = await loadWork(this.ctx, this.kinds, rotationId);
      if (work === null) return undefined;
      const again = await this.step(work);
      if (again !== undefined) return again;
    }
  }

  /** Like `continueAttempt`; ends an attempt whose stored data cannot be decrypted. */
  async carryOut(rotationId: string): Promise<Again | undefined> {
    try {
      return await this.continueAttempt(rotationId);
    } catch (error) {
      if (!(error instanceof AppError && error.code === 'SEALED_VALUE_INVALID')) throw error;
      const reason = failureOf(error);
      await this.run.inTransaction((tx) => abandonAttempt(tx, { kinds: this.kinds, rotationId, reason }));
      return undefined;
    }
  }

  private async step(work: Work): Promise<Again | undefined> {
    switch (work.attempt.state) {
      case 'planned':
        await this.call(work);
        return undefined;
      case 'calling':
        return this.findOut(work);
      case 'changed':
        await this.verify(work);
        return undefined;
      default:
        await this.run.inTransaction((tx) => completeAttempt(tx, work, null));
        return undefined;
    }
  }

  /** Asks the external system to set the candidate, after committing that it is about to. */
  private async call(work: Work): Promise<void> {
    const { kind, target, candidate, attempt } = work;
    if (!(await this.owns(work))) return;
    const apply = attempt.reason === 'reconciliation' && kind.reset !== undefined ? kind.reset : kind.apply;
    if (!(await this.run.inTransaction((tx) => changeAttemptState(tx, work, 'calling')))) return;
    // Last check before the call: if this node was suspended, another one has continued, and a call now would be one too many.
    await this.run.reserve(kind.callSeconds);
    this.hasCalled = true;
    const since = performance.now();
    let result: Credential;
    try {
      result = await apply.call(kind, this.ctx, target, candidate);
    } catch (error) {
      const failure = failureOf(error);
      // An unknown result is looked up in the next step.
      if (failure.certainty !== 'unknown')
        await this.run.inTransaction(async (tx) => {
          // Asking again would be refused again. What may have been created nevertheless is a pending revocation.
          if (failure.certainty === 'refused') await scheduleOrphanRevocation(tx, work);
          await failAttempt(tx, work, failure);
        });
      await this.called.record({ failure, since });
      return;
    }
    await this.storeResult(work, result);
    await this.called.record({ failure: null, since });
  }

  /** Whether no other rotation owns the account, as far as that can be known; otherwise the attempt ends. */
  private async owns(work: Work): Promise<boolean> {
    const { kind, target, rotation } = work;
    if (kind.accountOf === undefined || rotation.accountDigest !== null) return true;
    await this.run.reserve(LOOK_UP_SECONDS);
    const account = await kind.accountOf(this.ctx, target).catch((error: unknown) => failureOf(error));
    // It is learned the next time: whether the account can be changed is not decided here.
    if (account instanceof Error) return true;
    return this.run.inTransaction(async (tx) => {
      const isOwner = await claimAccount(tx, work, account);
      if (!isOwner) await failAttempt(tx, work, ACCOUNT_ROTATED);
      return isOwner;
    });
  }

  /** Stores the credential that the external system has now. */
  private async storeResult(work: Work, result: Credential): Promise<void> {
    const { id, candidateVersion } = work.attempt;
    const at = { table: 'secret_rotation_attempt', column: 'result', rowId: id, rowVersion: candidateVersion } as const;
    await this.run.inTransaction(async (tx) => {
      await changeAttemptState(tx, work, 'changed', {
        resultSealed: await sealCredential(tx, work.attempt, at, result),
      });
    });
  }

  /** Looks up the result of a call without a response. */
  private async findOut(work: Work): Promise<Again | undefined> {
    const { kind, target, candidate, attempt } = work;
    if (!this.hasCalled) {
      const [left] = await secondsToSettle(this.ctx, { id: attempt.id, afterSeconds: kind.orphanSeconds });
      if (left?.seconds != null && left.seconds > 0) return { againInSeconds: left.seconds + 1 };
    }
    await this.run.reserve(LOOK_UP_SECONDS);
    const since = performance.now();
    const finding = await kind.find(this.ctx, target, candidate).catch((error: unknown) => failureOf(error));
    // Without a failure it may have called nothing.
    if (finding instanceof Error) await this.called.record({ failure: finding, since });
    if (finding instanceof Error) {
      if (attempt.tries === 0 || !(await this.isOverdue(work))) return this.later(work, finding);
      const reason = { code: finding.code, message: kind.overlaps ? RESULT_UNKNOWN : PASSWORD_UNKNOWN };
      await this.run.inTransaction((tx) =>
        abandonAttempt(tx, { kinds: this.kinds, rotationId: attempt.rotationId, reason }),
      );
      return undefined;
    }
    if (finding.outcome === 'done') await this.storeResult(work, finding.credential);
    else if (finding.outcome === 'undecided')
      await this.run.inTransaction((tx) =>
        endUndecided(tx, work, { code: 'CREDENTIALS_REJECTED', message: UNDECIDED }),
      );
    else if (attempt.calls >= MOST_CALLS) await this.run.inTransaction((tx) => this.giveUp(tx, work, finding.outcome));
    else if (finding.outcome === 'not-done')
      await this.run.inTransaction((tx) => changeAttemptState(tx, work, 'planned'));
    else await this.renew(work);
    return undefined;
  }

  /** Whether the result of a call was looked up for too long: the rotation must not wait forever. */
  private async isOverdue({ attempt: { id } }: Work): Promise<boolean> {
    const [left] = await secondsToSettle(this.ctx, { id, afterSeconds: GIVE_UP_SECONDS });
    return left?.seconds === 0;
  }

  /** Continues with a new candidate under a new name. Whatever may have been created under the old one is a pending revocation. */
  private async renew(work: Work): Promise<void> {
    const { kind, rotation, attempt } = work;
    const version = attempt.candidateVersion + 1;
    const name = nameOf(rotation, attempt.number, version);
    const at = {
      table: 'secret_rotation_attempt',
      column: 'candidate',
      rowId: attempt.id,
      rowVersion: version,
    } as const;
    await this.run.inTransaction(async (tx) => {
      const candidate = await candidateOf(tx, { kind, rotation, name });
      const candidateSealed = await sealCredential(tx, rotation, at, candidate);
      if (await changeAttemptState(tx, work, 'planned', { name, candidateSealed }))
        await scheduleOrphanRevocation(tx, work);
    });
  }

  private async giveUp(tx: Transaction, work: Work, outcome: 'not-done' | 'void'): Promise<void> {
    if (outcome === 'void') await scheduleOrphanRevocation(tx, work);
    await failAttempt(tx, work, {
      code: 'TARGET_UNREACHABLE',
      message: 'The external system repeatedly gave no response.',
    });
  }

  /** Checks whether the new credential works. */
  private async verify(work: Work): Promise<void> {
    const { kind, target, result, attempt } = work;
    if (result === null) throw new Error('a changed attempt has no result');
    await this.run.reserve(LOOK_UP_SECONDS);
    const since = performance.now();
    const failure = await kind.verify(this.ctx, target, result).then(
      () => null,
      (error: unknown) => failureOf(error),
    );
    await this.called.record({ failure, since });
    if (failure === null) {
      await this.run.inTransaction((tx) => changeAttemptState(tx, work, 'verified'));
      return;
    }
    const isRejected = failure.code === 'CREDENTIALS_REJECTED';
    if (!isRejected && failure.isTemporary && attempt.tries < MOST_TRIES) await this.later(work, failure);
    if (attempt.reason === 'adoption') await this.run.inTransaction((tx) => failAttempt(tx, work, failure));
    else if (kind.overlaps)
      await this.run.inTransaction(async (tx) => {
        const rotation = await lockRotation(tx, attempt.rotationId);
        if (rotation !== null) await scheduleRevocation(tx, rotation, { reason: 'unusable', credential: result, kind });
        await failAttempt(tx, work, failure);
      });
    else if (isRejected)
      await this.run.inTransaction((tx) => changeAttemptState(tx, work, 'calling', { reason: failure }));
    // The old credential is gone: an unverified new one is better than none.
    else await this.run.inTransaction((tx) => completeAttempt(tx, work, failure));
  }

  /** Stores a failure and makes the job retry. @throws TryLater */
  private async later(work: Work, failure: TargetFailure): Promise<never> {
    await this.run.inTransaction((tx) => changeAttemptState(tx, work, work.attempt.state, { reason: failure }));
    throw new TryLater(failure.code);
  }
}

const RESULT_UNKNOWN =
  'The result of the call could not be looked up for a day. A credential that it may have created is revoked when the external system responds: see credentialDebts.';
const PASSWORD_UNKNOWN =
  'The result of the call could not be looked up for a day: it is unknown which password is valid. Reconcile the rotation when the server is available again.';
const UNDECIDED =
  'Neither the new nor the old password is valid. It may have been changed elsewhere. Reconcile the rotation with an administrator account.';
