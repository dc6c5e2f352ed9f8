import { createHash } from 'node:crypto';
import type { Database, Query } from './database.js';
import { sqlState } from './in-transaction.js';
import { inOwnTransaction } from './on-connection.js';
import { UNSCOPED } from './scope.js';
import {
  createRole,
  findOwner,
  findRole,
  findSchema,
  findSession,
  grant,
  joinRole,
  listMissingFunctions,
  listRelations,
  listTablesByRowSecurity,
  nameOfFunction,
  nameOfRelation,
  nameOfSchema,
  revoke,
  setTableRowSecurity,
} from './service-role.sql.js';
import type { Session } from './session.js';
import type { RowFrom } from './statement.js';

/** Rights to tables, as grants name them, by table: `select`, `update (valid_to)`. */
export type TableRights = Readonly<Record<string, readonly string[]>>;

/** Rows may be read and added, and never changed. */
export const APPEND_ONLY: readonly string[] = ['select', 'insert'];
const ROWS: readonly string[] = ['select', 'insert', 'update', 'delete'];

/**
 * What the service may do with tables of the kernel that hold it to account, and with those that only programs and migrations change.
 * It may read and write the rows of all other tables.
 */
const NARROW: TableRights = {
  audit_record: APPEND_ONLY,
  audit_disclosure: APPEND_ONLY,
  audit_seal: APPEND_ONLY,
  audit_expiry: APPEND_ONLY,
  audit_partition: ['select'],
  // A right to update some column is needed to lock the row. A constraint holds this one to its only value.
  installation: ['select', 'update (id)'],
  schema_migration: ['select'],
};
/** Of relations by their kind in the catalog. Numbers of rows are drawn with the right to insert; `setval` would need one to update. */
const OF_KIND: TableRights = { r: ROWS, p: ROWS, v: ['select'], S: ['select'] };
/** Those that run with the rights of the owner, and check themselves what they are asked for. */
const FUNCTIONS = ['add_audit_partition(date)', 'drop_audit_partition(date)'];

const INSUFFICIENT_PRIVILEGE = '42501';
const NAME = 'strongroom_service_';
const LONGEST_NAME = 63;

/** A role of the server that the service can work with, or why there is none. */
export type ServiceRole = { readonly role: string } | { readonly reason: string };

/**
 * The role for a database whose owner is the only one who logs in to it. It is made when it is missing. Each database has its own:
 * the owner of another one must not get into this one by it.
 *
 * @param query of the owner, under the migration lock
 */
export async function ensureServiceRole(query: Query): Promise<ServiceRole> {
  const [owner] = await findOwner(query, {});
  const role = roleOf(owner?.database ?? '');
  try {
    const [found] = await findRole(query, { role });
    if (found === undefined && owner?.canCreateRoles !== true)
      return { reason: 'the user of DATABASE_URL cannot create roles' };
    if (found === undefined) await query(createRole(role));
    if (found?.canBecome !== true) await query(joinRole(role));
  } catch (error) {
    if (sqlState(error) !== INSUFFICIENT_PRIVILEGE) throw error;
    return { reason: `the user of DATABASE_URL cannot create the role ${role}, or become it` };
  }
  return checkServiceRole(query, role);
}

/** @returns the role, unless it can do all that the owner can */
export async function checkServiceRole(query: Query, role: string): Promise<ServiceRole> {
  const [found] = await findRole(query, { role });
  if (found === undefined) return { reason: `the database server has no role ${role}` };
  return found.isPowerful ? { reason: `the role ${role} has the rights of a superuser or of the owner` } : { role };
}

const roleOf = (database: string): string => {
  const name = NAME + database;
  // It stands in a setting of connections, where other characters would have to be escaped.
  if (/^[a-z0-9_]+$/.test(database) && name.length <= LONGEST_NAME) return name;
  return NAME + createHash('sha256').update(database).digest('hex').slice(0, 32);
};

type Relation = RowFrom<typeof listRelations>;

/**
 * Grants a role what the service needs, and revokes everything else from it, for all relations that there are now. Writes nothing when
 * that is so already: nodes that run would plan their statements again.
 *
 * @param query of the owner, on one connection, under the migration lock
 * @param ofSlices rights to tables of slices that are narrower than to others
 */
export async function grantToServiceRole(session: Session, role: string, ofSlices: TableRights): Promise<void> {
  const { query } = session;
  const narrow = { ...NARROW, ...ofSlices };
  const changes = (await listRelations(query, { role })).flatMap((relation) => changesOf(relation, role, narrow));
  changes.push(...(await missingFunctions(query, role)));
  const [schema] = await findSchema(query, { role });
  if (schema?.isUsable === false) changes.push(grant(['usage'], nameOfSchema(schema.name), role));
  if (changes.length === 0) return;
  await inOwnTransaction(session, async () => {
    for (const change of changes) await query(change);
  });
}

function changesOf({ name, kind, held }: Relation, role: string, narrow: TableRights): string[] {
  const wanted = narrow[name] ?? OF_KIND[kind] ?? [];
  const on = nameOfRelation(name, kind);
  const [tooMuch, missing] = [held.filter((it) => !wanted.includes(it)), wanted.filter((it) => !held.includes(it))];
  return [
    ...(tooMuch.length === 0 ? [] : [revoke(tooMuch, on, role)]),
    ...(missing.length === 0 ? [] : [grant(missing, on, role)]),
  ];
}

async function missingFunctions(query: Query, role: string): Promise<string[]> {
  const missing = await listMissingFunctions(query, { role, functions: FUNCTIONS });
  return missing.map(({ name }) => grant(['execute'], nameOfFunction(name), role));
}

/** Puts the policies of tables into effect, or out of it. As the owner of the tables; for all nodes. */
export async function setRowSecurity(query: Query, isOn: boolean): Promise<void> {
  for (const { name } of await listTablesByRowSecurity(query, { isOn: !isOn }))
    await query(setTableRowSecurity(name, isOn));
}

/**
 * From now on all connections have a role that owns nothing.
 *
 * @param access `login`: the URL of the one who logs in with it; null: the owner does, and becomes it. `isBounded`: policies hold
 *   statements to an organization
 * @returns false when they do not have it, and work as before: behind a pooler that leaves out settings of connections, or for
 * another database than that of the owner
 */
export async function switchToServiceRole(
  database: Database,
  role: string,
  { login, isBounded }: { readonly login: string | null; readonly isBounded: boolean },
): Promise<boolean> {
  const settings = [...(login === null ? [roleSetting(role)] : []), ...(isBounded ? [] : [UNSCOPED])];
  const undo = await database.reconnect({ url: login, settings });
  const [session] = await findSession(database.query, {});
  const isService = session?.role === role && session.canRead === true;
  if (isService) database.isBounded = isBounded;
  else await undo();
  return isService;
}

/** Settings of a connection of the owner that has a role. */
const roleSetting = (role: string): string => `-c role=${role}`;
