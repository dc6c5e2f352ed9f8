import { X509Certificate } from 'node:crypto';
import type { Context, Kernel } from '../../../kernel/context.js';
import { emOf } from '../../../kernel/database/database.js';
import { AppError } from '../../../kernel/errors.js';
import { isId } from '../../../kernel/ids.js';
import { openSigningKey } from '../key-sealing.js';
import type { Issuer } from '../x509/making.js';
import type { OcspStatus } from '../x509/ocsp.js';
import { CertificateRevocation } from './revocation.entity.js';
import { findList, findResponder, findStatuses, storeList } from './revocation.sql.js';

const HOUR_SECONDS = 3_600;
const DAY_SECONDS = 24 * HOUR_SECONDS;
/** Validity of a list; a new one is signed on its last day. Expired certificates stay in the list for the same time. */
const LIST_SECONDS = 7 * DAY_SECONDS;
const RENEW_SECONDS = DAY_SECONDS;
/** Validity of OCSP responses. */
const RESPONSE_SECONDS = HOUR_SECONDS;

/** The actor of the service in an organization: these signatures belong to no request. */
type ContextOf = (organizationId: string) => Context;

/** An anonymous caller: no permissions are checked. */
type Public = Pick<Kernel, 'database'>;

/**
 * Public documents of authorities about their certificates. Disabled and expired authorities keep publishing.
 *
 * Every method throws CERTIFICATE_AUTHORITY_NOT_FOUND, also for an authority without a certificate, and SEALED_VALUE_INVALID.
 */
export class RevocationService {
  /** Lists that are currently being signed, by authority. */
  readonly #signing = new Map<string, Promise<void>>();

  /** The certificate of an authority, in DER. */
  async certificate(from: Public, authorityId: string): Promise<Buffer> {
    const { certificate } = await this.#responder(from, authorityId);
    return new X509Certificate(certificate).raw;
  }

  /**
   * The revocation list of an authority, in DER. It is signed on request if there are new revocations or it is about to expire; concurrent
   * callers share one signature.
   */
  async list(from: Public, contextOf: ContextOf, authorityId: string): Promise<Buffer> {
    for (;;) {
      const found = isId(authorityId)
        ? await findList(from.database.everywhere, { authorityId, renewSeconds: RENEW_SECONDS })
        : [];
      const [row] = found;
      if (row === undefined) throw new AppError('CERTIFICATE_AUTHORITY_NOT_FOUND');
      if (row.list !== null) return row.list;
      // Read again afterwards: a list signed in the meantime may not include what this caller has seen.
      await this.#signOnce(authorityId, () => this.#sign(contextOf(row.organizationId), authorityId, row));
    }
  }

  /** An OCSP response, in DER (RFC 6960). */
  async respond(from: Public, contextOf: ContextOf, authorityId: string, der: Uint8Array): Promise<OcspResponse> {
    const row = await this.#responder(from, authorityId);
    const { makeOcspResponse, ocspRefusal, readOcspRequest, serialIfIssuedBy } = await import('../x509/ocsp.js');
    const request = readOcspRequest(der);
    if (request === null) return { response: ocspRefusal('malformedRequest'), isLasting: false };
    const certificate = new X509Certificate(row.certificate);
    const serials = request.ids.map((id) => serialIfIssuedBy(certificate, id));
    const statuses = await this.#statuses(from, { ...row, authorityId }, serials);
    const issuer = await issuerOf(contextOf(row.organizationId), authorityId, row);
    const now = wholeSeconds(row.now);
    const response = await makeOcspResponse(issuer, request, {
      statuses,
      now,
      nextUpdate: new Date(now.getTime() + RESPONSE_SECONDS * 1_000),
    });
    return { response, isLasting: request.nonce === null };
  }

  async #responder(from: Public, authorityId: string) {
    const [row] = isId(authorityId) ? await findResponder(from.database.everywhere, { authorityId }) : [];
    if (row === undefined) throw new AppError('CERTIFICATE_AUTHORITY_NOT_FOUND');
    return row;
  }

  async #statuses(
    from: Public,
    { authorityId, projectId }: { readonly authorityId: string; readonly projectId: string },
    serials: readonly (string | null)[],
  ): Promise<OcspStatus[]> {
    const serialNumbers = [...new Set(serials.filter((serial) => serial !== null))];
    const rows = await findStatuses(from.database.everywhere, { authorityId, projectId, serialNumbers });
    const known = new Map(rows.map((row) => [row.serialNumber, row]));
    return serials.map((serial): OcspStatus => {
      const row = known.get(serial ?? '');
      if (row === undefined) return 'unknown';
      const { revokedAt, reason } = row;
      return revokedAt === null || reason === null ? 'good' : { revokedAt, reason };
    });
  }

  #signOnce(authorityId: string, sign: () => Promise<void>): Promise<void> {
    const signing = this.#signing.get(authorityId) ?? sign().finally(() => this.#signing.delete(authorityId));
    this.#signing.set(authorityId, signing);
    return signing;
  }

  /** Signs the next list and stores it, unless another node was faster. No transaction is open while signing. */
  async #sign(ctx: Context, authorityId: string, row: Signing): Promise<void> {
    const keptSince = new Date(row.now.getTime() - LIST_SECONDS * 1_000);
    const wanted = { authorityId, $or: [{ isListed: false }, { notAfter: { $gt: keptSince } }] };
    const revocations = await emOf(ctx).find(CertificateRevocation, wanted, { orderBy: { serialNumber: 'asc' } });
    const thisUpdate = wholeSeconds(row.now);
    const nextUpdate = new Date(thisUpdate.getTime() + LIST_SECONDS * 1_000);
    const number = row.number + 1;
    const { makeRevocationList } = await import('../x509/crl.js');
    const list = await makeRevocationList(await issuerOf(ctx, authorityId, row), {
      ...{ number, thisUpdate, nextUpdate },
      revocations: revocations.filter(({ notAfter }) => notAfter > keptSince),
    });
    await storeList(ctx, {
      ...{ authorityId, organizationId: row.organizationId, projectId: row.projectId, signedAs: row.serialNumber },
      ...{ number: String(number), list, thisUpdate, nextUpdate },
      serialNumbers: revocations.filter(({ isListed }) => !isListed).map(({ serialNumber }) => serialNumber),
    });
  }
}

/** What is needed to sign a list. */
type Signing = Awaited<ReturnType<typeof findList>>[number];

/** A response, and whether it may be cached. */
interface OcspResponse {
  readonly response: Buffer;
  readonly isLasting: boolean;
}

const issuerOf = async (
  ctx: Context,
  id: string,
  row: Pick<Signing, 'organizationId' | 'projectId' | 'certificate'> & { readonly keySealed: Uint8Array },
): Promise<Issuer> => ({
  certificate: new X509Certificate(row.certificate),
  privateKey: await openSigningKey(ctx, row, { id, keySealed: row.keySealed }),
});

/** Truncated to seconds, like times in certificates. */
const wholeSeconds = (time: Date): Date => new Date(Math.floor(time.getTime() / 1_000) * 1_000);
