import pg from 'pg';

/** Texts that control a session or a transaction: they have neither parameters nor rows. */
export const BEGIN = 'begin isolation level read committed';
export const BEGIN_READ_ONLY = 'begin read only';
/** All of its queries see the database as the first one did. */
export const BEGIN_SNAPSHOT = 'begin isolation level repeatable read, read only';
export const COMMIT = 'commit';
export const ROLLBACK = 'rollback';
/** The session's prepared statements are planned anew, each when it is next used. */
export const DISCARD_PLANS = 'discard plans';
/** Waits for the lock of a number; it ends with the transaction. */
export const LOCK = 'select pg_advisory_xact_lock($1)';
/** The same by a name. */
export const LOCK_NAME = 'select pg_advisory_xact_lock(hashtextextended($1, 0))';
/** The same, but it does not wait: whether it was free. */
export const TRY_LOCK = 'select pg_try_advisory_xact_lock($1) as held';
/** Asks whether a server responds. */
export const PING = 'select 1';

/** Sets a limit of the running transaction. @param milliseconds 0: there is none */
export const setLocalLimit = (
  name: 'statement_timeout' | 'lock_timeout' | 'idle_in_transaction_session_timeout',
  milliseconds: number,
): string => `set local ${name} = ${milliseconds}`;

/** Sets anything else of the running transaction. @param value absent: the parameter of the statement */
export const setLocal = (name: string, value?: string): string =>
  `select set_config(${pg.escapeLiteral(name)}, ${value === undefined ? '$1' : pg.escapeLiteral(value)}, true)`;

/**
 * Settings of a connection, in the form of its start (`-c name=value -c name=value`), as columns of a select that sets them.
 *
 * @param isLocal for the transaction only
 */
export const settingsIn = (options: string, isLocal: boolean): string[] =>
  options.split('-c ').flatMap((setting) => {
    const [name, value] = setting.trim().split('=');
    return name === undefined || value === undefined
      ? []
      : [`set_config(${pg.escapeLiteral(name)}, ${pg.escapeLiteral(value)}, ${isLocal})`];
  });

/** A statement that sets them for the session. */
export const setSettings = (options: string): string => `select ${settingsIn(options, false).join(', ')}`;

/**
 * Fails in a transaction that began longer ago than this: by a division, since it needs no function.
 *
 * @param milliseconds of the server's clock
 */
export const refuseAfter = (milliseconds: number): string =>
  `select 1 / (clock_timestamp() < now() + interval '${milliseconds} milliseconds')::integer`;

/** Which session of the server runs a statement. */
export const FIND_SESSION = 'select pg_backend_pid() as session';

/** A setting of connections that shows whether they have those that they were started with. */
export const FIND_LOCK_TIMEOUT = `select setting as "limit" from pg_settings where name = 'lock_timeout'`;

export const FIND_READ_ONLY = `select current_setting('transaction_read_only')::boolean as "isReadOnly"`;

/** Takes 64 KiB of the disk, which do not shrink, and gives them back: a large object needs no table. */
export const TRY_DISK = `select lo_unlink(lo_from_bytea(0, string_agg(uuid_send(gen_random_uuid()), '')))
  from generate_series(1, 4096)`;

/** Makes an own database on a server. */
export const createDatabase = (name: string): string => `create database ${pg.escapeIdentifier(name)}`;

/** Reads the rows of a query in batches, in one transaction: `fetchFrom`, then `closeCursor`. */
export const declareCursor = (name: string, text: string): string => `declare ${name} no scroll cursor for ${text}`;
export const fetchFrom = (name: string, rows: number): string => `fetch ${rows} from ${name}`;
export const closeCursor = (name: string): string => `close ${name}`;
