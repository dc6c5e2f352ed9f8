import { randomBytes } from 'node:crypto';
import { type CryptoKey, exportJWK, generateKeyPair, type JWK, SignJWT } from 'jose';
import { Authority } from './authority.ts';
import { OutsideServer } from './outside-server.ts';

/** Claims as a pipeline of a repository gets them. */
export const PIPELINE = {
  sub: 'repo:example/shop:ref:refs/heads/main',
  aud: 'https://secrets.example.com',
  repository: 'example/shop',
  ref: 'refs/heads/main',
  environment: 'production',
};

interface Signing {
  readonly kid: string;
  readonly alg: string;
  readonly privateKey: CryptoKey;
  readonly publicKey: JWK;
}

async function newSigning(alg = 'RS256', kid = randomBytes(8).toString('hex')): Promise<Signing> {
  const { privateKey, publicKey } = await generateKeyPair(alg, { extractable: true });
  return { kid, alg, privateKey, publicKey: { ...(await exportJWK(publicKey)), kid, alg, use: 'sig' } };
}

/** An issuer of OpenID Connect: an HTTPS server with keys of its own, known to nobody but by its certificate authority. */
export class Issuer {
  /** What it answers in place of its documents. */
  answer: 'well' | 'redirect' | 'error' | 'nonsense' | 'null' | 'huge' | 'silence' | 'drip' = 'well';
  /** It answers after this. */
  #gate: Promise<unknown> = Promise.resolve();
  signing: Signing;
  readonly authorityPem: string;
  readonly #server: OutsideServer;
  #published: JWK[];

  private constructor(server: OutsideServer, authorityPem: string, signing: Signing) {
    this.#server = server;
    this.authorityPem = authorityPem;
    this.signing = signing;
    this.#published = [signing.publicKey];
  }

  static async start(): Promise<Issuer> {
    const authority = await Authority.create();
    const server = await OutsideServer.start(await authority.issue(['localhost']), async (request, response) => {
      await issuer.#gate;
      const { answer, url } = issuer;
      if (answer === 'silence') return;
      if (answer === 'drip') {
        const drops = setInterval(() => response.write(' '), 100);
        response.once('close', () => clearInterval(drops));
        return;
      }
      if (answer === 'redirect') return response.writeHead(302, { location: `${url}/elsewhere` }).end();
      if (answer === 'error') return response.writeHead(503).end();
      if (answer === 'nonsense') return response.end('<html>');
      if (answer === 'null') return response.end('null');
      const documents: Record<string, unknown> = {
        '/.well-known/openid-configuration': { issuer: url, jwks_uri: `${url}/keys` },
        '/keys': { keys: issuer.#published },
      };
      response.setHeader('content-type', 'application/json');
      // Spaces before a document are part of it.
      return response.end(
        ' '.repeat(answer === 'huge' ? 66_000 : 0) + JSON.stringify(documents[request.url ?? ''] ?? {}),
      );
    });
    const issuer = new Issuer(server, authority.pem, await newSigning());
    return issuer;
  }

  get url(): string {
    return this.#server.url('').replace(/\/$/, '');
  }

  /** How often its keys were read. */
  get reads(): number {
    return this.#server.received.filter(({ path }) => path === '/keys').length;
  }

  /** How often it was asked for anything. */
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

  /** The keys as a text, for configurations that have them. */
  get keys(): string {
    return JSON.stringify({ keys: this.#published });
  }

  /** Signs with a new key from now on. @param isPublished whether it is in the key set @param keepsOld the former one too @param keepsId by the same ID */
  async changeKey({ alg = 'RS256', isPublished = true, keepsOld = false, keepsId = false } = {}): Promise<void> {
    this.signing = await newSigning(alg, keepsId ? this.signing.kid : undefined);
    this.#published = [...(keepsOld ? this.#published : []), ...(isPublished ? [this.signing.publicKey] : [])];
  }

  /** A token. @param claims over those of a pipeline; undefined leaves one out @param header over its own */
  async token(
    claims: Readonly<Record<string, unknown>> = {},
    header: Readonly<Record<string, unknown>> = {},
  ): Promise<string> {
    const now = Math.floor(Date.now() / 1_000);
    const all = {
      iss: this.url,
      iat: now,
      nbf: now,
      exp: now + 600,
      jti: randomBytes(8).toString('hex'),
      ...PIPELINE,
      ...claims,
    };
    const { alg, kid, privateKey } = this.signing;
    return new SignJWT(Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined)))
      .setProtectedHeader({ alg, kid, typ: 'JWT', ...header })
      .sign(privateKey);
  }

  stop(): Promise<void> {
    return this.#server.stop();
  }
}
