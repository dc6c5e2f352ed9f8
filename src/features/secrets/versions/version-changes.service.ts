import type { Context } from '../../../kernel/context.js';
import { openedOrNull, SealedText } from '../../../kernel/crypto/sealed-text.js';
import type { Sealer } from '../../../kernel/crypto/sealer.js';
import { type BatchLoad, batched } from '../../../kernel/database/batched.js';
import { yieldToEventLoop } from '../../../kernel/event-loop.js';
import type { ProjectReader } from '../../projects/public.js';
import { reserveRows } from '../core/secret-read-limits.js';
import { openersFor, openSecretComment, openSecretMetadata } from '../core/secret-sealing.js';
import { Visibility } from '../scope/visibility.rules.js';
import { type Difference, differencesBetween, type Opened, VersionVisibility } from './version.rules.js';
import { listNewestStates, listWithFormer } from './version.sql.js';

type Version = Awaited<ReturnType<typeof listWithFormer>>[number];

interface NamedVersion {
  readonly secretId: string;
  readonly version: number;
}

const keyOf = ({ secretId, version }: NamedVersion): string => `${secretId}/${version}`;

/**
 * What versions changed, by comparison with the ones before: those of a whole response by the same few statements. No value is
 * decrypted, and that one has changed is reported only to who may read both: others could write guesses until one is equal.
 */
export class VersionChangesService {
  constructor(private readonly projects: ProjectReader) {}

  /** Null for a version that cannot be compared. Those of all versions of a response share their statements. */
  async changesOf(ctx: Context, version: NamedVersion): Promise<readonly Difference[] | null> {
    return (await batched(ctx, this.#load, keyOf(version))) ?? null;
  }

  /** By `keyOf`. A version that cannot be compared has no changes. */
  readonly #load: BatchLoad<readonly Difference[]> = async (ctx, keys) => {
    const wanted = keys.map((key) => key.split('/') as [string, string]);
    const rows = await listWithFormer(ctx, {
      secretIds: wanted.map(([secretId]) => secretId),
      versions: wanted.map(([, version]) => Number(version)),
    });
    const byKey = new Map(rows.map((row) => [keyOf({ secretId: row.id, version: row.version }), row]));
    const visibilities = await this.#visibilitiesOf(ctx, [...new Set(rows.map(({ id }) => id))]);
    await reserveRows(ctx, rows, () => false);
    const openers = await openersFor(ctx, rows);
    const changes = new Map<string, readonly Difference[]>();
    for (const [secretId, version] of wanted) {
      const at = (back: number) => byKey.get(keyOf({ secretId, version: Number(version) - back }));
      const [row, visibility] = [at(0), visibilities.get(secretId)];
      // A restored secret is compared with what was deleted.
      const former = at(1)?.isDeletion === true ? at(2) : at(1);
      const opener = openers.get(row?.projectId ?? '');
      if (row === undefined || opener === undefined || visibility?.describes(row) !== true) continue;
      const found = row.isDeletion ? [] : changesOf(opener, visibility, { former, row });
      if (found !== null) changes.set(keyOf({ secretId, version: Number(version) }), found);
      await yieldToEventLoop();
    }
    return changes;
  };

  /** What the caller may see of the versions of secrets, by their IDs. */
  async #visibilitiesOf(ctx: Context, ids: readonly string[]): Promise<ReadonlyMap<string, VersionVisibility>> {
    const states = await listNewestStates(ctx, { ids });
    const found = await Promise.all(
      states.map(async (state): Promise<[string, VersionVisibility][]> => {
        const project = await this.projects.find(ctx, state.projectId);
        return project === undefined ? [] : [[state.id, new VersionVisibility(new Visibility(project.ability), state)]];
      }),
    );
    return new Map(found.flat());
  }
}

/** Null where there is nothing to compare with, or where it cannot be compared. */
function changesOf(
  opener: Sealer,
  visibility: VersionVisibility,
  { former, row }: { readonly former: Version | undefined; readonly row: Version },
): readonly Difference[] | null {
  if (former === undefined || former.isDeletion || !visibility.describes(former)) return null;
  const [before, after] = [comparable(opener, former), comparable(opener, row)];
  if (before === null || after === null) return null;
  const mayCompare = [former, row].every((version) => visibility.readsValue(version));
  return differencesBetween(before, after).filter((part) => part !== 'VALUE' || mayCompare);
}

/** The digest stands for the value: it is equal for equal ones. Null for what cannot be decrypted, or has no digest yet. */
function comparable(opener: Sealer, record: Version): Opened | null {
  if (record.valueDigest === null) return null;
  const value = new SealedText(record.valueDigest);
  return openedOrNull(() => ({
    record,
    clear: { value, comment: openSecretComment(opener, record), metadata: openSecretMetadata(opener, record) },
  }));
}
