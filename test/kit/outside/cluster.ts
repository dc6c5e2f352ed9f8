import { randomBytes } from 'node:crypto';
import { Authority } from './authority.ts';
import { OutsideServer } from './outside-server.ts';

const REVIEWS = '/apis/authentication.k8s.io/v1/tokenreviews';

/** A service account of the cluster, and what its token is for. */
interface Account {
  readonly namespace: string;
  readonly name: string;
  readonly audiences: readonly string[];
  /** It may review tokens. */
  readonly isReviewer: boolean;
  isGone: boolean;
}

/**
 * The API of a Kubernetes cluster as far as it reviews tokens, as strict as its reference: path, method, media type, kind and version of
 * the object, and 401 and 403 as `Status` objects for those who may not ask.
 */
export class Cluster {
  static readonly AUDIENCE = 'https://kubernetes.default.svc';
  /** What it answers in place of reviews. */
  answer: 'well' | 'redirect' | 'error' | 'nonsense' | 'silence' | 'forgetful of audiences' = 'well';
  /** It answers after this. */
  #gate: Promise<unknown> = Promise.resolve();
  readonly authorityPem: string;
  readonly #accounts = new Map<string, Account>();
  readonly #server: OutsideServer;

  private constructor(server: OutsideServer, authorityPem: string) {
    this.#server = server;
    this.authorityPem = authorityPem;
  }

  static async start(): Promise<Cluster> {
    const authority = await Authority.create();
    const server = await OutsideServer.start(await authority.issue(['localhost']), async (_, response) => {
      const { method, path, headers, body } = cluster.#server.received.at(-1) ?? {
        method: '',
        path: '',
        headers: {},
        body: '',
      };
      await cluster.#gate;
      const reply = (status: number, object: object) =>
        response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(object));
      const refuse = (code: number, reason: string) =>
        reply(code, { kind: 'Status', apiVersion: 'v1', status: 'Failure', reason, code });
      if (cluster.answer === 'silence') return;
      if (cluster.answer === 'redirect') return response.writeHead(307, { location: `${cluster.url}/elsewhere` }).end();
      if (cluster.answer === 'error') return refuse(500, 'InternalError');
      if (cluster.answer === 'nonsense') return response.end('<html>');
      const asking = cluster.#accounts.get((headers.authorization ?? '').replace(/^Bearer /, ''));
      if (asking === undefined || asking.isGone) return refuse(401, 'Unauthorized');
      if (path !== REVIEWS) return refuse(404, 'NotFound');
      if (method !== 'POST') return refuse(405, 'MethodNotAllowed');
      if (!asking.isReviewer) return refuse(403, 'Forbidden');
      if (headers['content-type'] !== 'application/json') return refuse(415, 'UnsupportedMediaType');
      const review = JSON.parse(body);
      if (review.kind !== 'TokenReview' || review.apiVersion !== 'authentication.k8s.io/v1')
        return refuse(400, 'BadRequest');
      return reply(201, { ...review, status: cluster.#statusOf(review.spec) });
    });
    const cluster = new Cluster(server, authority.pem);
    return cluster;
  }

  #statusOf({ token, audiences = [Cluster.AUDIENCE] }: { token: string; audiences?: readonly string[] }): object {
    const account = this.#accounts.get(token);
    const shared = account?.audiences.filter((audience) => audiences.includes(audience)) ?? [];
    if (account === undefined || account.isGone || shared.length === 0)
      return { authenticated: false, user: {}, error: '[invalid bearer token, token lookup failed]' };
    const { namespace, name } = account;
    return {
      authenticated: true,
      user: {
        username: `system:serviceaccount:${namespace}:${name}`,
        uid: randomBytes(8).toString('hex'),
        groups: ['system:serviceaccounts', `system:serviceaccounts:${namespace}`, 'system:authenticated'],
      },
      ...(this.answer === 'forgetful of audiences' ? {} : { audiences: shared }),
    };
  }

  get url(): string {
    return this.#server.url('').replace(/\/$/, '');
  }

  /** How often it was asked. */
  get asked(): number {
    return this.#server.received.length;
  }

  /** Connections that were made to it. */
  get connections(): number {
    return this.#server.connections;
  }

  /** Answers nobody until the returned function is called. */
  hold(): () => void {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#gate = promise;
    return resolve;
  }

  /** A token of a service account. */
  token(
    namespace = 'shop',
    name = 'web',
    { audiences = [Cluster.AUDIENCE] as readonly string[], isReviewer = false } = {},
  ): string {
    const part = (bytes: number) => randomBytes(bytes).toString('base64url');
    const token = `${part(20)}.${part(60)}.${part(40)}`;
    this.#accounts.set(token, { namespace, name, audiences, isReviewer, isGone: false });
    return token;
  }

  /** Its pod is gone. */
  forget(token: string): void {
    const account = this.#accounts.get(token);
    if (account !== undefined) account.isGone = true;
  }

  /** Does not keep a process from its end. */
  unref(): this {
    this.#server.unref();
    return this;
  }

  stop(): Promise<void> {
    return this.#server.stop();
  }
}
