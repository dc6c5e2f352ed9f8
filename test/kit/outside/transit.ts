import { randomBytes, randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { type DataKey, openBytes, type SealPlace, sealBytes, toKey } from '../../../src/kernel/crypto/seal.js';
import { NO_ID } from '../../../src/kernel/ids.js';
import { Authority } from './authority.ts';
import { OutsideServer } from './outside-server.ts';

const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;
const PATH = /^\/v1\/secrets\/transit\/(encrypt|decrypt|rewrap)\/([\w-]+)$/;

interface Answer {
  readonly status: number;
  readonly body: object;
}

/** Any will do. */
const PLACE: SealPlace = {
  organizationId: NO_ID,
  projectId: null,
  table: 'transit',
  column: 'record',
  rowId: NO_ID,
  rowVersion: 1,
};

const refusal = (status: number, ...errors: string[]): Answer => ({ status, body: { errors } });

/** The secrets engine "transit" of a Vault, mounted at `secrets/transit`, as its public documentation says. Strict: it takes nothing else. */
export class TransitServer {
  readonly token = `hvs.${randomBytes(12).toString('hex')}`;
  /** By name: versions of a key, of which the first is 1. */
  readonly keys = new Map<string, DataKey[]>();
  /** What it may still decrypt. */
  minDecryptionVersion = 1;
  isSealed = false;
  readonly #received: string[] = [];

  readonly authority: Authority;
  readonly server: OutsideServer;

  private constructor(authority: Authority, server: OutsideServer) {
    this.authority = authority;
    this.server = server;
  }

  static async start(): Promise<TransitServer> {
    const authority = await Authority.create();
    let transit: TransitServer | undefined;
    const server = await OutsideServer.start(await authority.issue(['localhost']), (request, response) =>
      transit?.answer(request, response),
    );
    transit = new TransitServer(authority, server);
    transit.rotate('strongroom');
    return transit;
  }

  /** As `ROOT_KEY` has it. */
  setting(key = 'strongroom'): string {
    return `transit:https://localhost:${this.server.port}/secrets/transit/${key}`;
  }

  /** Operations that it was asked for. */
  get operations(): readonly string[] {
    return this.#received;
  }

  /** Makes a new version of a key. */
  rotate(name: string): void {
    this.keys.set(name, [...(this.keys.get(name) ?? []), { id: randomUUID(), key: toKey(randomBytes(32)) }]);
  }

  answer(request: IncomingMessage, response: ServerResponse): void {
    const { status, body } = this.#answerTo(request);
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  }

  #answerTo({ method, url = '', headers }: IncomingMessage): Answer {
    if (this.isSealed) return refusal(503, 'Vault is sealed');
    if (headers['x-vault-token'] !== this.token) return refusal(403, 'permission denied');
    const [, operation = '', name = ''] = PATH.exec(url) ?? [];
    if (operation === '') return refusal(404, `no handler for route "${url}"`);
    if (method !== 'POST' && method !== 'PUT') return refusal(405, 'unsupported operation');
    const versions = this.keys.get(name);
    // To encrypt with a key that does not exist is to create it, which a token that may only use keys is not allowed.
    if (versions === undefined)
      return operation === 'encrypt' ? refusal(403, 'permission denied') : refusal(400, 'encryption key not found');
    this.#received.push(operation);
    const sent = JSON.parse(this.server.received.at(-1)?.body ?? '{}') as Record<string, unknown>;
    const [field, ...others] = Object.keys(sent);
    if (others.length > 0 || field !== (operation === 'encrypt' ? 'plaintext' : 'ciphertext'))
      return refusal(400, 'unexpected fields');
    const text = String(sent[field]);
    const bytes = operation === 'encrypt' ? decoded(text) : this.#opened(versions, text);
    if (bytes === null) return refusal(400, 'cipher: message authentication failed');
    const data = operation === 'decrypt' ? { plaintext: bytes.toString('base64') } : this.#sealed(versions, bytes);
    return { status: 200, body: { request_id: 'r', lease_id: '', renewable: false, lease_duration: 0, data } };
  }

  #sealed(versions: readonly DataKey[], bytes: Buffer): object {
    const record = sealBytes(versions.at(-1) as DataKey, PLACE, bytes).toString('base64');
    return { ciphertext: `vault:v${versions.length}:${record}`, key_version: versions.length };
  }

  #opened(versions: readonly DataKey[], text: string): Buffer | null {
    const [, version = '', record = ''] = /^vault:v(\d+):(.+)$/.exec(text) ?? [];
    const key = versions[Number(version) - 1];
    const bytes = decoded(record);
    if (key === undefined || bytes === null || Number(version) < this.minDecryptionVersion) return null;
    try {
      return openBytes(key, PLACE, bytes);
    } catch {
      return null;
    }
  }
}

const decoded = (text: string): Buffer | null => (BASE64.test(text) ? Buffer.from(text, 'base64') : null);
