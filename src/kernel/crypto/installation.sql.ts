import { sqlStatement, t } from '../database/statement.js';

/** Whether the database has the table. */
export const hasInstallationTable = sqlStatement({
  text: `select to_regclass('installation') is not null as "exists"`,
  params: {},
  row: { exists: t.boolean },
});

/** The root key of the installation. */
export const findInstallation = sqlStatement({
  text: `
    select key_check_value as "checkValue", wrapped_root_key as wrapped, next_wrapped_root_key as "nextWrapped" from installation`,
  params: {},
  row: { checkValue: t.bytea, wrapped: t.nullable(t.text), nextWrapped: t.nullable(t.text) },
});

/** The sealed base of keys that stay the same when the root key changes. */
export const findStableKeys = sqlStatement({
  text: 'select kept_keys_sealed as sealed from installation',
  params: {},
  row: { sealed: t.nullable(t.bytea) },
});

/** Ties a database to its root key. Does nothing to one that has been tied. */
export const insertInstallation = sqlStatement({
  text: `
    insert into installation (key_check_value, kept_keys_sealed, wrapped_root_key)
    values (:checkValue, :keptKeysSealed, :wrapped) on conflict do nothing`,
  params: { checkValue: t.bytea, keptKeysSealed: t.bytea, wrapped: t.nullable(t.text) },
  row: {},
  isOfOwner: true,
});

/** Notes the root key that the installation is about to change to, where none is noted yet. */
export const noteNextRootKey = sqlStatement({
  text: 'update installation set next_wrapped_root_key = :wrapped where next_wrapped_root_key is null',
  params: { wrapped: t.nullable(t.text) },
  row: {},
  isOfOwner: true,
});

/** Forgets it. No row where there was none. */
export const forgetNextRootKey = sqlStatement({
  text: 'update installation set next_wrapped_root_key = null where next_wrapped_root_key is not null returning true as done',
  params: {},
  row: { done: t.boolean },
  isOfOwner: true,
});

/** A lock that one change of the root key at a time has until its commit. */
export const lockRootKey = sqlStatement({
  text: 'select pg_advisory_xact_lock(:lock)::text as locked',
  params: { lock: t.bigint },
  row: { locked: t.text },
});

/** The root key and what it seals, held until the commit: whoever adds a key of the old one has added it before, or waits and adds none. */
export const lockInstallation = sqlStatement({
  text: `
    select key_check_value as "checkValue", kept_keys_sealed as "keptKeysSealed", next_wrapped_root_key as "nextWrapped"
    from installation for update`,
  params: {},
  row: { checkValue: t.bytea, keptKeysSealed: t.nullable(t.bytea), nextWrapped: t.nullable(t.text) },
});

/** Replaces the root key. */
export const replaceRootKey = sqlStatement({
  text: `
    update installation set key_check_value = :checkValue, kept_keys_sealed = :keptKeysSealed, wrapped_root_key = :wrapped,
      next_wrapped_root_key = null`,
  params: { checkValue: t.bytea, keptKeysSealed: t.bytea, wrapped: t.nullable(t.text) },
  row: {},
  isOfOwner: true,
});

/** The same root key as it is encrypted outside now. No row when it has changed meanwhile. */
export const replaceWrappedRootKey = sqlStatement({
  text: 'update installation set wrapped_root_key = :fresh where wrapped_root_key = :former returning true as done',
  params: { fresh: t.text, former: t.text },
  row: { done: t.boolean },
  isOfOwner: true,
});
