import type { Connected, Query } from '../../../kernel/database/database.js';
import { listFacts } from './certificate.sql.js';

/** What others look at of a certificate: one of the inventory, or that of an authority. */
export type CertificateFact = Awaited<ReturnType<typeof listFacts>>[number];

/** Which facts, and where the last page ended. */
interface FactsRequest {
  readonly projectId: string;
  /** Null: whenever they expire. */
  readonly expiresBefore: Date | null;
  /** The last fact of the page before; null: from the top. */
  readonly after: Pick<CertificateFact, 'id' | 'notAfter'> | null;
  readonly limit: number;
}

/** What other slices read of certificates. Nobody is asked for rights: it is for the service itself. */
export class CertificateReader {
  /** A page of the certificates of a project and of its authorities, also of revoked ones; those that expire first before others. */
  list(from: Connected | Query, { after, limit, ...wanted }: FactsRequest): Promise<CertificateFact[]> {
    return listFacts(from, {
      ...wanted,
      time: after?.notAfter ?? null,
      afterId: after?.id ?? null,
      limit: String(limit),
    });
  }
}
