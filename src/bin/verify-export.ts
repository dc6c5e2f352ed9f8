import { createReadStream } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import * as z from 'zod';
import type { Checkpoint } from '../features/audit/audit-events/checkpoints/checkpoint-text.js';
import { type ExportReport, ExportVerifier } from '../features/audit/audit-events/checkpoints/export-verifier.js';
import { ConfigurationError } from '../kernel/configuration-error.js';
import { isPublicKey } from '../kernel/crypto/stable-keys.js';
import { codeOf } from '../kernel/log.js';
import { runProgram } from './run-program.js';

const EXIT_BROKEN = 1;
const EXIT_UNFINISHED = 2;
const LINE_BREAK = 0x0a;

const USAGE = `npm run verify-export -- EXPORT.ndjson CHECKPOINTS.json [--key PUBLIC_KEY] [--first NUMBER]

Verifies an export of the audit trail with signed checkpoints. Needs neither the service, nor its database, nor its root key.
EXPORT.ndjson    the response of GET /api/v1/audit-events/export; several, continued by their cursors, in one file
CHECKPOINTS.json the response of GET /api/v1/audit-checkpoints, from when it could be trusted
--key            the public key of the installation, as you noted it; without it, compare the key in the output
--first          the export begins with the events of this checkpoint; earlier checkpoints are left out

Exit codes: 0 unchanged, 1 changed, 2 verification did not finish, 78 invalid arguments.
`;

const CheckpointFile = z.strictObject({
  organizationId: z.string(),
  number: z.int().min(1),
  firstEvent: z.int().min(1),
  eventCount: z.int().min(0),
  digest: z.string(),
  previous: z.string(),
  publicKey: z.string(),
  signature: z.string(),
  createdAt: z.string(),
});

/** A list, or a response with one. What else a checkpoint has, as its ID, is not signed. */
const CheckpointList = z.union([
  z.array(z.unknown()),
  z.looseObject({ auditCheckpoints: z.array(z.unknown()) }).transform(({ auditCheckpoints }) => auditCheckpoints),
]);

interface Arguments {
  readonly exported: string;
  readonly checkpoints: string;
  readonly key: string | null;
  readonly first: number;
}

/** `npm run verify-export -- EXPORT.ndjson CHECKPOINTS.json`: compares an export with checkpoints. */
async function main(): Promise<number> {
  if (process.argv.slice(2).some((argument) => argument === '--help' || argument === '-h')) {
    process.stdout.write(USAGE);
    return 0;
  }
  const { exported, checkpoints, key, first } = readArguments();
  const known = (await readCheckpoints(checkpoints)).filter(({ number }) => number >= first);
  const verifier = new ExportVerifier(known, { key, first });
  for await (const line of linesOf(exported)) verifier.take(line);
  const report = verifier.report();
  process.stdout.write(describe(report, key));
  return report.faultCount === 0 ? 0 : EXIT_BROKEN;
}

/** @throws ConfigurationError */
function readArguments(): Arguments {
  const fault = new ConfigurationError([
    'verify-export takes EXPORT.ndjson CHECKPOINTS.json [--key PUBLIC_KEY] [--first NUMBER]',
  ]);
  try {
    const { values, positionals } = parseArgs({
      allowPositionals: true,
      options: { key: { type: 'string' }, first: { type: 'string' } },
    });
    const [exported, checkpoints, ...others] = positionals;
    const { key = null, first = '1' } = values;
    if (exported === undefined || checkpoints === undefined || others.length > 0) throw fault;
    if ((key !== null && !isPublicKey(key)) || !/^[1-9]\d{0,8}$/.test(first)) throw fault;
    return { exported, checkpoints, key, first: Number(first) };
  } catch {
    throw fault;
  }
}

/** @throws ConfigurationError for a file without checkpoints */
async function readCheckpoints(path: string): Promise<Checkpoint[]> {
  const text = await readFile(path, 'utf8').catch((error: unknown) => {
    throw new ConfigurationError([`CHECKPOINTS.json cannot be read: ${codeOf(error as Error)}`]);
  });
  try {
    return CheckpointList.parse(JSON.parse(text)).map((given) => CheckpointFile.strip().parse(given));
  } catch {
    throw new ConfigurationError(['CHECKPOINTS.json must be a response of GET /api/v1/audit-checkpoints']);
  }
}

/** Lines of a file, without their line breaks; only one is in memory. */
async function* linesOf(path: string): AsyncGenerator<Buffer> {
  let rest: Buffer = Buffer.alloc(0);
  for await (const chunk of createReadStream(path) as AsyncIterable<Buffer>) {
    let from = 0;
    for (let end = chunk.indexOf(LINE_BREAK); end >= 0; end = chunk.indexOf(LINE_BREAK, from)) {
      yield Buffer.concat([rest, chunk.subarray(from, end)]);
      rest = Buffer.alloc(0);
      from = end + 1;
    }
    rest = Buffer.concat([rest, chunk.subarray(from)]);
  }
  if (rest.length > 0) yield rest;
}

function describe(report: ExportReport, key: string | null): string {
  const { faults, faultCount, events, uncovered, checkpoints, firstNumber, lastNumber, publicKeys } = report;
  return [
    ...faults,
    ...(faultCount > faults.length ? [`and ${faultCount - faults.length} more`] : []),
    `${events} events, ${uncovered} of them after the last checkpoint and not verified`,
    checkpoints === 0 ? 'no checkpoints' : `${checkpoints} checkpoints, ${firstNumber} to ${lastNumber}`,
    ...publicKeys.map((each) => `key ${each}${key === null ? ': compare it with the key that you noted' : ''}`),
    faultCount === 0 ? 'The export matches its checkpoints.' : 'The export does not match its checkpoints.',
    '',
  ].join('\n');
}

runProgram(main, { event: 'verification failed', code: EXIT_UNFINISHED });
