import { readFile } from 'node:fs/promises';
import https from 'node:https';
import { setTimeout as delay } from 'node:timers/promises';
import { ConfigurationError, TemporaryError } from '../configuration-error.js';
import type { Log } from '../log.js';
import type { SealedText } from './sealed-text.js';

/** Where root keys are encrypted, outside of this service. */
export interface RootKeyProvider {
  /** @returns what is stored in the database */
  encrypt(rootKey: Buffer): Promise<string>;
  /** @returns the bytes, which the caller clears */
  decrypt(ciphertext: string): Promise<Buffer>;
  /** The same root key, encrypted with the newest version of the key of the provider. */
  rewrap(ciphertext: string): Promise<string>;
}

/** How transit is reached. */
export interface TransitSettings {
  /** The token itself, or `file:PATH`. */
  readonly token: SealedText | null;
  /** Path of the certificates, in PEM, of which one has signed that of transit; `null`: those that Node trusts. */
  readonly caFile: string | null;
  /** How long transit is waited for when it is away. */
  readonly waitSeconds: number;
}

/** `transit:https://HOST[:PORT]/MOUNT/KEY`. */
export const TRANSIT = /^transit:(https:\/\/[^/?#@\s]+)\/([\w./-]+)\/([\w.-]+)$/;

const CALL_MS = 5_000;
const PAUSE_MS = 1_000;
const MAX_BYTES = 65_536;

/** Away, for now. */
class Away extends Error {}

/** Transit is there, and did not do what it was asked for. */
export class TransitRefusal extends ConfigurationError {
  /** @param status of its answer; 400: the key did not encrypt what it was to decrypt */
  constructor(
    violations: readonly string[],
    readonly status: number,
  ) {
    super(violations);
  }
}

/**
 * The secrets engine "transit" of HashiCorp Vault, and of what is compatible with it: OpenBao. Its keys never leave it. Called at starts
 * alone: requests of this service do not depend on it.
 */
export class Transit implements RootKeyProvider {
  readonly #origin: string;
  readonly #mount: string;
  readonly #key: string;

  /**
   * @param setting as `TRANSIT`
   * @param variable that has it
   */
  constructor(
    setting: string,
    private readonly variable: string,
    private readonly settings: TransitSettings,
    private readonly log: Log,
  ) {
    const [, origin = '', mount = '', key = ''] = TRANSIT.exec(setting) ?? [];
    this.#origin = origin;
    this.#mount = mount;
    this.#key = key;
  }

  encrypt(rootKey: Buffer): Promise<string> {
    return this.#call('encrypt', { plaintext: rootKey.toString('base64') }, 'ciphertext');
  }

  async decrypt(ciphertext: string): Promise<Buffer> {
    return Buffer.from(await this.#call('decrypt', { ciphertext }, 'plaintext'), 'base64');
  }

  rewrap(ciphertext: string): Promise<string> {
    return this.#call('rewrap', { ciphertext }, 'ciphertext');
  }

  /** @throws TemporaryError when it was away all the time, TransitRefusal when it refuses, ConfigurationError for settings */
  async #call(operation: string, body: object, field: 'ciphertext' | 'plaintext'): Promise<string> {
    const deadline = performance.now() + this.settings.waitSeconds * 1_000;
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await this.#once(operation, body, field);
      } catch (error) {
        if (!(error instanceof Away)) throw error;
        if (performance.now() >= deadline) throw new TemporaryError([`${this.variable}: ${error.message}`]);
        if (attempt === 1)
          this.log.warn('waiting for transit', { seconds: this.settings.waitSeconds, reason: error.message });
        await delay(PAUSE_MS);
      }
    }
  }

  async #once(operation: string, body: object, field: string): Promise<string> {
    const { status, text } = await this.#send(`/v1/${this.#mount}/${operation}/${this.#key}`, JSON.stringify(body));
    // Sealed, standing by, overloaded, or a balancer without a server behind it.
    if (status >= 500 || status === 429 || status === 473 || status === 472)
      throw new Away(`transit is not available now (${status})`);
    if (status !== 200)
      throw new TransitRefusal(
        [`${this.variable}: transit refused to ${operation} (${status})${REASONS[status] ?? ''}`],
        status,
      );
    const found = fieldIn(text, field);
    if (found === null) throw this.#refused('transit answered something else than its interface says');
    return found;
  }

  async #send(path: string, body: string): Promise<{ status: number; text: string }> {
    const [token, ca] = [await this.#token(), await this.#certificates()];
    const headers = {
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(body),
      'x-vault-request': 'true',
      'x-vault-token': token,
    };
    return new Promise((resolve, reject) => {
      const options = { method: 'POST', headers, agent: false, signal: AbortSignal.timeout(CALL_MS) } as const;
      const request = https.request(
        `${this.#origin}${path}`,
        ca === null ? options : { ...options, ca },
        (response) => {
          const chunks: Buffer[] = [];
          let bytes = 0;
          response.on('data', (chunk: Buffer) => {
            bytes += chunk.length;
            if (bytes > MAX_BYTES) request.destroy(new Error('too long'));
            else chunks.push(chunk);
          });
          response.on('error', () => reject(new Away('transit closed the connection')));
          response.on('end', () =>
            resolve({ status: response.statusCode ?? 0, text: Buffer.concat(chunks).toString('utf8') }),
          );
        },
      );
      request.on('error', (error: NodeJS.ErrnoException) => reject(this.#failure(error)));
      request.end(body);
    });
  }

  /** Certificates do not become valid by waiting. */
  #failure({ code = '' }: NodeJS.ErrnoException): Error {
    if (/CERT|^UNABLE_TO|SELF_SIGNED|ALTNAME/.test(code))
      return this.#refused(`the certificate of transit is not valid (${code}); see TRANSIT_CA_FILE`);
    return new Away(`transit is not reached (${code === '' ? 'no answer' : code})`);
  }

  async #token(): Promise<string> {
    const setting = this.settings.token?.reveal() ?? null;
    if (setting === null) throw this.#refused('transit needs TRANSIT_TOKEN');
    const token = setting.startsWith('file:')
      ? await this.#read(setting.slice('file:'.length), 'TRANSIT_TOKEN')
      : setting;
    // A header holds no other characters.
    if (!/^[\x21-\x7e]+$/.test(token.trim())) throw this.#refused('TRANSIT_TOKEN is no token');
    return token.trim();
  }

  async #certificates(): Promise<string | null> {
    const { caFile } = this.settings;
    return caFile === null ? null : this.#read(caFile, 'TRANSIT_CA_FILE');
  }

  #read(path: string, name: string): Promise<string> {
    return readFile(path, 'utf8').catch(() => {
      throw this.#refused(`the file that ${name} names cannot be read`);
    });
  }

  #refused(reason: string): ConfigurationError {
    return new ConfigurationError([`${this.variable}: ${reason}`]);
  }
}

const REASONS: Readonly<Record<number, string>> = {
  400: ': the key does not exist there, or did not encrypt this, or min_decryption_version forbids its version',
  403: ': the token is not valid, or its policy does not allow it, or the key does not exist there',
  404: ': there is no such mount',
  307: ': it is another node; use the address of the active one',
};

function fieldIn(text: string, field: string): string | null {
  try {
    const found: unknown = JSON.parse(text)?.data?.[field];
    return typeof found === 'string' ? found : null;
  } catch {
    return null;
  }
}
