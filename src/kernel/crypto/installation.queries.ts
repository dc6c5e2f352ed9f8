import { prepared, tablesOf } from '../database/tables.js';
import type { InstallationSchema } from './keys.entity.js';

const tables = tablesOf<typeof InstallationSchema>();

const installations = tables
  .selectFrom('installation')
  .select([
    'key_check_value as checkValue',
    'kept_keys_sealed as keptKeysSealed',
    'wrapped_root_key as wrapped',
    'next_wrapped_root_key as nextWrapped',
  ]);

/** The root key of the installation, and the sealed base of keys that stay the same when that changes. */
export const findInstallation = prepared(() => installations);

/** The same, held until the commit: whoever adds a key of the old one has added it before, or waits and adds none. */
export const lockInstallation = prepared(() => installations.forUpdate());

interface RootKeyRow {
  readonly checkValue: Buffer;
  readonly keptKeysSealed: Buffer;
  readonly wrapped: string | null;
}

const columnsOf = (key: RootKeyRow) => ({
  key_check_value: key.checkValue,
  kept_keys_sealed: key.keptKeysSealed,
  wrapped_root_key: key.wrapped,
});

/** Ties a database to its root key. Does nothing to one that has been tied. */
export const insertInstallation = prepared(
  (key: RootKeyRow) =>
    tables
      .insertInto('installation')
      .values(columnsOf(key))
      .onConflict((known) => known.doNothing()),
  { isOfOwner: true },
);

/** Replaces the root key. */
export const replaceRootKey = prepared(
  (key: RootKeyRow) => tables.updateTable('installation').set({ ...columnsOf(key), next_wrapped_root_key: null }),
  { isOfOwner: true },
);

/** Notes the root key that the installation is about to change to, where none is noted yet. */
export const insertNextRootKey = prepared(
  ({ wrapped }: { wrapped: string | null }) =>
    tables
      .updateTable('installation')
      .set({ next_wrapped_root_key: wrapped })
      .where('next_wrapped_root_key', 'is', null),
  { isOfOwner: true },
);

/** Forgets it. No row where there was none. */
export const deleteNextRootKey = prepared(
  () =>
    tables
      .updateTable('installation')
      .set({ next_wrapped_root_key: null })
      .where('next_wrapped_root_key', 'is not', null)
      .returning('id'),
  { isOfOwner: true },
);

/** The same root key as it is encrypted outside now. No row when it has changed meanwhile. */
export const replaceWrappedRootKey = prepared(
  ({ fresh, former }: { fresh: string; former: string }) =>
    tables
      .updateTable('installation')
      .set({ wrapped_root_key: fresh })
      .where('wrapped_root_key', '=', former)
      .returning('id'),
  { isOfOwner: true },
);
