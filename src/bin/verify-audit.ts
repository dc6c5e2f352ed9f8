import { createSecretKey } from 'node:crypto';
import { parseArgs } from 'node:util';
import { type Config, readConfig } from '../config.js';
// Not by its public.ts, which loads GraphQL types that need the decorators of the service.
import { compareWithTrail, type TrailComparison } from '../features/secrets/trail-states.sql.js';
import { AuditChain } from '../kernel/audit/audit-chain.js';
import type { Anchor, TrailReport } from '../kernel/audit/audit-verifier.js';
import { verifyTrail } from '../kernel/audit/verify-trail.js';
import { ConfigurationError } from '../kernel/configuration-error.js';
import { openInstallationKeys, openRootKeys } from '../kernel/crypto/installation.js';
import { findInstallation } from '../kernel/crypto/installation.queries.js';
import { Database } from '../kernel/database/database.js';
import { hasTables } from '../kernel/database/migration.sql.js';
import { inSnapshot } from '../kernel/database/on-connection.js';
import type { Session } from '../kernel/database/session.js';
import { openServer } from './program.js';
import { runProgram } from './run-program.js';

const EXIT_BROKEN = 1;
const EXIT_UNFINISHED = 2;
const MAX_VIOLATIONS = 200;
const ROWS_AT_ONCE = 5_000;
const TABLES = ['audit_record', 'audit_seal', 'audit_disclosure', 'audit_expiry', 'installation'];

const USAGE = `npm run verify-audit [-- --anchor NUMBER:HASH ...]

Verifies the audit trail and its seals, and compares every secret with its last change in the trail. Lists each row or seal that was
tampered with, and each secret that differs. Use the settings of the service: DATABASE_URL and ROOT_KEY, or DATA_DIR.
An anchor is a head of the chain that the service logged earlier, in "audit head".

Exit codes: 0 intact, 1 tampered with or secrets that differ, 2 verification did not finish, 75 the database or transit is
away, 78 configuration error.
`;

/** `npm run verify-audit [-- --anchor NUMBER:HASH ...]`: walks the audit trail and its seals, and compares secrets with it. */
async function main(): Promise<number> {
  if (process.argv.slice(2).some((argument) => argument === '--help' || argument === '-h')) {
    process.stdout.write(USAGE);
    return 0;
  }
  const anchors = readAnchors();
  const config = readConfig();
  const server = await openServer(config);
  try {
    const database = await Database.connect(server, {});
    try {
      const report = await database.withoutLimits(() =>
        database.withConnection((_, session) => verify(session, config, anchors)),
      );
      process.stdout.write(describe(report));
      return report.trail.faultCount + report.secrets.differenceCount === 0 ? 0 : EXIT_BROKEN;
    } finally {
      await database.close();
    }
  } finally {
    await server.stop();
  }
}

/** Anchors as the log has them. @throws ConfigurationError */
function readAnchors(): Anchor[] {
  const fault = new ConfigurationError([
    '--anchor takes NUMBER:HASH from the log event "audit head"; no other arguments are supported',
  ]);
  try {
    const { values } = parseArgs({ options: { anchor: { type: 'string', multiple: true } } });
    return (values.anchor ?? []).map((text) => {
      const [, number, hash] = /^(\d{1,18}):([0-9a-f]{64})$/.exec(text) ?? [];
      if (number === undefined || hash === undefined) throw fault;
      return { number: BigInt(number), hash };
    });
  } catch {
    throw fault;
  }
}

interface Report {
  readonly trail: TrailReport;
  readonly secrets: TrailComparison;
}

/** @throws ConfigurationError when it is no database of a service, or of one with another root key */
function verify(session: Session, config: Config, anchors: readonly Anchor[]): Promise<Report> {
  const { query } = session;
  return inSnapshot(session, async () => {
    const [tables] = await hasTables(query, { names: TABLES });
    if (tables?.haveAll !== true)
      throw new ConfigurationError(['the database has no audit seals; start the service on it once']);
    const [installation] = await findInstallation(query, {});
    // Without it a root key would be made, as for an empty database.
    if (installation === undefined) throw new ConfigurationError(['the database has no check value of its root key']);
    const all = await openInstallationKeys(query, await openRootKeys(query, config));
    const keys = { chain: new AuditChain(all.macKey('audit-seal')), key: createSecretKey(all.macKey('audit')) };
    const how = { anchors, maxFaults: MAX_VIOLATIONS, rowsAtOnce: ROWS_AT_ONCE };
    return { trail: await verifyTrail(query, keys, how), secrets: await compareWithTrail(query, MAX_VIOLATIONS) };
  });
}

const moreThan = (shown: number, all: number): string[] => (all > shown ? [`and ${all - shown} more`] : []);

function describe({ trail, secrets }: Report): string {
  const { rows, unsealed, expired, seals, head, faults, faultCount } = trail;
  const { equal, unknown, differences, differenceCount } = secrets;
  return [
    ...faults.map(({ place, fault }) => `${place}: ${fault}`),
    ...moreThan(faults.length, faultCount),
    ...differences.map(({ name, difference }) => `${name}: ${difference}`),
    ...moreThan(differences.length, differenceCount),
    `${rows} rows, ${unsealed} of them not sealed yet, ${seals} seals`,
    ...(expired === 0 ? [] : [`${expired} rows were dropped when their retention had ended`]),
    `${equal} secrets match the trail, ${differenceCount} differ, ${unknown} were last changed before the trail recorded versions`,
    head === null ? 'no seals yet' : `head ${head.number}:${head.mac.toString('hex')}`,
    faultCount === 0
      ? 'The audit trail is intact.'
      : `The audit trail is not intact: ${faultCount} ${faultCount === 1 ? 'violation' : 'violations'}.`,
    ...(differenceCount === 0 ? [] : ['The stored secrets do not match the audit trail.']),
    '',
  ].join('\n');
}

runProgram(main, { event: 'verification failed', code: EXIT_UNFINISHED });
