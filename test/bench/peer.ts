import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Request } from 'autocannon';
import { freePort } from '../kit/free-port.ts';
import { someAtATime } from '../kit/some-at-a-time.ts';
import { until } from '../kit/until.ts';
import { anyKey, anyOf, json, LISTS } from './mixes.ts';

/** What a HashiCorp Vault does that a load of ours does, too. */
export type PeerLoad = keyof typeof REQUESTS;

const PROJECTS = 20;
const VALUE = 'correct horse battery staple';
const START_MS = 30_000;

interface PeerProject {
  readonly name: string;
  readonly token: string;
  readonly login: { readonly role_id: string; readonly secret_id: string };
}

/** Our secrets one by one are documents with one entry each, and a list is one document with as many entries. */
const REQUESTS = {
  get: ({ name }: PeerProject): Request => ({ path: dataOf(name, anyKey(1_000)) }),
  'list of 100': ({ name }: PeerProject): Request => ({ path: dataOf(name, 'of-100') }),
  'list of 1000': ({ name }: PeerProject): Request => ({ path: dataOf(name, 'of-1000') }),
  login: ({ login }: PeerProject): Request => ({ method: 'POST', path: '/v1/auth/approle/login', ...json(login) }),
  create: ({ name }: PeerProject): Request => write(dataOf(name, `NEW_${randomUUID()}`), { value: VALUE }),
  update: ({ name }: PeerProject): Request => write(dataOf(name, anyKey(1_000)), { value: randomUUID() }),
  'create token': (): Request => ({
    method: 'POST',
    path: '/v1/auth/token/create',
    ...json({ policies: ['default'] }),
  }),
};

const dataOf = (project: string, name: string): string => `/v1/secret/data/${project}/${name}`;
const write = (path: string, data: object): Request => ({ method: 'POST', path, ...json({ data }) });

/** A server of HashiCorp Vault with its storage on disk and its audit in a file, and as much in it as the service has. */
export class Peer {
  readonly url: string;
  readonly #child: ChildProcess;
  readonly #folder: string;
  #rootToken = '';
  #projects: readonly PeerProject[] = [];

  private constructor(url: string, child: ChildProcess, folder: string) {
    this.url = url;
    this.#child = child;
    this.#folder = folder;
  }

  /** @param program its binary */
  static async start(program: string): Promise<Peer> {
    const folder = await mkdtemp(join(tmpdir(), 'strongroom-bench-peer-'));
    const [port, clusterPort] = [await freePort(), await freePort()];
    const url = `http://127.0.0.1:${port}`;
    const config = {
      storage: { raft: { path: folder, node_id: 'bench' } },
      listener: { tcp: { address: `127.0.0.1:${port}`, tls_disable: true } },
      api_addr: url,
      cluster_addr: `http://127.0.0.1:${clusterPort}`,
      disable_mlock: true,
    };
    await writeFile(join(folder, 'config.json'), JSON.stringify(config));
    const child = spawn(program, ['server', `-config=${join(folder, 'config.json')}`, '-log-level=error'], {
      stdio: 'ignore',
    });
    const peer = new Peer(url, child, folder);
    try {
      await peer.#open();
      peer.#projects = await someAtATime(
        Array.from({ length: PROJECTS }, (_, n) => `project-${n}`),
        (name) => peer.#fill(name),
      );
    } catch (error) {
      await peer.stop();
      throw error;
    }
    return peer;
  }

  /** A request of this kind, each about another project with the token of its own client. */
  request(load: PeerLoad): Request {
    const make: (project: PeerProject) => Request = REQUESTS[load];
    return {
      setupRequest: () => {
        const project = anyOf(this.#projects);
        const { headers, ...request } = make(project);
        const token = load === 'create token' ? this.#rootToken : project.token;
        return { method: 'GET', ...request, headers: { 'x-vault-token': token, ...headers } };
      },
    };
  }

  /** A login of the client of a project, and its list of 100. */
  async loginAndList(place: number): Promise<void> {
    const { name, login } = this.#projects[place % this.#projects.length] as PeerProject;
    const { auth } = await this.#ask('POST', '/v1/auth/approle/login', login, null);
    await this.#ask('GET', dataOf(name, 'of-100'), undefined, auth.client_token);
  }

  async stop(): Promise<void> {
    this.#child.kill();
    if (this.#child.exitCode === null) await once(this.#child, 'exit');
    await rm(this.#folder, { recursive: true, force: true });
  }

  async #open(): Promise<void> {
    const answers = () =>
      fetch(`${this.url}/v1/sys/init`).then(
        ({ ok }) => ok,
        () => false,
      );
    await until('the server to compare with to answer', START_MS, answers);
    const made = await this.#ask('PUT', '/v1/sys/init', { secret_shares: 1, secret_threshold: 1 });
    this.#rootToken = made.root_token;
    await this.#ask('PUT', '/v1/sys/unseal', { key: made.keys[0] });
    await until('it to be active', START_MS, () =>
      fetch(`${this.url}/v1/sys/health`).then(({ status }) => status === 200),
    );
    await this.#ask('PUT', '/v1/sys/audit/file', {
      type: 'file',
      options: { file_path: join(this.#folder, 'audit.log') },
    });
    await this.#ask('POST', '/v1/sys/mounts/secret', { type: 'kv', options: { version: '2' } });
    await this.#ask('POST', '/v1/sys/auth/approle', { type: 'approle' });
    // A new store of that kind prepares itself, and refuses to write meanwhile.
    const isReady = () =>
      this.#ask('POST', dataOf('none', 'none'), { data: {} }).then(
        () => true,
        () => false,
      );
    await until('its store to be ready', START_MS, isReady);
  }

  async #fill(name: string): Promise<PeerProject> {
    const policy = `path "secret/data/${name}/*" { capabilities = ["create", "read", "update"] }`;
    await this.#ask('PUT', `/v1/sys/policies/acl/${name}`, { policy });
    for (const count of LISTS) await this.#ask('POST', dataOf(name, `of-${count}`), { data: entries(count) });
    for (const key of Object.keys(entries(1_000)))
      await this.#ask('POST', dataOf(name, key), { data: { value: VALUE } });
    const role = `/v1/auth/approle/role/${name}`;
    await this.#ask('POST', role, { token_policies: [name] });
    const { data: id } = await this.#ask('GET', `${role}/role-id`);
    const { data: secret } = await this.#ask('POST', `${role}/secret-id`, {});
    const { auth } = await this.#ask('POST', '/v1/auth/token/create', { policies: [name] });
    return { name, token: auth.client_token, login: { role_id: id.role_id, secret_id: secret.secret_id } };
  }

  // biome-ignore lint/suspicious/noExplicitAny: answers of another program, of many shapes
  async #ask(method: string, path: string, body?: object, token: string | null = this.#rootToken): Promise<any> {
    const headers = { ...(token === null || token === '' ? {} : { 'x-vault-token': token }) };
    const response = await fetch(`${this.url}${path}`, {
      method,
      headers,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
    return text === '' ? null : JSON.parse(text);
  }
}

const entries = (count: number): Record<string, string> =>
  Object.fromEntries(Array.from({ length: count }, (_, n) => [`KEY_${String(n).padStart(5, '0')}`, `value-${n}`]));
